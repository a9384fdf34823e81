// SPDX-License-Identifier: Apache-2.0
//
// The program `rope`: its commands and their options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>

#include "gradcheck_library.hpp"
#include "gradcheck_report.hpp"
#include "report.hpp"
#include "rope/kernel_target.hpp"
#include "rope/streaming.hpp"
#include "rope/version.hpp"
#include "verify.hpp"

namespace {

using rope::tool::PrecisionChoice;

enum ExitCode : int { all_passed = 0, some_failed = 1, unusable = 2 };

struct VerifyArguments {
  std::vector<std::string> folders{};
  PrecisionChoice precision = PrecisionChoice::both;
  std::string json{};
  bool quiet = false;
};

CLI::App* add_verify(CLI::App& app, VerifyArguments& arguments) {
  static const std::map<std::string, PrecisionChoice> choices{
      {"exact", PrecisionChoice::exact}, {"float-recurrence", PrecisionChoice::float_recurrence}, {"both", PrecisionChoice::both}};
  CLI::App* command =
      app.add_subcommand("verify", "Compare recorded answers of ggml, ONNX and Ascend, and rates of scalings, with this library's.");
  command->add_option("DIR", arguments.folders, "Folders with recordings, searched with all folders below them, or inv_freq.json files")
      ->required();
  command->add_option("--precision", arguments.precision, "How ggml's cases run: exact, float-recurrence or both (default); both must pass")
      ->transform(CLI::CheckedTransformer(choices))
      ->option_text("exact|float-recurrence|both");
  command->add_option("--json", arguments.json, "Write all results to this file")->option_text("FILE");
  command->add_flag("--quiet", arguments.quiet, "Print only failing cases and the last line");
  command->footer("Exit code: 0 all passed, 1 some failed, 2 unusable input or usage.");
  return command;
}

struct GradcheckArguments {
  rope::tool::GradcheckFilters filters{};
  std::uint64_t seed = 1;
  std::string json{};
  std::string plot{};
};

CLI::App* add_gradcheck(CLI::App& app, GradcheckArguments& arguments) {
  CLI::App* command = app.add_subcommand("gradcheck", "Check the rotation, its inverse and every gradient by an independent method.");
  const auto filter = [&](const char* option, std::string& expression, const char* names) {
    command->add_option(option, expression, names)->option_text("REGEX");
  };
  filter("--pairing", arguments.filters.pairing, "half, interleaved, quarter, interleaved_to_half");
  filter("--scaling", arguments.filters.scaling, "default, linear, factors, ntk, yarn,\nyarn_exact, llama3, rates");
  filter("--scalar", arguments.filters.scalar, "f64, f32, f16, bf16");
  filter("--layout", arguments.filters.layout, "bsnd, bnsd, sbnd, tnd");
  command->add_option("--seed", arguments.seed, "Of the random numbers (default 1)")->option_text("N");
  command->add_option("--json", arguments.json, "Write all checks: error, bound, place, method")->option_text("FILE");
  command->add_option("--plot", arguments.plot, "Draw a heat map with gnuplot, .svg or .png")->option_text("FILE");
  command->footer(rope::tool::gradcheck_help());
  return command;
}

bool print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
  fmt::print(stderr, "[rope] the results could not be printed\n");
  return false;
}

int run_verify(const VerifyArguments& arguments) {
  using rope::tool::Detail;
  const rope::tool::Report report = rope::tool::verify({arguments.folders.begin(), arguments.folders.end()}, arguments.precision);
  if (!arguments.json.empty()) rope::tool::write_json(report, arguments.json);
  if (!print(text_of(report, arguments.quiet ? Detail::failures_only : Detail::full))) return unusable;
  return report.failed() == 0 ? all_passed : some_failed;
}

int run_gradcheck(const GradcheckArguments& arguments) {
  if (!arguments.plot.empty()) rope::tool::require_picture_name(arguments.plot);
  const auto cases = rope::tool::gradcheck_cases(arguments.filters);
  const rope::tool::GradcheckReport report = rope::tool::gradcheck(cases, arguments.seed, rope::tool::library_answers);
  if (!print(text_of(report, rope::tool::text_options_for(stdout)))) return unusable;
  if (!arguments.json.empty()) rope::tool::write_json(report, arguments.json);
  if (!arguments.plot.empty()) rope::tool::draw(report, arguments.plot);
  return report.failed() == 0 ? all_passed : some_failed;
}

int run(int argc, char** argv) {
  CLI::App app("Rotary position embedding: what this library computes, and how it compares.", "rope");
  app.set_version_flag("--version", fmt::format("rope {}.{}.{}", ROPE_VERSION_MAJOR, ROPE_VERSION_MINOR, ROPE_VERSION_PATCH));
  app.require_subcommand(1);
  VerifyArguments verify;
  add_verify(app, verify);
  GradcheckArguments gradcheck;
  const CLI::App* gradcheck_command = add_gradcheck(app, gradcheck);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? all_passed : unusable;
  }
  // What is wrong with the environment is no case's fault.
  rope::kernel_target();
  rope::detail::require_streaming_threshold();
  return gradcheck_command->parsed() ? run_gradcheck(gradcheck) : run_verify(verify);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return unusable;
  }
}
