// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope plan` as a user runs it: its report, its JSON, its picture, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "support/run_tool.hpp"
#include "support/training_models.hpp"
#include "tool/io/json_file.hpp"
#include "tool/plan/report.hpp"

namespace eigen_rope::tool::plan_tests {
namespace {

namespace fs = std::filesystem;
using test::file_bytes;
using test::Outcome;
using test::run_tool;
using test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string llama_config = "'" EIGEN_ROPE_TEST_DATA "/models/hugging_face/llama_3_1.json'";

Outcome run_plan(const std::string& words) {
  return run_tool("plan --config " + llama_config + " " + words);
}

TEST(PlanText, HasUnitsToRead) {
  EXPECT_EQ(text_of_bytes(0), "0");
  EXPECT_EQ(text_of_bytes(1), "1.000 B");
  EXPECT_EQ(text_of_bytes(1024), "1.000 KiB");
  EXPECT_EQ(text_of_bytes(1000.4 * 0x1p20), "1000 MiB");
  EXPECT_EQ(text_of_bytes(119.66 * 0x1p30), "119.7 GiB");
  EXPECT_EQ(text_of_bytes(0x1p60), "1024 PiB");
  EXPECT_EQ(text_of_seconds(0.0452), "45.20 ms");
  EXPECT_EQ(text_of_seconds(3e-6), "3.000 us");
  EXPECT_EQ(text_of_seconds(90), "1.500 min");
  EXPECT_EQ(text_of_seconds(1e6), "11.57 d");
  EXPECT_EQ(text_of_seconds(1e-12), "1e-06 us");
}

TEST(PlanText, SharesSumToAllOfIt) {
  const TrainingModel model = test::llama_31_8b();
  PlanOptions options;
  options.context = 1'000'000;
  options.ranks = 64;
  const TrainingPlan made = make_training_plan(model, options);
  std::istringstream lines(text_of(made, {100, Colour::none}));
  double sum = 0;
  int wholes = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U);
    if (!testing::Matches(EndsWith(" %"))(line) || line.find("traffic") != std::string::npos)
      continue;
    const std::size_t begin = line.find_last_of(' ', line.size() - 3) + 1;
    const double share = line.find('<') != std::string::npos ? 0 : std::stod(line.substr(begin));
    if (line.find("together") == std::string::npos) {
      sum += share;
      continue;
    }
    EXPECT_EQ(share, 100);
    EXPECT_NEAR(sum, 100, 0.05);
    sum = 0;
    ++wholes;
  }
  EXPECT_EQ(wholes, 3);
}

TEST(PlanProgram, PrintsWritesAndDraws) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_plan("--context 1e6 --ranks 64 --json '" + (folder / "plan.json").string() +
               "' --plot '" + (folder / "plan.svg").string() + "'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("llama\n"));
  EXPECT_THAT(outcome.out, HasSubstr("8030261248"));
  EXPECT_THAT(outcome.out, HasSubstr("contiguous                        1.984\n"));
  const Json json = Json::parse(file_bytes(folder / "plan.json"));
  EXPECT_EQ(json["context"], 1'000'000);
  EXPECT_EQ(json["sharding"], "zigzag");
  EXPECT_EQ(json["step"]["tokens"], 15626);
  EXPECT_EQ(json["step"]["padding"], 64);
  EXPECT_EQ(json["step"]["memory_bytes"]["tables"], 15626.0 * 128 * 4);
  EXPECT_EQ(json["by_ranks"].size(), 11U);
  const std::string svg = file_bytes(folder / "plan.svg");
  EXPECT_THAT(svg, HasSubstr("memory of a rank, GiB"));
  EXPECT_THAT(svg, HasSubstr("causal work of the busiest rank over the mean"));
  EXPECT_THAT(svg, EndsWith("</svg>\n\n"));
}

TEST(PlanProgram, TakesEveryOption) {
  const TemporaryFolder folder;
  test::write_bytes(folder / "bench.json", R"({"benchmarks": [{"time_unit": "us", "real_time": 1000,
      "memcpy_us": 500,
      "run_name": "rotate/inplace/bf16/split_half/prefill512/threads:1"}]})");
  const Outcome outcome = run_plan(
      "--context 32768 --ranks 4 --sharding contiguous --batch 3 --scalar bf16 --mlp plain "
      "--memory "
      "80 --products 4e5 --attention 3e5 --link 50 --latency 5 --lenient --json - --bench '" +
      (folder / "bench.json").string() + "'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["batch"], 3);
  EXPECT_EQ(json["scalar"], "bf16");
  EXPECT_EQ(json["sharding"], "contiguous");
  const Json& speeds = json["speeds"];
  EXPECT_DOUBLE_EQ(speeds["products"], 4e14);
  EXPECT_DOUBLE_EQ(speeds["attention"], 3e14);
  EXPECT_DOUBLE_EQ(speeds["rotation"], 2.0 * 128 * 32 * 512 * 2 / 1e-3);
  EXPECT_DOUBLE_EQ(speeds["memory"], 2 * speeds["rotation"].get<double>());
  EXPECT_DOUBLE_EQ(speeds["link"], 5e10);
  EXPECT_DOUBLE_EQ(speeds["latency"], 5e-6);
  // What is stated goes before what was measured.
  EXPECT_DOUBLE_EQ(
      Json::parse(run_plan("--rotation 7 --memory-speed 8 --json -").out)["speeds"]["rotation"],
      7e9);
}

TEST(PlanProgram, PlansForTheModelsContextOnOneRank) {
  const Json json = Json::parse(run_plan("--json -").out);
  EXPECT_EQ(json["context"], 131072);
  EXPECT_EQ(json["step"]["ranks"], 1);
  EXPECT_EQ(json["step"]["sent_bytes"]["total"], 0);
}

TEST(PlanProgram, UnusableIsTwoAndOneSentence) {
  const std::string help = "; see eigen-rope plan --help\n";
  const std::pair<std::string, std::string> cases[] = {
      {"--context 0", "--context must be a whole number from 1 to 2147483648, got 0" + help},
      {"--context 1.5", "--context must be a whole number from 1 to 2147483648, got 1.5" + help},
      {"--ranks 0", "--ranks must be a whole number from 1 to 4096, got 0" + help},
      {"--ranks 5000", "--ranks must be a whole number from 1 to 4096, got 5000" + help},
      {"--batch -1", "--batch must be a whole number from 1 to 1048576, got -1" + help},
      {"--sharding zigzack",
       "--sharding must be one of contiguous, zigzag, got zigzack (did you mean zigzag?)" + help},
      {"--layout zigzag", "plan has no option --layout" + help},
      {"--scalar f64", "--scalar must be one of f32, bf16, f16, got f64" + help},
      {"--products fast", "--products must be a positive number of GFLOP/s, got fast" + help},
      {"--attention 0", "--attention must be a positive number of GFLOP/s, got 0" + help},
      {"--link -1", "--link must be a positive number of GB/s, got -1" + help},
      {"--latency nan", "--latency must be a positive number of us, got nan" + help},
      {"--memory inf", "--memory must be a positive number of GiB, got inf" + help},
      {"--plot plan.jpg", "plan.jpg: a picture's name must end in .svg or .png\n"},
      {"--json /nowhere/plan.json",
       "/nowhere/plan.json: cannot be written: there is no folder /nowhere\n"},
      {"--bench /nowhere/bench.json", "/nowhere/bench.json: must be a file that can be read\n"}};
  for (const auto& [words, sentence] : cases) {
    const Outcome outcome = run_plan(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.err, "[rope] " + sentence);
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  const Outcome without = run_tool("plan --context 8");
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, HasSubstr("--config"));
}

}  // namespace
}  // namespace eigen_rope::tool::plan_tests
