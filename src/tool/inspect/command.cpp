// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "tool/cli/commands.hpp"
#include "tool/inspect/inspect.hpp"
#include "tool/inspect/model_options.hpp"
#include "tool/inspect/plot.hpp"
#include "tool/inspect/report.hpp"
#include "tool/inspect/scaling_text.hpp"
#include "tool/io/files.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace {

struct InspectArguments {
  std::string model{};
  ModelOptions options{};
  bool all = false;
};

int run(const InspectArguments& arguments) {
  const ModelOptions& options = arguments.options;
  options.require_outputs();
  const Inspection inspection =
      inspect(read_model_or_scaling(arguments.model, options.strictness()), options.inspect);
  if (!options.plot.empty()) draw(inspection, options.plot);
  if (!options.json.empty()) write_json(json_of(inspection), options.json);
  print_text(
      text_of(inspection, arguments.all ? Rows::all : Rows::shortened, text_options_for(stdout)));
  return fine;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  const auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand(
      "inspect", "Show what a model's configuration makes of its rotation, pair by pair.");
  command
      ->add_option("MODEL", arguments->model,
                   "config.json (- for standard input), a folder with one, a GGUF file, or a "
                   "scaling (below)")
      ->required()
      ->option_text("(required)");
  add_model_options(*command, arguments->options,
                    {"Tokens to compute everything for (default: the model's context)",
                     "Draw rates, angles and attention decay with gnuplot, .svg or .png"});
  command->add_flag("--all", arguments->all, "Print every pair");
  command->footer(scaling_text_help() + "\nExit code: 0 done, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
