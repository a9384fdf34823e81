// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <memory>

#include "tool/cli/commands.hpp"
#include "tool/compare/compare.hpp"
#include "tool/compare/plot.hpp"
#include "tool/compare/report.hpp"
#include "tool/inspect/model_options.hpp"
#include "tool/inspect/scaling_text.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/files.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace {

struct CompareArguments {
  std::string a{}, b{};
  ModelOptions options{};
  double tolerance = default_tolerance;
};

int run(const CompareArguments& arguments) {
  const ModelOptions& options = arguments.options;
  if (arguments.a == "-" && arguments.b == "-")
    refuse("-", "standard input can be one of the two, not both");
  options.require_outputs();
  const auto read = [&](const std::string& name) {
    return Operand{name == "-" ? "standard input" : name,
                   read_model_or_scaling(name, options.strictness())};
  };
  const Comparison comparison =
      compare(read(arguments.a), read(arguments.b), options.inspect, arguments.tolerance);
  if (!options.plot.empty()) draw(comparison, options.plot);
  if (!options.json.empty()) write_json(json_of(comparison), options.json);
  print_text(text_of(comparison, text_options_for(stdout)));
  return comparison.equal() ? fine : found;
}

}  // namespace

Command add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Say whether two models or scalings rotate alike within a tolerance, and where they differ.");
  command
      ->add_option("A", arguments->a,
                   "config.json (- for standard input), a folder with one, a GGUF file, or a "
                   "scaling (below)")
      ->required()
      ->option_text("(required)");
  command->add_option("B", arguments->b, "The other one")->required()->option_text("(required)");
  const auto read_tolerance = [arguments](const std::string& text) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, arguments->tolerance);
    const bool good = error == std::errc() && stop == end && arguments->tolerance >= 0 &&
                      std::isfinite(arguments->tolerance);
    if (!good)
      throw CLI::ValidationError(
          fmt::format("--tolerance must be a number of radians from 0, got {}", text));
  };
  command
      ->add_option_function<std::string>(
          "--tolerance", read_tolerance,
          fmt::format("Largest difference of any pair's angle at any position, and of m and the "
                      "softmax multiplier as ratios (default: {})",
                      default_tolerance))
      ->option_text("RAD");
  add_model_options(*command, arguments->options,
                    {"Tokens to compare for (default: the longer context of the two)",
                     "Draw rates, ratios and angle differences with gnuplot, .svg or .png"});
  command->footer(
      scaling_text_help() +
      "\nRates, magnitude, sections, sizes (head dims, rotary dims) and which layers rotate\n"
      "decide. Names of families, words for the pairing, and parameters that differ by\n"
      "less than the tolerance makes of them are remarks.\n"
      "\nExit code: 0 equal within the tolerance, 1 different, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
