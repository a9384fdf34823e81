// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <regex>

#include "tool/bench/programs.hpp"
#include "tool/cli/commands.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/files.hpp"

namespace eigen_rope::tool {
namespace {

struct BenchArguments {
  BenchOptions options{};
  std::string targets{};
  std::string json{};
  bool quick = false;
};

std::filesystem::path this_program() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    refuse("/proc/self/exe", "this program's own place must be known to find the benchmarks");
  return path;
}

void require_regular_expression(const std::string& text) {
  try {
    static_cast<void>(std::regex(text));
  } catch (const std::regex_error&) {
    refuse("--filter", "must be a regular expression, got " + text);
  }
}

int run(const BenchArguments& arguments) {
  BenchOptions options = arguments.options;
  require_regular_expression(options.filter);
  options.pace = arguments.quick ? BenchPace::quick : BenchPace::full;
  options.targets = arguments.targets;
  options.json = arguments.json;
  if (!options.json.empty()) require_writable(options.json);
  switch (run_bench(bench_folder(this_program()), options)) {
    case BenchOutcome::measured: return fine;
    case BenchOutcome::failed: return found;
    case BenchOutcome::nothing: break;
  }
  return unusable;
}

}  // namespace

Command add_bench(CLI::App& app) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "Time the rotation against memcpy of the same bytes, loops and stock Eigen, in one run.");
  command->add_flag("--quick", arguments->quick,
                    "Few repetitions, no large tensors: a look, not a measurement");
  command
      ->add_option(
          "--filter", arguments->options.filter,
          "Only names rotate/<impl>/<scalar>/<pairing>/<shape>/threads:<n>\nin which this is found")
      ->option_text("REGEX");
  command
      ->add_option("--targets", arguments->targets,
                   "Measure what this file needs (bench/targets.json) and compare with it")
      ->option_text("FILE");
  command
      ->add_option("--json", arguments->json,
                   "Write all results to this file, or with - to standard output, and the report "
                   "to standard error")
      ->option_text("FILE");
  command->footer(
      "On an otherwise idle machine; everything takes about 5 minutes.\n"
      "Exit code: 0 measured, 1 a result differs from the reference or a target was missed, 2 "
      "unusable.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
