// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "tool/cli/commands.hpp"
#include "tool/io/choice.hpp"
#include "tool/io/files.hpp"
#include "tool/io/terminal.hpp"
#include "tool/verify/report.hpp"
#include "tool/verify/verify.hpp"

namespace eigen_rope::tool {
namespace {

struct VerifyArguments {
  std::vector<std::string> folders{};
  PrecisionChoice precision = PrecisionChoice::both;
  std::string json{};
  bool quiet = false;
};

int run(const VerifyArguments& arguments) {
  if (!arguments.json.empty()) require_writable(arguments.json);
  const Report report =
      verify({arguments.folders.begin(), arguments.folders.end()}, arguments.precision);
  if (!arguments.json.empty()) write_json(report, arguments.json);
  print_text(text_of(report, arguments.quiet ? Detail::failures_only : Detail::full));
  return report.failed() == 0 ? fine : found;
}

}  // namespace

Command add_verify(CLI::App& app) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify",
                                         "Compare recorded answers of ggml, ONNX and Ascend, and "
                                         "rates of scalings, with this library's.");
  command
      ->add_option(
          "DIR", arguments->folders,
          "Folders with recordings, searched with all folders below them, or inv_freq.json files")
      ->required()
      ->option_text("(required)");
  add_choice<PrecisionChoice>(*command, "--precision", arguments->precision,
                              {{"exact", PrecisionChoice::exact},
                               {"float-recurrence", PrecisionChoice::float_recurrence},
                               {"both", PrecisionChoice::both}},
                              "How ggml's cases run (default both: each must pass)");
  command
      ->add_option(
          "--json", arguments->json,
          "Write all results to this file, or with - to standard output in place of the report")
      ->option_text("FILE");
  command->add_flag("--quiet", arguments->quiet, "Print only failing cases and the last line");
  command->footer("Exit code: 0 all passed, 1 some failed, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
