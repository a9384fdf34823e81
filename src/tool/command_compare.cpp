// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "compare.hpp"
#include "compare_plot.hpp"
#include "compare_report.hpp"
#include "files.hpp"
#include "model_options.hpp"
#include "scaling_text.hpp"
#include "terminal.hpp"

namespace rope::tool {
namespace {

struct CompareArguments {
  std::string a{}, b{};
  ModelOptions options{};
};

int run(const CompareArguments& arguments) {
  const ModelOptions& options = arguments.options;
  options.require_outputs();
  const auto read = [&](const std::string& name) { return Operand{name, read_model_or_scaling(name, options.strictness())}; };
  const Comparison comparison = compare(read(arguments.a), read(arguments.b), options.inspect);
  if (!options.plot.empty()) draw(comparison, options.plot);
  if (!options.json.empty()) write_json(json_of(comparison), options.json);
  print_text(text_of(comparison, text_options_for(stdout)));
  return comparison.equal() ? fine : found;
}

}  // namespace

Command add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("compare", "Show where the rotations of two models or scalings differ, and how far.");
  command->add_option("A", arguments->a, "config.json, a folder with one, a GGUF file, or a scaling (below)")
      ->required()
      ->option_text("(required)");
  command->add_option("B", arguments->b, "The other one")->required()->option_text("(required)");
  add_model_options(*command, arguments->options,
                    {"Tokens to compare for (default: the longer context of the two)",
                     "Draw rates, ratios and angle differences with gnuplot, .svg or .png"});
  command->footer(scaling_text_help() + "\nExit code: 0 nothing differs, 1 something does, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace rope::tool
