// SPDX-License-Identifier: Apache-2.0
//
// What the program says to words it does not know, and how it explains itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_tool.hpp"

namespace eigen_rope::tool::command_words_tests {
namespace {

using test::Outcome;
using test::run_tool;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandWords, UnknownOnesGetASuggestion) {
  const std::pair<const char*, const char*> cases[] = {
      {"inspekt x", "there is no command inspekt (did you mean inspect?); see eigen-rope --help"},
      {"frobnicate", "there is no command frobnicate; see eigen-rope --help"},
      {"--vers", "there is no option --vers (did you mean --version?); see eigen-rope --help"},
      {"inspect --jsn x y",
       "inspect has no option --jsn (did you mean --json?); see eigen-rope inspect --help"},
      {"inspect y --jsn=x",
       "inspect has no option --jsn (did you mean --json?); see eigen-rope inspect --help"},
      {"inspect --contxt=3",
       "inspect has no option --contxt (did you mean --context?); see eigen-rope inspect --help"},
      {"compare a b --tolerence 1",
       "compare has no option --tolerence (did you mean --tolerance?); see eigen-rope compare "
       "--help"},
      {"inspect default:dims=8 extra",
       "inspect takes no further argument, got extra; see eigen-rope inspect --help"},
      {"inspect default:dims=8 --json",
       "--json must be followed by FILE; see eigen-rope inspect --help"},
      {"completion bsh",
       "SHELL must be one of bash, zsh, fish, got bsh (did you mean bash?); see eigen-rope "
       "completion --help"},
      {"convert a b --from splt_half --to split_half",
       "--from must be one of split_half, interleaved, quarter, interleaved_to_split_half, got "
       "splt_half (did you mean split_half?); see "
       "eigen-rope convert "
       "--help"},
      {"compare yarm:dims=8 default:dims=8",
       "yarm:dims=8: there is no such file, and no scaling yarm: it must be one of default, "
       "linear, proportional, dynamic, ntk, yarn, "
       "ggml_yarn, llama3, longrope (did you mean yarn?)"},
      {"inspect linear:dims=8,facter=2",
       "linear: a key must be one of head_dims, context, rotary_dims, base, linear_scale, "
       "attention_factor, factors, exponents, "
       "exponent_dims, factor, got facter (did you mean factor?)"},
      {"help inspekt",
       "COMMAND must be one of inspect, compare, plan, convert, verify, gradcheck, bench, "
       "completion, man, help, got inspekt (did you mean "
       "inspect?); see eigen-rope help --help"},
      {"",
       "a command must be given: inspect, compare, plan, convert, verify, gradcheck, bench, "
       "completion, man, help; see eigen-rope --help"},
  };
  for (const auto& [words, sentence] : cases) {
    const Outcome outcome = run_tool(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.err, std::string("[rope] ") + sentence + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandWords, HelpIsACommandToo) {
  for (const std::string command : {"inspect", "compare", "plan", "convert", "verify", "gradcheck",
                                    "bench", "completion", "man", "help"}) {
    const Outcome help = run_tool("help " + command), option = run_tool(command + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(option.code, 0);
    EXPECT_EQ(help.out, option.out);
    EXPECT_THAT(help.out, HasSubstr("Usage: eigen-rope " + command));
  }
  EXPECT_EQ(run_tool("help").out, run_tool("--help").out);
  EXPECT_THAT(run_tool("help").out, HasSubstr("\n  help  "));
}

TEST(CommandWords, TheVersionHasAShortName) {
  EXPECT_THAT(run_tool("-V").out, testing::MatchesRegex("eigen-rope [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(run_tool("-V").out, run_tool("--version").out);
}

TEST(CommandWords, CountsOfTokensMayBeInScientificNotation) {
  EXPECT_EQ(run_tool("inspect default:dims=8 --context 1e6").out,
            run_tool("inspect default:dims=8 --context 1000000").out);
  EXPECT_THAT(run_tool("inspect default:dims=8,context=1e3").out,
              HasSubstr("\n  context                   1000 tokens\n"));
  EXPECT_THAT(run_tool("inspect yarn:dims=8,factor=4,original=3.2e4").out,
              HasSubstr("\n    original_context        32000\n"));
  EXPECT_EQ(
      run_tool("inspect default:dims=8 --context 1.5").err,
      "[rope] --context must be a whole number from 1, got 1.5; see eigen-rope inspect --help\n");
  EXPECT_EQ(run_tool("inspect default:dims=8,context=1.5").err,
            "[rope] default: context must be a whole number, got 1.5\n");
}

TEST(CommandWords, HelpSaysWhatDecidesAndWhereJsonGoes) {
  const std::string compare = run_tool("compare --help").out;
  EXPECT_THAT(compare, HasSubstr("--tolerance RAD"));
  EXPECT_THAT(compare, HasSubstr("(default: 0.01)"));
  EXPECT_THAT(
      compare,
      HasSubstr(
          "Exit code: 0 equal within the tolerance, 1 different, 2 unusable input or usage."));
  for (const char* command : {"inspect", "compare", "plan", "verify", "gradcheck", "bench"}) {
    EXPECT_THAT(run_tool(std::string(command) + " --help").out, HasSubstr("standard output"))
        << command;
  }
}

}  // namespace
}  // namespace eigen_rope::tool::command_words_tests
