// SPDX-License-Identifier: Apache-2.0
//
// Reads what the benchmarks wrote; prints the table of ratios, compares with the targets, and
// writes the data of the plots.
//
//   rotate_report [--out DIR] [--targets FILE [--check]] RESULTS.json...
//
// Into DIR: table.txt; hand.md, the tables of docs/performance.md over the loops written by hand;
// results.json, all files as one in Google Benchmark's form; plot_<scalar>_<pairing>.dat and
// targets.dat. Exit code: 0, 1 if --check finds a target missed or not measured, 2 for unusable
// input.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "plot_data.hpp"
#include "ratios.hpp"

namespace {

struct Arguments {
  std::vector<std::string> files{};
  std::vector<std::string> again{};
  std::string out{};
  std::string missed{};
  std::string targets{};
  bool check = false;
};

void write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

/// One file in Google Benchmark's form; the context is the first one's, and of a name measured
/// again the last results.
nlohmann::json merged(const Arguments& arguments) {
  nlohmann::json all;
  const auto join = [&](const std::string& file) {
    std::ifstream in(file);
    nlohmann::json one = nlohmann::json::parse(in);
    if (all.is_null()) {
      all = std::move(one);
      return;
    }
    std::set<std::string> names;
    for (const nlohmann::json& result : one.at("benchmarks"))
      names.insert(result.at("run_name").get<std::string>());
    auto& list = all.at("benchmarks").get_ref<nlohmann::json::array_t&>();
    list.erase(
        std::remove_if(list.begin(), list.end(),
                       [&](const auto& result) { return names.count(result.at("run_name")) != 0; }),
        list.end());
    for (nlohmann::json& result : one.at("benchmarks")) list.push_back(std::move(result));
  };
  for (const std::string& file : arguments.files) join(file);
  for (const std::string& file : arguments.again) join(file);
  return all;
}

/// What finds the groups of missed targets, as --filter of the benchmarks takes it; empty without
/// any.
std::string groups_missed(const std::vector<bench::Verdict>& verdicts) {
  std::set<std::string> groups;
  for (const bench::Verdict& verdict : verdicts) {
    if (verdict.outcome != bench::Outcome::missed) continue;
    const bench::Name name = bench::Name::parse(verdict.name);
    groups.insert('/' + name.scalar + '/' + name.pairing + '/' + name.shape + '/');
  }
  return fmt::format("{}", fmt::join(groups, "|"));
}

std::string header_of(const bench::Results& results) {
  std::string text =
      "Times over memcpy of the same bytes in the same run; medians, with quartiles.\n";
  for (const bench::Program& p : results.programs()) {
    if (p.kernel_target.empty()) continue;
    fmt::format_to(std::back_inserter(text),
                   "{}: {}; kernels {}; own code {}; Eigen {}; compiler {}\n", p.file, p.processor,
                   p.kernel_target, p.eigen_vectors, p.eigen, p.compiler);
  }
  return text + '\n';
}

/// Prints a line per target and closes with all that were not met; whether none was missed or left
/// unmeasured.
bool print_check(const std::vector<bench::Verdict>& verdicts) {
  std::string others;
  std::map<bench::Outcome, std::size_t> count;
  for (const bench::Verdict& verdict : verdicts) {
    const std::string line = line_of(verdict) + '\n';
    fmt::print("{}", line);
    ++count[verdict.outcome];
    if (verdict.outcome != bench::Outcome::met) others += line;
  }
  using bench::Outcome;
  const std::size_t unmeasured = count[Outcome::not_measured] + count[Outcome::no_hand_loop];
  fmt::print(
      "{} of {} targets met, {} near (missed by at most 5 %), {} missed, {} not measured\n{}",
      count[Outcome::met], verdicts.size(), count[Outcome::near], count[Outcome::missed],
      unmeasured, others);
  return count[Outcome::missed] + unmeasured == 0;
}

int run(const Arguments& arguments) {
  std::vector<bench::Target> targets;
  if (!arguments.targets.empty()) targets = bench::read_targets(arguments.targets);
  bench::Results results;
  for (const std::string& file : arguments.files) results.load(file);
  std::vector<bench::Verdict> verdicts = check(targets, results);
  for (const std::string& file : arguments.again) {
    results.load(file, bench::Repeated::replaces);
    keep_better(verdicts, check(targets, results));
  }
  const std::string table = header_of(results) + table_of(results);
  fmt::print("{}", table);
  if (!arguments.out.empty()) {
    write(arguments.out + "/table.txt", table);
    write(arguments.out + "/hand.md", hand_tables_of(results));
    write(arguments.out + "/results.json", merged(arguments).dump(1) + '\n');
    for (const auto& [name, text] : bench::ratio_plots(results))
      write(arguments.out + '/' + name, text);
    if (!targets.empty()) write(arguments.out + "/targets.dat", bench::target_plot(verdicts));
  }
  if (!arguments.missed.empty()) write(arguments.missed, groups_missed(verdicts));
  if (!arguments.check) return 0;
  return print_check(verdicts) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Ratios to memcpy from the benchmarks' results, and the targets against them.",
               "rotate_report");
  Arguments arguments;
  app.add_option("results", arguments.files, "Google Benchmark's JSON")->required();
  app.add_option(
      "--again", arguments.again,
      "The same of groups measured again: shown instead, and a target is missed if it is in each");
  app.add_option("--out", arguments.out,
                 "An existing folder for table.txt, results.json and the data of the plots");
  CLI::Option* targets = app.add_option("--targets", arguments.targets, "The file of targets");
  app.add_option("--missed", arguments.missed,
                 "Write what finds the groups of missed targets, for the benchmarks' --filter")
      ->needs(targets);
  app.add_flag("--check", arguments.check,
               "Print every target with what was measured; exit with 1 if one is missed")
      ->needs(targets);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
