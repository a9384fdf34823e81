// SPDX-License-Identifier: Apache-2.0
//
// The program `rope`: its commands and their options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>

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
  CLI::App* command = app.add_subcommand("verify", "Compare recorded answers of ggml, ONNX and Ascend with this library's.");
  command->add_option("DIR", arguments.folders, "Folders with recordings, searched with all folders below them")->required();
  command->add_option("--precision", arguments.precision, "How ggml's cases run: exact, float-recurrence or both (default); both must pass")
      ->transform(CLI::CheckedTransformer(choices))
      ->option_text("exact|float-recurrence|both");
  command->add_option("--json", arguments.json, "Write all results to this file")->option_text("FILE");
  command->add_flag("--quiet", arguments.quiet, "Print only failing cases and the last line");
  command->footer("Exit code: 0 all passed, 1 some failed, 2 unusable input or usage.");
  return command;
}

int run_verify(const VerifyArguments& arguments) {
  using rope::tool::Detail;
  const rope::tool::Report report = rope::tool::verify({arguments.folders.begin(), arguments.folders.end()}, arguments.precision);
  if (!arguments.json.empty()) rope::tool::write_json(report, arguments.json);
  const std::string text = text_of(report, arguments.quiet ? Detail::failures_only : Detail::full);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fmt::print(stderr, "[rope] the results could not be printed\n");
    return unusable;
  }
  return report.failed() == 0 ? all_passed : some_failed;
}

int run(int argc, char** argv) {
  CLI::App app("Rotary position embedding: what this library computes, and how it compares.", "rope");
  app.set_version_flag("--version", fmt::format("rope {}.{}.{}", ROPE_VERSION_MAJOR, ROPE_VERSION_MINOR, ROPE_VERSION_PATCH));
  app.require_subcommand(1);
  VerifyArguments arguments;
  add_verify(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? all_passed : unusable;
  }
  // What is wrong with the environment is no case's fault.
  rope::kernel_target();
  rope::detail::require_streaming_threshold();
  return run_verify(arguments);
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
