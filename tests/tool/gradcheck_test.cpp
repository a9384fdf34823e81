// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope gradcheck`: green for this library, red for every fault put into its answers, and
// what the program prints, writes and returns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <utility>
#include <variant>

#include "eigen_rope/numbers/error.hpp"
#include "support/only_target.hpp"
#include "support/verify_recordings.hpp"
#include "tool/gradcheck/gradcheck.hpp"
#include "tool/gradcheck/library.hpp"
#include "tool/gradcheck/report.hpp"

namespace eigen_rope::tool::gradcheck_tests {
namespace {

using test::file_bytes;
using test::Outcome;
using test::run_tool;
using test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::set<std::string> failed_answers(const GradcheckReport& report) {
  std::set<std::string> answers;
  for (const GradcheckEntry& entry : report.entries) {
    if (!entry.passed()) answers.insert(entry.answer);
  }
  return answers;
}

std::set<std::string> all_answers(const GradcheckReport& report) {
  std::set<std::string> answers;
  for (const GradcheckEntry& entry : report.entries) answers.insert(entry.answer);
  return answers;
}

GradcheckReport of_library(const GradcheckFilters& filters, std::uint64_t seed = 1) {
  return gradcheck(gradcheck_cases(filters), seed, library_answers);
}

// Green.

TEST(Gradcheck, IsGreenOnEveryTarget) {
  for (const std::string& target : kernel_targets()) {
    const eigen_rope::test::OnlyTarget only(target);
    const GradcheckReport report = of_library({"", "ggml_yarn_exact|xpos|rates", "", ""});
    EXPECT_EQ(report.failed(), 0) << target << "\n" << text_of(report, {});
  }
}

TEST(Gradcheck, IsGreenForOtherNumbers) {
  for (std::uint64_t seed = 2; seed < 12; ++seed) {
    const GradcheckReport report = of_library(
        {"split_half|quarter", "factors|.*yarn.*|llama3|longrope|xpos", "f64|bf16", "bnsd"}, seed);
    EXPECT_EQ(report.failed(), 0) << "seed " << seed << "\n" << text_of(report, {});
  }
}

TEST(Gradcheck, ChecksEveryQuantityOfEveryScaling) {
  const auto quantities = [](const char* scaling) {
    std::set<Quantity> seen;
    for (const GradcheckEntry& entry : of_library({"split_half", scaling, "f32", "bsnd"}).entries)
      seen.insert(entry.quantity);
    return seen;
  };
  const std::set<Quantity> every(std::begin(all_quantities), std::end(all_quantities));
  const auto without = [&](const std::set<Quantity>& left_out) {
    std::set<Quantity> some;
    std::set_difference(every.begin(), every.end(), left_out.begin(), left_out.end(),
                        std::inserter(some, some.end()));
    return some;
  };
  for (const char* scaling : {"linear", "proportional", "ntk_base", "ntk", "dynamic", "ggml_yarn",
                              "ggml_yarn_exact", "yarn", "yarn_deepseek", "llama3", "longrope"}) {
    std::set<Quantity> left_out{Quantity::xpos};
    if (scaling == std::string("longrope")) left_out.insert(Quantity::factors);  // has its own
    EXPECT_EQ(quantities(scaling), without(left_out)) << scaling;
  }
  for (const char* scaling : {"default", "factors"})
    EXPECT_EQ(quantities(scaling), without({Quantity::parameter, Quantity::xpos})) << scaling;
  EXPECT_EQ(quantities("xpos"), without({Quantity::parameter}));
  EXPECT_EQ(quantities("rates"), without({Quantity::base, Quantity::scale, Quantity::factors,
                                          Quantity::parameter, Quantity::xpos}));
}

template <std::size_t... i>
std::set<std::string> words_of(std::index_sequence<i...> /*alternatives*/) {
  return {std::variant_alternative_t<i, Scaling>::name...};
}

TEST(Gradcheck, ChecksEveryScalingOfTheLibrary) {
  std::set<std::string> checked;
  for (const std::string& scaling : all_scalings()) {
    const Problem problem = make_problem({PairKind::split_half, scaling}, 1);
    if (problem.rates.empty())
      std::visit([&](const auto& one) { checked.insert(std::decay_t<decltype(one)>::name); },
                 problem.scaling);
  }
  EXPECT_EQ(checked, words_of(std::make_index_sequence<std::variant_size_v<Scaling>>()));
}

// Red: a library with a fault, and the answers that must not pass because of it.

struct Fault {
  const char* name;
  std::function<Answers(const Problem&)> subject;
  std::set<std::string> red;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

void scale(std::vector<double>& numbers, double factor) {
  for (double& number : numbers) number *= factor;
}

/// The library, with `change` made to its answers.
std::function<Answers(const Problem&)> with(
    const std::function<void(Answers&, const Problem&)>& change) {
  return [change](const Problem& problem) {
    Answers answers = library_answers(problem);
    change(answers, problem);
    return answers;
  };
}

double magnitude(const Problem& problem) {
  return static_cast<double>(problem.frequencies().attention_factor());
}

/// Only the first head's share: what a sum that stops early leaves.
Answers first_head(const Problem& problem) {
  Problem one = problem;
  const auto features = static_cast<std::size_t>(problem.shape[0]);
  for (std::size_t i = 0; i < one.g.size(); ++i) {
    auto rest = static_cast<eigen_rope::Index>(i / features);
    for (const Axis& axis : problem.axes) {
      if (axis.name == "head" && rest % axis.extent != 0) one.g[i] = 0;
      rest /= axis.extent;
    }
  }
  return library_answers(one);
}

class GradcheckFault : public testing::TestWithParam<Fault> {};

TEST_P(GradcheckFault, TurnsItsAnswersRedInEveryCase) {
  for (const GradcheckCase& at :
       gradcheck_cases({"", "ggml_yarn|factors", "f64|f32", "bsnd|sbnd"})) {
    const GradcheckReport report = gradcheck({at}, 1, GetParam().subject);
    EXPECT_EQ(failed_answers(report), GetParam().red) << text_of(report, {});
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GradcheckFault,
    testing::Values(
        Fault{"None", library_answers, {}},
        Fault{"WrongSignOfAngle",
              with([](Answers& a, const Problem&) { scale(a["angle from y"], -1); }),
              {"angle from y"}},
        Fault{"WrongSignOfSin",
              with([](Answers& a, const Problem&) { scale(a["sin from x"], -1); }),
              {"sin from x"}},
        Fault{"WrongSignOfOneRate",
              with([](Answers& a, const Problem&) { a["rates from y"][3] *= -1; }),
              {"rates from y"}},
        Fault{"MissingBroadcastSum",
              with([](Answers& a, const Problem& p) {
                a["cos from x"] = first_head(p)["cos from x"];
                a["angle from x"] = first_head(p)["angle from x"];
                a["positions from y"] = first_head(p)["positions from y"];
              }),
              {"cos from x", "angle from x", "positions from y"}},
        Fault{"ForgottenSquareOfM",
              with([](Answers& a, const Problem& p) {
                scale(a["cos from y"], magnitude(p) * magnitude(p));
                scale(a["sin from y"], magnitude(p) * magnitude(p));
              }),
              {"cos from y", "sin from y"}},
        Fault{"BackwardForInverse",
              with([](Answers& a, const Problem& p) {
                scale(a["inverse"], magnitude(p) * magnitude(p));
              }),
              {"inverse"}},
        Fault{"InverseForBackward",
              with([](Answers& a, const Problem& p) {
                scale(a["backward"], 1 / (magnitude(p) * magnitude(p)));
              }),
              {"adjoint", "backward"}},
        Fault{"LogMagnitudeForMagnitude",
              with([](Answers& a, const Problem& p) { scale(a["m from y"], magnitude(p)); }),
              {"m from y"}},
        Fault{"NoLogarithmOfBase",
              with([](Answers& a, const Problem& p) {
                scale(a["base from y"], std::log(p.powers.base));
              }),
              {"base from y"}},
        Fault{"CopiedElementTouched",
              with([](Answers& a, const Problem&) {
                a["dx from y"][0] = std::nextafter(a["dx from y"][0], 9);
              }),
              {"dx from y"}},
        Fault{"SecondOrderLeftOut",
              with([](Answers& a, const Problem& p) {
                Problem still = p;
                for (double& w : still.angle_tangent) w = 0;
                a["second order, to angles"] = library_answers(still)["second order, to angles"];
              }),
              {"second order, to angles"}},
        Fault{"Nothing", with([](Answers& a, const Problem&) { a.erase("jvp"); }), {"jvp"}},
        Fault{"TooShort",
              with([](Answers& a, const Problem&) { a["dx from x"].pop_back(); }),
              {"dx from x"}},
        Fault{"NotANumber",
              with([](Answers& a, const Problem&) { a["m from x"][0] = std::nan(""); }),
              {"m from x"}},
        Fault{"Infinite",
              with([](Answers& a, const Problem&) {
                a["angle from x"][5] = std::numeric_limits<double>::infinity();
              }),
              {"angle from x"}},
        Fault{"Surplus",
              with([](Answers& a, const Problem&) { a["what is this"] = {1}; }),
              {"what is this"}}),
    [](const testing::TestParamInfo<Fault>& fault) { return std::string(fault.param.name); });

// Parameters of one scaling only: none of their answers may be wrong unseen.
TEST(GradcheckFaults, EveryParameterOfEveryScalingIsSeen) {
  std::set<std::string> seen;
  for (const GradcheckCase& at : gradcheck_cases({"split_half", "", "f64", "bsnd|tnd"})) {
    for (const auto& [answer, numbers] : library_answers(make_problem(at, 1))) {
      if (answer.find(" from y") == std::string::npos || numbers.size() > 1 || numbers[0] == 0)
        continue;
      if (at.layout == LayoutKind::tnd && at.scaling != "xpos") continue;
      const std::string name = answer;
      const GradcheckReport report = gradcheck({at}, 1, with([&](Answers& answers, const Problem&) {
                                                 answers[name][0] *= 1 + 0x1p-30;
                                               }));
      EXPECT_EQ(failed_answers(report), std::set<std::string>{name}) << at.scaling;
      seen.insert(name.substr(0, name.find(" from y")));
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"attention_factor", "base", "beta_fast", "beta_slow",
                                         "ext_factor", "extrapolation", "factor",
                                         "high_freq_factor", "linear_scale", "low_freq_factor", "m",
                                         "mixed_b", "mscale", "mscale_all_dim", "ntk_factor",
                                         "xpos_center", "xpos_gamma", "xpos_scale_base"}));
}

TEST(GradcheckFaults, ThePositionsShareOfXposMagnitudesIsSeen) {
  const auto turning_alone = [](const Problem& problem) {
    Problem flat = problem;
    flat.beside.xpos_scale_base = 1e30;
    Answers answers = library_answers(problem);
    answers["positions from x"] = library_answers(flat)["positions from x"];
    return answers;
  };
  const GradcheckReport report =
      gradcheck(gradcheck_cases({"split_half", "xpos", "f64", "bsnd|bnsd"}), 1, turning_alone);
  EXPECT_EQ(failed_answers(report), std::set<std::string>{"positions from x"});
}

TEST(GradcheckFaults, QueriesForKeysAreSeen) {
  const auto other_side = [](const Problem& problem) {
    Problem other = problem;
    other.xpos_side = problem.xpos_side == XposSide::key ? XposSide::query : XposSide::key;
    return library_answers(other);
  };
  for (const char* layout : {"bsnd", "tnd"}) {
    const GradcheckReport report =
        gradcheck(gradcheck_cases({"split_half", "xpos", "f32", layout}), 1, other_side);
    const std::set<std::string> red = failed_answers(report);
    for (const char* answer :
         {"y", "backward", "dx from y", "angle from y", "log m from x", "m from y", "rates from x",
          "jvp", "xpos_scale_base from y", "xpos_gamma from x", "xpos_center from x"}) {
      EXPECT_EQ(red.count(answer), 1U) << layout << " " << answer;
    }
    // A wrong rotation has an inverse all the same.
    EXPECT_EQ(red.count("inverse"), 0U);
  }
}

// A fault can hide in one row of the table: there it must be seen.
TEST(GradcheckFaults, WrongPairsAreSeenEverywhere) {
  const auto other_pairs = [](const Problem& problem) {
    Problem other = problem;
    other.at.pairing =
        problem.at.pairing == PairKind::split_half ? PairKind::interleaved : PairKind::split_half;
    other.pairing = Pairing(other.at.pairing)
                        .with_rotary_dims(2 * problem.pairs())
                        .with_offset(problem.pairing.offset());
    return library_answers(other);
  };
  const GradcheckReport report =
      gradcheck(gradcheck_cases({"", "default", "f64", "tnd"}), 1, other_pairs);
  std::set<std::string> green = all_answers(report);
  for (const std::string& red : failed_answers(report)) green.erase(red);
  // A rotation that is wrong has an inverse and an adjoint all the same.
  EXPECT_EQ(green, (std::set<std::string>{"inverse"}));
}

TEST(GradcheckFaults, FloatArithmeticIsNotDouble) {
  const auto in_float = [](const Problem& problem) {
    Problem narrow = problem;
    narrow.at.scalar = ScalarType::f32;
    return library_answers(narrow);
  };
  const GradcheckReport report = gradcheck(
      gradcheck_cases({"split_half", "linear|ggml_yarn_exact", "f64", "bsnd"}), 1, in_float);
  EXPECT_EQ(failed_answers(report), all_answers(report));
}

/// All answers wrong by this factor.
GradcheckReport off_by(double factor, const char* scalar) {
  const auto subject = with([factor](Answers& answers, const Problem&) {
    for (auto& [name, numbers] : answers) scale(numbers, factor);
  });
  return gradcheck(gradcheck_cases({"split_half", "ggml_yarn_exact|llama3", scalar, "bsnd"}), 1,
                   subject);
}

// Bounds that never failed would be no bounds. Sums of many terms that cancel have the widest, some
// 2^10 units of the sum.
TEST(GradcheckFaults, BoundsAreTight) {
  for (const auto& [scalar, factor] :
       {std::pair{"f64", 1 + 0x1p-42}, std::pair{"f32", 1 + 0x1p-12}}) {
    const GradcheckReport report = off_by(factor, scalar);
    std::set<std::string> green = all_answers(report);
    for (const std::string& red : failed_answers(report)) green.erase(red);
    // y and dx are adjoint still if both are off.
    EXPECT_EQ(green, (std::set<std::string>{"adjoint"})) << scalar;
  }
  for (const auto& [scalar, factor] :
       {std::pair{"f16", 1 + 0x1p-8}, std::pair{"bf16", 1 + 0x1p-5}}) {
    const std::set<std::string> red = failed_answers(off_by(factor, scalar));
    for (const char* answer : {"y", "inverse", "backward", "jvp", "angle from x", "m from x",
                               "base from x", "second order, to x"}) {
      EXPECT_EQ(red.count(answer), 1U) << scalar << " " << answer;
    }
  }
}

TEST(GradcheckFaults, WhatTheLibraryRefusesIsRedWithItsSentence) {
  const GradcheckReport report = gradcheck(
      gradcheck_cases({"split_half", "linear", "f32", "bsnd"}), 1, [](const Problem&) -> Answers {
        detail::fail("the moon must be full", std::string_view("half"));
      });
  EXPECT_EQ(report.passed(), 0);
  EXPECT_THAT(text_of(report, {}),
              HasSubstr("FAILED y in 1 of 1 cases; worst split_half linear f32 bsnd\n  [rope] the "
                        "moon must be full, got half\n"));
}

// Text.

TEST(GradcheckText, FailuresAreMarkedNamedAndRedOnlyOnATerminal) {
  const auto subject =
      with([](Answers& answers, const Problem&) { scale(answers["angle from y"], -1); });
  const GradcheckReport report =
      gradcheck(gradcheck_cases({"split_half", "linear", "f32", "bsnd|tnd"}), 1, subject);
  const std::string plain = text_of(report, {160, Colour::none});
  EXPECT_THAT(plain, HasSubstr("!"));
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  EXPECT_THAT(plain,
              HasSubstr("FAILED angle from y in 2 of 2 cases; worst split_half linear f32 "));
  EXPECT_THAT(plain, HasSubstr("\n  pair "));
  EXPECT_THAT(plain, EndsWith(", 2 failed\n"));
  EXPECT_THAT(text_of(report, {160, Colour::ansi}), HasSubstr("\033[1;31m"));
  EXPECT_THAT(text_of(of_library({"split_half", "linear", "f32", "bsnd"}), {160, Colour::ansi}),
              Not(HasSubstr("\033[1;31m")));
}

TEST(GradcheckText, FitsItsWidth) {
  const GradcheckReport report = of_library({"interleaved_to_split_half", "", "bf16", "bsnd"});
  for (const int width : {40, 80, 100, 160}) {
    std::istringstream lines(text_of(report, {width, Colour::none}));
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_LE(longest, static_cast<std::size_t>(std::max(80, width))) << width;
  }
}

// The program.

TEST(GradcheckProgram, TheWholeMatrixIsGreenAndInTheFile) {
  const TemporaryFolder folder;
  const Outcome outcome = run_tool("gradcheck --json '" + (folder / "all.json").string() + "'");
  EXPECT_EQ(outcome.code, 0) << outcome.out.substr(
      outcome.out.find("FAILED") == std::string::npos ? 0 : outcome.out.find("FAILED"));
  EXPECT_EQ(outcome.err, "");
  const Json results = Json::parse(file_bytes(folder / "all.json"));
  EXPECT_EQ(results["cases"], 4 * 15 * 4 * 4);
  EXPECT_EQ(results["failed"], 0);
  EXPECT_EQ(results["entries"].size(), results["passed"]);
  EXPECT_THAT(outcome.out, EndsWith("960 cases: " + std::to_string(results["passed"].get<int>()) +
                                    " passed, 0 failed\n"));
  std::set<std::string> combinations;
  for (const Json& entry : results["entries"]) {
    combinations.insert(entry["pairing"].get<std::string>() + entry["scaling"].get<std::string>() +
                        entry["scalar"].get<std::string>() + entry["layout"].get<std::string>());
    EXPECT_TRUE(entry["error"].is_number() && entry["bound"].is_number() && entry["ratio"] <= 1 &&
                entry["passed"] == true);
    EXPECT_TRUE(entry["method"].is_string() && !entry["method"].get<std::string>().empty() &&
                entry["place"].is_string());
  }
  EXPECT_EQ(combinations.size(), 960U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(GradcheckProgram, FiltersMatchWholeNames) {
  const Outcome outcome = run_tool(
      "gradcheck --pairing split_half --scaling '.*yarn.*' --scalar 'f32|f64' --layout '.nd|t.d' "
      "--seed 7");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("split_half "));
  EXPECT_THAT(outcome.out, HasSubstr("\n  yarn_deepseek f32 "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("interleaved")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("bf16")));
  EXPECT_THAT(outcome.out, HasSubstr("\nseed 7, 8 cases: "));
}

TEST(GradcheckProgram, WrongUsageIsTwo) {
  EXPECT_EQ(run_tool("gradcheck --pairing").code, 2);
  EXPECT_EQ(run_tool("gradcheck --what").code, 2);
  EXPECT_EQ(run_tool("gradcheck --seed x").code, 2);
  const std::pair<const char*, const char*> sentences[] = {
      {"--pairing '('", "[rope] --pairing must be a regular expression, got (\n"},
      {"--pairing split_hal",
       "[rope] --pairing must match one of split_half, interleaved, quarter, "
       "interleaved_to_split_half, got split_hal\n"},
      {"--scalar f8", "[rope] --scalar must match one of f64, f32, f16, bf16, got f8\n"},
      {"--plot picture.jpg", "[rope] picture.jpg: a picture's name must end in .svg or .png\n"}};
  for (const auto& [words, sentence] : sentences) {
    const Outcome outcome = run_tool(std::string("gradcheck ") + words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_EQ(outcome.err, sentence);
  }
}

TEST(GradcheckProgram, FilesThatCannotBeWrittenAreTwo) {
  const std::string few =
      "gradcheck --pairing split_half --scaling linear --scalar f32 --layout tnd ";
  EXPECT_EQ(run_tool(few + "--json /nowhere/at/all.json").err,
            "[rope] /nowhere/at/all.json: cannot be written: there is no folder /nowhere/at\n");
  EXPECT_EQ(run_tool(few + "--json /nowhere/at/all.json").code, 2);
  EXPECT_EQ(run_tool(few + "--plot /nowhere/at/all.svg").code, 2);
}

TEST(GradcheckProgram, WithoutGnuplotThereIsASentenceBeforeAnyWork) {
  const TemporaryFolder folder;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::string picture = (folder / "map.png").string();
  const Outcome outcome = run_tool(
      "gradcheck --pairing split_half --scaling linear --scalar f32 --layout tnd --plot '" +
      picture + "'");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "[rope] " + picture +
                ": gnuplot must be installed to draw it, and is in no folder of PATH\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GradcheckProgram, HelpSaysWhatTheColumnsAre) {
  const Outcome outcome = run_tool("gradcheck --help");
  EXPECT_EQ(outcome.code, 0);
  for (const Quantity quantity : all_quantities)
    EXPECT_THAT(outcome.out, HasSubstr(heading_of(quantity)));
  EXPECT_THAT(outcome.out, HasSubstr("Exit code: 0 "));
  EXPECT_THAT(run_tool("--help").out, HasSubstr("gradcheck"));
}

TEST(GradcheckProgram, DrawsWholePictures) {
  const TemporaryFolder folder;
  const std::string words =
      "gradcheck --scaling 'linear|llama3' --scalar bf16 --layout tnd --plot '";
  const Outcome svg = run_tool(words + (folder / "map.svg").string() + "'");
  EXPECT_EQ(svg.code, 0) << svg.err;
  EXPECT_EQ(svg.err, "");
  const std::string picture = file_bytes(folder / "map.svg");
  EXPECT_THAT(picture, HasSubstr("<svg "));
  EXPECT_THAT(picture, HasSubstr("interleaved_to_split_half"));
  EXPECT_THAT(picture, HasSubstr("dparam"));
  EXPECT_THAT(picture, EndsWith("</svg>\n\n"));
  EXPECT_EQ(run_tool(words + (folder / "map.png").string() + "'").code, 0);
  EXPECT_THAT(file_bytes(folder / "map.png"), EndsWith("IEND\xae\x42\x60\x82"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            2);
}

}  // namespace
}  // namespace eigen_rope::tool::gradcheck_tests
