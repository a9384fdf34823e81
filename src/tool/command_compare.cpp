// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "compare.hpp"
#include "compare_plot.hpp"
#include "compare_report.hpp"
#include "context_option.hpp"
#include "files.hpp"
#include "gnuplot.hpp"
#include "scaling_text.hpp"
#include "terminal.hpp"

namespace rope::tool {
namespace {

struct Arguments {
  std::string a{}, b{};
  InspectOptions options{};
  bool lenient = false;
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
  const auto read = [&](const std::string& name) { return Operand{name, read_model_or_scaling(name, strictness)}; };
  const Comparison comparison = compare(read(arguments.a), read(arguments.b), arguments.options);
  if (!arguments.plot.empty()) draw(comparison, arguments.plot);
  if (!arguments.json.empty()) write_json(json_of(comparison), arguments.json);
  print_text(text_of(comparison, text_options_for(stdout)));
  return comparison.equal() ? fine : found;
}

}  // namespace

Command add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("compare", "Show where the rotations of two models or scalings differ, and how far.");
  command->add_option("A", arguments->a, "config.json, a folder with one, a GGUF file, or a scaling (below)")->required();
  command->add_option("B", arguments->b, "The other one")->required();
  add_context(*command, arguments->options.length, "Tokens to compare for (default: the longer context of the two)");
  command->add_option("--layer", arguments->options.layer_type, "Only layers of this type, full_attention for example")
      ->option_text("TYPE");
  command->add_flag("--lenient", arguments->lenient, "Do as Hugging Face would about what the files should not say");
  command->add_option("--json", arguments->json, "Write every number to this file")->option_text("FILE");
  command->add_option("--plot", arguments->plot, "Draw rates, ratios and angle differences with gnuplot, .svg or .png")
      ->option_text("FILE");
  command->footer(scaling_text_help() + "\nExit code: 0 nothing differs, 1 something does, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace rope::tool
