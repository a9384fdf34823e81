// SPDX-License-Identifier: Apache-2.0
//
// The bench's checker: a target met, missed, not measured; medians of paired ratios; a
// processor without hand-written loops; the project's own targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "check.hpp"
#include "plot_data.hpp"
#include "ratios.hpp"

namespace bench::bench_check_tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string name(const std::string& implementation, int threads = 1) {
  return Name{implementation, "f32", "split_half", "decode", threads}.text();
}

/// Repetitions of one benchmark as Google Benchmark writes them: microseconds, and those of the
/// memcpy before each.
struct Times {
  std::vector<double> own, memcpy;
};

Results results_of(const std::map<std::string, Times>& measured,
                   const std::string& kernel_target = "AVX3") {
  json file{{"context", {{"rope_kernel_target", kernel_target}}}, {"benchmarks", json::array()}};
  for (const auto& [run_name, times] : measured) {
    for (std::size_t i = 0; i < times.own.size(); ++i) {
      json result{{"run_name", run_name},
                  {"run_type", "iteration"},
                  {"real_time", times.own[i]},
                  {"time_unit", "us"}};
      if (!times.memcpy.empty()) result["memcpy_us"] = times.memcpy[i];
      file["benchmarks"].push_back(result);
    }
    // An aggregate must not count as a repetition.
    file["benchmarks"].push_back({{"run_name", run_name},
                                  {"run_type", "aggregate"},
                                  {"real_time", 1e9},
                                  {"time_unit", "us"}});
  }
  Results results;
  results.add(file, "test");
  return results;
}

json target(const std::string& contender, const std::string& over) {
  return {{"target", "a target"}, {"contender", contender},     {"over", over},
          {"scalars", {"f32"}},   {"pairings", {"split_half"}}, {"shapes", {"decode"}}};
}

std::vector<Target> at_most(double bound) {
  json one = target("expr", "memcpy");
  one["at_most"] = bound;
  return parse_targets({{"targets", json::array({one})}});
}

Verdict only(const std::vector<Target>& targets, const Results& results) {
  const std::vector<Verdict> verdicts = check(targets, results);
  EXPECT_EQ(verdicts.size(), 1U);
  return verdicts.at(0);
}

const std::map<std::string, Times> twice_memcpy{{name("expr"), {{2, 2, 2}, {1, 1, 1}}},
                                                {name("memcpy"), {{1, 1, 1}, {1, 1, 1}}}};

TEST(BenchCheck, PassesWhatIsWithinTheBound) {
  const std::vector<Target> targets = at_most(2.0);
  const Verdict verdict = only(targets, results_of(twice_memcpy));
  EXPECT_EQ(verdict.outcome, Outcome::met);
  EXPECT_DOUBLE_EQ(verdict.measured, 2.0);
  EXPECT_EQ(line_of(verdict).rfind("ok", 0), 0U);
}

TEST(BenchCheck, AMissOfAtMostFivePercentIsNear) {
  const Verdict verdict = only(at_most(2 / 1.049), results_of(twice_memcpy));
  EXPECT_EQ(verdict.outcome, Outcome::near);
  EXPECT_TRUE(verdict.passed());
  EXPECT_EQ(only(at_most(2 / 1.051), results_of(twice_memcpy)).outcome, Outcome::missed);
}

TEST(BenchCheck, NearIsNamed) {
  const std::vector<Target> targets = at_most(1.95);
  EXPECT_EQ(line_of(only(targets, results_of(twice_memcpy))).rfind("near", 0), 0U);
}

// Where no loop written by hand runs, nothing is met; where some do, one that is missing is a miss.
TEST(BenchCheck, WithoutHandLoopsTheirTargetsAreNotMeasured) {
  json one = target("expr", "hand");
  one["at_most"] = 1.1;
  const std::vector<Target> targets = parse_targets({{"targets", json::array({one})}});
  const Verdict none = only(targets, results_of(twice_memcpy));
  EXPECT_EQ(none.outcome, Outcome::no_hand_loop);
  EXPECT_FALSE(none.passed());
  EXPECT_THAT(line_of(none), HasSubstr("no hand loop"));
  std::map<std::string, Times> measured = twice_memcpy;
  measured[name("hand_inplace")] = {{1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(only(targets, results_of(measured)).outcome, Outcome::not_measured);
  measured[name("hand")] = {{2, 2, 2}, {1, 1, 1}};
  EXPECT_EQ(only(targets, results_of(measured)).outcome, Outcome::met);
  measured.erase(name("expr"));
  EXPECT_EQ(only(targets, results_of(measured)).outcome, Outcome::not_measured);
}

TEST(BenchCheck, NamesAMissWithMeasuredAndAllowed) {
  const std::vector<Target> targets = at_most(1.5);
  const Verdict verdict = only(targets, results_of(twice_memcpy));
  EXPECT_EQ(verdict.outcome, Outcome::missed);
  EXPECT_FALSE(verdict.passed());
  const std::string line = line_of(verdict);
  EXPECT_EQ(line.rfind("MISS", 0), 0U);
  EXPECT_THAT(line, HasSubstr(name("expr")));
  EXPECT_THAT(line, HasSubstr("2.000"));
  EXPECT_THAT(line, HasSubstr("1.500"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(BenchCheck, ARenamedContenderOrDenominatorIsAMiss) {
  const std::vector<Target> targets = at_most(100);
  for (const char* renamed : {"expr", "memcpy"}) {
    std::map<std::string, Times> measured = twice_memcpy;
    measured[name("other")] = measured.at(name(renamed));
    measured.erase(name(renamed));
    const Verdict verdict = only(targets, results_of(measured));
    EXPECT_EQ(verdict.outcome, Outcome::not_measured);
    EXPECT_FALSE(verdict.passed());
    EXPECT_THAT(line_of(verdict), HasSubstr(name(renamed)));
    EXPECT_THAT(line_of(verdict), HasSubstr("not measured"));
  }
}

TEST(BenchCheck, AContenderThatFailedIsNotMeasured) {
  json file{{"benchmarks", json::array()}};
  file["benchmarks"].push_back(
      {{"run_name", name("expr")}, {"run_type", "iteration"}, {"error_occurred", true}});
  Results results;
  results.add(file, "test");
  const std::vector<Target> targets = at_most(100);
  EXPECT_EQ(only(targets, results).outcome, Outcome::not_measured);
}

TEST(BenchCheck, EveryScalarPairingAndShapeHasItsVerdict) {
  json one = target("expr", "memcpy");
  one["at_most"] = 1;
  one["scalars"] = {"f16", "bf16"};
  one["pairings"] = {"split_half", "interleaved"};
  one["shapes"] = {"decode", "tok16", "prefill512"};
  const std::vector<Target> targets = parse_targets({{"targets", json::array({one})}});
  EXPECT_EQ(check(targets, Results()).size(), 12U);
  EXPECT_EQ(needed_names(targets).size(), 24U);
}

// The machine becomes twice as slow halfway: each repetition has its own memcpy, so the ratio does
// not move.
TEST(BenchRatios, AreTakenRepetitionByRepetition) {
  const Results results = results_of({{name("expr"), {{3, 3, 6, 6, 6}, {2, 2, 4, 4, 4}}}});
  const Measurement* expr = results.find(name("expr"));
  ASSERT_NE(expr, nullptr);
  ASSERT_TRUE(expr->over_memcpy.has_value());
  EXPECT_DOUBLE_EQ(expr->over_memcpy->median, 1.5);
  EXPECT_DOUBLE_EQ(expr->over_memcpy->lower, 1.5);
  EXPECT_DOUBLE_EQ(expr->over_memcpy->upper, 1.5);
  EXPECT_EQ(expr->repetitions, 5);
}

TEST(BenchRatios, MedianAndQuartiles) {
  const Results results = results_of({{name("libm"), {{5, 1, 4, 2, 3}, {}}}});
  const Measurement* libm = results.find(name("libm"));
  ASSERT_NE(libm, nullptr);
  EXPECT_FALSE(libm->over_memcpy.has_value());
  EXPECT_DOUBLE_EQ(libm->seconds.median, 3e-6);
  EXPECT_DOUBLE_EQ(libm->seconds.lower, 2e-6);
  EXPECT_DOUBLE_EQ(libm->seconds.upper, 4e-6);
  EXPECT_DOUBLE_EQ(libm->time(), 3e-6);
}

TEST(BenchRatios, RefuseNamesOfAnotherForm) {
  EXPECT_THROW(Name::parse("rotate/expr/f32/split_half/decode"), std::runtime_error);
  EXPECT_EQ(Name::parse(name("expr", 2)).text(), name("expr", 2));
}

// Both with two threads, where the target says so.
TEST(BenchCheck, ComparesWithAsManyThreads) {
  json one = target("expr", "hand");
  one["threads"] = one["over_threads"] = 2;
  one["at_most"] = 1.05;
  const std::vector<Target> targets = parse_targets({{"targets", json::array({one})}});
  const auto outcome_of = [&](double rotation) {
    return only(targets, results_of({{name("expr", 2), {{rotation}, {}}},
                                     {name("hand", 2), {{10}, {}}},
                                     {name("hand"), {{1}, {}}}}))
        .outcome;
  };
  EXPECT_EQ(outcome_of(10.4), Outcome::met);
  EXPECT_EQ(outcome_of(10.6), Outcome::near);
  EXPECT_EQ(outcome_of(11.1), Outcome::missed);
}

// A group measured three times: a target is missed if it is in each, and the better measurement is
// named.
TEST(BenchCheck, MeasuringAgainCanOnlyHelp) {
  const std::map<std::string, Times> slow{{name("expr"), {{4, 4, 4}, {1, 1, 1}}},
                                          {name("memcpy"), {{1, 1, 1}, {1, 1, 1}}}};
  const std::vector<Target> targets = at_most(3);
  const std::vector<Verdict> missed = check(targets, results_of(slow));
  const std::vector<Verdict> met = check(targets, results_of(twice_memcpy));
  ASSERT_EQ(missed.at(0).outcome, Outcome::missed);
  std::vector<Verdict> verdicts = missed;
  keep_better(verdicts, missed);
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::missed);
  keep_better(verdicts, met);
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::met);
  EXPECT_DOUBLE_EQ(verdicts.at(0).measured, 2.0);
  keep_better(verdicts, missed);
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::met);
}

TEST(BenchCheck, ResultsMeasuredAgainReplaceTheFirst) {
  const json again{{"benchmarks",
                    {{{"run_name", name("expr")},
                      {"run_type", "iteration"},
                      {"real_time", 5.0},
                      {"time_unit", "us"}}}}};
  Results results = results_of(twice_memcpy);
  EXPECT_THROW(results.add(again, "again"), std::runtime_error);
  results.add(again, "again", Repeated::replaces);
  EXPECT_DOUBLE_EQ(results.find(name("expr"))->seconds.median, 5e-6);
  EXPECT_EQ(results.measurements().size(), 2U);
}

TEST(BenchCheck, RefusesTargetsThatSayNothing) {
  const json unbounded = target("expr", "memcpy");
  EXPECT_THROW(parse_targets({{"targets", json::array({unbounded})}}), json::exception);
  json misspelt = unbounded;
  misspelt["at_most"] = 1;
  misspelt["limit"] = 2;
  json nowhere = unbounded;
  nowhere["at_most"] = 1;
  nowhere["shapes"] = json::array();
  for (const json& wrong : {misspelt, nowhere}) {
    EXPECT_THROW(parse_targets({{"targets", json::array({wrong})}}), std::runtime_error);
  }
  EXPECT_THROW(parse_targets({{"targets", json::array()}}), std::runtime_error);
}

// Nothing measured at all: every target of the project is a miss, and every contender is one the
// programs' names can have.
TEST(BenchTargets, OfTheProjectCanBeReadAndAllNeedMeasuring) {
  const std::vector<Target> targets = read_targets(EIGEN_ROPE_BENCH_TARGETS);
  const std::vector<Verdict> verdicts = check(targets, Results());
  EXPECT_GT(verdicts.size(), 100U);
  for (const Verdict& verdict : verdicts)
    EXPECT_EQ(verdict.outcome, Outcome::not_measured) << verdict.name;
  for (const std::string& needed : needed_names(targets))
    EXPECT_EQ(Name::parse(needed).text(), needed);
}

TEST(BenchPlots, ShowRatiosAndShares) {
  const Results results = results_of(twice_memcpy);
  const std::vector<Target> targets = at_most(4);
  const auto plots = ratio_plots(results);
  ASSERT_EQ(plots.count("plot_f32_split_half.dat"), 1U);
  EXPECT_THAT(plots.at("plot_f32_split_half.dat"), HasSubstr("2.0000"));
  EXPECT_EQ(target_plot(check(targets, results)), "\"a target\" 0.5000 0.5000\n");
}

TEST(BenchRatios, TablesOverTheLoopsWrittenByHand) {
  std::map<std::string, Times> measured = twice_memcpy;
  EXPECT_THAT(hand_tables_of(results_of(measured)), Not(HasSubstr("f32")));
  measured[name("hand")] = {{1.6, 1.6, 1.6}, {1, 1, 1}};
  EXPECT_THAT(hand_tables_of(results_of(measured)),
              HasSubstr("| out of place | f32 | 1.25 / - | - | - | - |\n"));
  measured["rotate/offset/f16/interleaved/prefill4096/threads:1"] = {{1.5, 1.5, 1.5}, {1, 1, 1}};
  measured["rotate/offset_0/f16/interleaved/prefill4096/threads:1"] = {{1, 1, 1}, {1, 1, 1}};
  EXPECT_THAT(hand_tables_of(results_of(measured)),
              HasSubstr("| | | 512 | 4096 |\n| --- | --- | --- | --- |\n"
                        "| one element behind a line, x three | f16 | - | - / 1.50 |\n"));
}

/// One line of the file stands for each operation, each program's flags and each number of threads.
TEST(BenchCheck, LinesForSeveralOperations) {
  json one = target("*_nested", "*_two");
  one["or_the_time_of"] = "*_eval";
  one["operations"] = {"sum", "slice"};
  one["flags"] = {"", "_native"};
  one["threads_of_both"] = {1, 2};
  one["at_most"] = 1.05;
  const std::vector<Target> targets = parse_targets({{"targets", json::array({one})}});
  ASSERT_EQ(targets.size(), 8U);
  const std::set<std::string> names = needed_names(targets);
  EXPECT_EQ(names.size(), 24U);
  for (const char* needed : {"sum_nested", "sum_two_native", "slice_eval"}) {
    EXPECT_EQ(names.count(name(needed)), 1U) << needed;
    EXPECT_EQ(names.count(name(needed, 2)), 1U) << needed;
  }
  one["over"] = "two";
  EXPECT_THROW(parse_targets({{"targets", json::array({one})}}), std::runtime_error);
}

/// It is enough to be as fast as the contender named so; the time of `over` is that with as many
/// threads.
TEST(BenchCheck, OrTheTimeOfAnother) {
  json one = target("nested", "two");
  one["or_the_time_of"] = "eval";
  one["at_most"] = 1.05;
  one["threads"] = one["over_threads"] = 2;
  const std::vector<Target> targets = parse_targets({{"targets", json::array({one})}});
  const auto outcome_of = [&](double nested, double eval) {
    return only(targets, results_of({{name("nested", 2), {{nested}, {}}},
                                     {name("two", 2), {{10}, {}}},
                                     {name("eval", 2), {{eval}, {}}}}))
        .outcome;
  };
  EXPECT_EQ(outcome_of(10.4, 5), Outcome::met);
  EXPECT_EQ(outcome_of(11.1, 5), Outcome::missed);
  EXPECT_EQ(outcome_of(13, 14), Outcome::met);
  EXPECT_EQ(outcome_of(14.8, 14), Outcome::missed);
}

}  // namespace
}  // namespace bench::bench_check_tests
