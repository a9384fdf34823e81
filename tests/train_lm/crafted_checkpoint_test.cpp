// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that were made by somebody else: their checksum is right, what they say is not. Each
// is one sentence, or a run that can go on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "error.hpp"
#include "support/safetensors_bytes.hpp"
#include "train_lm/resealed.hpp"
#include "train_lm/temporary_folder.hpp"

namespace train_lm {
namespace {

using testing::EndsWith;

class CraftedCheckpointTest : public TemporaryFolderTest {
 protected:
  CraftedCheckpointTest() {
    RunConfig config;
    config.model.vocabulary = 2;
    config.model.layers = 1;
    config.model.heads = 1;
    config.model.dim = 4;
    config.context = 24;
    config.batch = 4;
    config.steps = 12;
    config.seed = 7;
    RunState state(config);
    state.step = 3;
    state.train_bits = {1, 2, 3};
    state.validation = {{2, 4.25}};
    state.threads = 2;
    save_checkpoint(folder() / "run.safetensors", config, state);
    good_ = read("run.safetensors");
  }

  /// The good one with other words in its header, and the checksum of them.
  std::string with(const std::string& words, const std::string& others) const {
    std::uint64_t length = 0;
    std::memcpy(&length, good_.data(), sizeof length);
    std::string header = good_.substr(sizeof length, length);
    const std::size_t at = header.find(words);
    if (at == std::string::npos) throw std::runtime_error("no " + words + " in " + header);
    header.replace(at, words.size(), others);
    return resealed(
        eigen_rope::test::safetensors_bytes(header, good_.substr(sizeof length + length)));
  }

  std::string said_of(const std::string& file) const {
    write("other.safetensors", file);
    try {
      load_checkpoint(folder() / "other.safetensors");
      return "not refused";
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::string good_;
};

struct Words {
  const char *from, *to, *refusal;
};

TEST_F(CraftedCheckpointTest, TheGoodOneIsTaken) {
  EXPECT_EQ(said_of(good_), "not refused");
  EXPECT_EQ(said_of(resealed(good_)), "not refused");
  EXPECT_EQ(said_of(with(R"(\"batch\":4)", R"(\"batch\":65536)")), "not refused");
}

TEST_F(CraftedCheckpointTest, NumbersOutsideTheirLimitsAreNamed) {
  const std::vector<Words> cases{
      {R"(\"batch\":4)", R"(\"batch\":-5)", "its batch must be from 1 to 65536, got -5"},
      {R"(\"batch\":4)", R"(\"batch\":1099511627776)",
       "its batch must be from 1 to 65536, got 1099511627776"},
      {R"(\"context\":24)", R"(\"context\":0)", "its context must be from 2 to 65536, got 0"},
      {R"(\"steps\":12)", R"(\"steps\":-1)", "its steps must be from 1 to 10000000, got -1"},
      {R"(\"layers\":1)", R"(\"layers\":65)", "its layers must be from 1 to 64, got 65"},
      {R"(\"vocabulary\":2)", R"(\"vocabulary\":257)",
       "its vocabulary must be from 1 to 256, got 257"},
      {R"(\"heads\":1)", R"(\"heads\":0)", "its heads must be from 1 to 4096, got 0"},
      {R"(\"heads\":1)", R"(\"heads\":3)", "its config describes no model"},
      {R"(\"dim\":4)", R"(\"dim\":4096)", "its config describes a larger model"},
      {R"(\"base\":10000.0)", R"(\"base\":-1)",
       "its base must be from 1.0001 to 1000000000000, got -1"},
      {R"(\"factor\":2.0)", R"(\"factor\":0.5)", "its factor must be from 1 to 1000000, got 0.5"},
      {R"(\"peak_rate\":0.003)", R"(\"peak_rate\":2)", "its peak_rate must be from 0 to 1, got 2"},
      {R"(\"rates_factor\":5.0)", R"(\"rates_factor\":-5)",
       "its rates_factor must be from 0 to 1000000, got -5"},
      {R"("threads":"2")", R"("threads":"1000000000")",
       "its threads must be from 0 to 1024, got 1000000000"},
      {R"("threads":"2")", R"("threads":"-3")", "its threads must be from 0 to 1024, got -3"},
      {R"("step":"3")", R"("step":"13")", "its step must be from 0 to 12, got 13"},
      {R"("step":"3")", R"("step":"-1")", "its step must be from 0 to 12, got -1"},
      {R"("step":"3")", R"("step":"4")", "tensor curve.train is F64 [3], expected F64 [4]"},
      {R"("step":"3")", R"("step":"1")", "tensor curve.train is F64 [3], expected F64 [1]"},
  };
  for (const Words& words : cases)
    EXPECT_THAT(said_of(with(words.from, words.to)), EndsWith(std::string(": ") + words.refusal))
        << words.to;
}

TEST_F(CraftedCheckpointTest, NumbersThatAreNoIntegers) {
  const std::string rule = ": a number must be an integer up to ";
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(said_of(with(R"(\"dim\":4)", R"(\"dim\":1e300)")),
              EndsWith(rule + most + ", got 1e+300"));
  EXPECT_THAT(said_of(with(R"(\"dim\":4)", R"(\"dim\":4.5)")), EndsWith(rule + most + ", got 4.5"));
  EXPECT_THAT(said_of(with(R"(\"dim\":4)", R"(\"dim\":[4])")),
              EndsWith(rule + most + ", got array"));
  EXPECT_THAT(said_of(with(R"(\"seed\":7)", R"(\"seed\":-7)")),
              EndsWith(rule + "18446744073709551615, got -7"));
  EXPECT_THAT(said_of(with(R"("threads":"2")", R"("threads":"1e300")")),
              EndsWith(rule + most + ", got 1e+300"));
  EXPECT_THAT(said_of(with(R"("shape":[3])", R"("shape":[1e300])")),
              EndsWith(" must have counts in its shape, got 1e300"));
  EXPECT_THAT(said_of(with(R"("data_offsets":[0,)", R"("data_offsets":[-8,)")),
              EndsWith(" must have counts in its data_offsets, got -8"));
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_THAT(said_of(with(R"("shape":[3])", "\"shape\":[" + deep + "]")),
              EndsWith(" must have counts in its shape, got a list"));
}

TEST_F(CraftedCheckpointTest, ValidationsOfStepsThatWereNotDone) {
  // The curve holds (step, bits) of one validation; 2 becomes another step.
  for (const double step : {-1.0, 4.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    const double was[2] = {2, 4.25}, is[2] = {step, 4.25};
    char before[sizeof was], after[sizeof is];
    std::memcpy(before, was, sizeof was);
    std::memcpy(after, is, sizeof is);
    std::string file = good_;
    const std::size_t at = file.find(std::string_view(before, sizeof before));
    ASSERT_NE(at, std::string::npos);
    file.replace(at, sizeof after, after, sizeof after);
    EXPECT_THAT(said_of(resealed(file)),
                EndsWith(fmt::format(": its validation curve has a step {} of 3", step)));
  }
}

TEST(OneLine, KeepsWordsOfFilesFromTheTerminal) {
  EXPECT_EQ(one_line("type F\x1b[31m\r\n\t\x7f;"), R"(type F\x1b[31m\x0d\x0a\x09\x7f;)");
  EXPECT_EQ(one_line(std::string(1000, 'x')), std::string(1000, 'x'));
  EXPECT_EQ(one_line(std::string(1001, 'x') + ": why"),
            std::string(498, 'x') + "..." + std::string(493, 'x') + ": why");
}

}  // namespace
}  // namespace train_lm
