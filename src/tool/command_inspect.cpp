// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "context_option.hpp"
#include "files.hpp"
#include "gnuplot.hpp"
#include "inspect.hpp"
#include "inspect_plot.hpp"
#include "inspect_report.hpp"
#include "scaling_text.hpp"
#include "terminal.hpp"

namespace rope::tool {
namespace {

struct Arguments {
  std::string model{};
  InspectOptions options{};
  bool lenient = false;
  bool all = false;
  std::string json{};
  std::string plot{};
};

int run(const Arguments& arguments) {
  if (!arguments.plot.empty()) {
    require_picture_name(arguments.plot);
    require_writable(arguments.plot);
  }
  if (!arguments.json.empty()) require_writable(arguments.json);
  const auto strictness = arguments.lenient ? models::Strictness::lenient : models::Strictness::strict;
  const Inspection inspection = inspect(read_model_or_scaling(arguments.model, strictness), arguments.options);
  if (!arguments.plot.empty()) draw(inspection, arguments.plot);
  if (!arguments.json.empty()) write_json(json_of(inspection), arguments.json);
  print_text(text_of(inspection, arguments.all ? Rows::all : Rows::shortened, text_options_for(stdout)));
  return fine;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model's configuration makes of its rotation, pair by pair.");
  command->add_option("MODEL", arguments->model, "config.json, a folder with one, a GGUF file, or a scaling (below)")->required();
  add_context(*command, arguments->options.length, "Tokens to compute everything for (default: the model's context)");
  command->add_option("--layer", arguments->options.layer_type, "Only layers of this type, full_attention for example")
      ->option_text("TYPE");
  command->add_flag("--lenient", arguments->lenient, "Do as Hugging Face would about what the file should not say, with a warning");
  command->add_flag("--all", arguments->all, "Print every pair");
  command->add_option("--json", arguments->json, "Write every number to this file")->option_text("FILE");
  command->add_option("--plot", arguments->plot, "Draw rates, angles and attention decay with gnuplot, .svg or .png")->option_text("FILE");
  command->footer(scaling_text_help() + "\nExit code: 0 done, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace rope::tool
