// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope verify` on files of scalings: sets it has never seen, sets that are wrong, and every
// way such a file can be damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/verify_recordings.hpp"

namespace eigen_rope::tool::verify_scaling_tests {
namespace {

namespace fs = std::filesystem;
using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::EndsWith;
using testing::HasSubstr;

/// A base of 16 and 8 dims: 1, 1/2, 1/4, 1/8.
Json set_of(const std::string& type, const Json& params, const Json& rates) {
  Json all{{"dim", 8}, {"base", 16}};
  if (params.is_object()) all.update(params);
  return {{"type", type}, {"params", all}, {"attention_factor", "1.0"}, {"inv_freq", rates}};
}

Outcome verify_sets(const Json& sets) {
  const TemporaryFolder folder;
  write_bytes(folder / "inv_freq.json", sets.dump());
  Outcome outcome = run_verify(folder.path());
  const std::string path = (folder / "inv_freq.json").string();
  const std::size_t at = outcome.err.find(path);
  if (at != std::string::npos) outcome.err.replace(at, path.size(), "FILE");
  return outcome;
}

Outcome verify_set(const Json& set) { return verify_sets({{"mine", set}}); }

TEST(VerifyScaling, PassesSetsItHasNeverSeen) {
  const Outcome outcome = verify_sets({
      {"_note", "a remark"},
      {"default", set_of("default", {}, {"1.0", "0.5", "0.25", "0.125"})},
      {"numbers", set_of("default", {}, {1, 0.5, 0.25, 0.125})},
      {"linear",
       set_of("linear (as published)", {{"factor", 4}}, {"0.25", "0.125", "0.0625", "0.03125"})},
      {"proportional",
       set_of("proportional", {{"head_dim", 8}, {"partial", 0.5}}, {"1", "0.5", "0", "0.0"})},
      {"dynamic",
       set_of("dynamic", {{"factor", 7}, {"max_position_embeddings", 10}, {"seq_len", 10}},
              {"1", "0.5", "0.25", "0.125"})},
      {"axial", set_of("axial", {{"head_dim", 8}}, {"1", "0.25", "1", "0.25"})},
      {"longrope", set_of("longrope",
                          {{"short_factor", {1, 1, 1, 1}},
                           {"long_factor", {2, 2, 2, 2}},
                           {"orig", 16},
                           {"factor", 1},
                           {"seq_len", 17}},
                          {"0.5", "0.25", "0.125", "0.0625"})},
      {"yarn", set_of("yarn", {{"factor", 4}, {"original", 1}, {"attention_factor", 1.0}},
                      {"1", "0.5", "0.25", "0.125"})},
  });
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, EndsWith("\n8 passed, 0 failed\n")) << outcome.out;
}

TEST(VerifyScaling, TakesAFileOfAnyName) {
  const TemporaryFolder folder;
  write_bytes(folder / "mine.json",
              Json{{"mine", set_of("default", {}, {"1", "0.5", "0.25", "0.125"})}}.dump());
  EXPECT_THAT(run_verify(folder / "mine.json").out, EndsWith("\n1 passed, 0 failed\n"));
  const std::string file = "'" + (folder / "mine.json").string() + "' ";
  EXPECT_THAT(run_tool("verify " + file + file).out, EndsWith("\n1 passed, 0 failed\n"));
}

TEST(VerifyScaling, FailsBeyondFourUnits) {
  // A unit at 0.5 is 2^-53 = 1.11e-16.
  EXPECT_EQ(verify_set(set_of("default", {}, {"1", "0.5000000000000004", "0.25", "0.125"})).code,
            0);
  const Outcome off =
      verify_set(set_of("default", {}, {"1", "0.5000000000000006", "0.25", "0.125"}));
  EXPECT_EQ(off.code, 1);
  EXPECT_THAT(off.out, HasSubstr("element 1: mine 0.5, stored 0.50000000000000056"));
  EXPECT_EQ(verify_set(set_of("default", {}, {"1", "0.5", "0.25", "1e-300"})).code, 1);
  EXPECT_THAT(verify_set(set_of("default", {}, {"1", "0.5", "0.25"})).out,
              HasSubstr("there must be as many numbers as stored (3), got 4"));
  Json magnitude = set_of("default", {}, {"1", "0.5", "0.25", "0.125"});
  magnitude["attention_factor"] = "1.000000000000001";
  EXPECT_EQ(verify_set(magnitude).code, 1);
  EXPECT_THAT(verify_set(set_of("linear", {{"factor", 0}}, {"1"})).out,
              HasSubstr("factor must be finite and greater than 0, got 0"));
}

TEST(VerifyScaling, UnusableFilesAreTwoAndOneSentence) {
  const Json rates{"1", "0.5", "0.25", "0.125"};
  const auto message = [](const Json& sets) {
    const Outcome outcome = verify_sets(sets);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    return outcome.err;
  };
  const auto message_of = [&](const Json& set) { return message({{"mine", set}}); };
  EXPECT_EQ(message(Json::array()), "[rope] FILE: must hold an object of sets\n");
  EXPECT_EQ(message({{"_note", "only"}}), "[rope] FILE: must hold at least one set\n");
  EXPECT_EQ(message_of(3), "[rope] FILE: set \"mine\" must be an object\n");
  EXPECT_EQ(message_of(set_of("magic", {}, rates)),
            "[rope] FILE: case \"mine\": \"type\" must be default, linear, proportional, dynamic, "
            "ntk, yarn, deepseek_yarn, llama3, "
            "longrope or axial, got \"magic\"\n");
  EXPECT_EQ(message_of(set_of("linear", {}, rates)),
            "[rope] FILE: case \"mine\": params: \"factor\" is missing\n");
  EXPECT_EQ(message_of(set_of("yarn", {{"factor", 2}}, rates)),
            "[rope] FILE: case \"mine\": params: \"original\" is missing\n");
  EXPECT_EQ(message_of(set_of("yarn", {{"factor", 2}, {"original", 2}, {"truncate", 1}}, rates)),
            "[rope] FILE: case \"mine\": params: \"truncate\" must be true or false\n");
  EXPECT_EQ(message_of(set_of("linear", {{"factor", "4"}}, rates)),
            "[rope] FILE: case \"mine\": params: \"factor\" must be a number, got \"4\"\n");
  // A terabyte of rates.
  EXPECT_EQ(
      message_of(set_of("default", {{"dim", std::int64_t{1} << 40}}, rates)),
      "[rope] FILE: case \"mine\": params: \"dim\" must be at most 1048576, got 1099511627776\n");
  EXPECT_EQ(message_of(set_of("default", {}, {"1", "0.5x"})),
            "[rope] FILE: case \"mine\": \"inv_freq\" must be in decimal digits, got \"0.5x\"\n");
  EXPECT_EQ(message_of(set_of("default", {}, Json::array())),
            "[rope] FILE: case \"mine\": \"inv_freq\" must not be empty\n");
  Json set = set_of("default", {}, rates);
  set.erase("attention_factor");
  EXPECT_EQ(
      message_of(set),
      "[rope] FILE: case \"mine\": \"attention_factor\" must be in decimal digits, got null\n");
  set = set_of("default", {}, rates);
  set.erase("params");
  EXPECT_EQ(message_of(set), "[rope] FILE: case \"mine\": \"params\" is missing\n");
}

}  // namespace
}  // namespace eigen_rope::tool::verify_scaling_tests
