// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "numbers/joined.hpp"
#include "tool/cli/commands.hpp"
#include "tool/gradcheck/library.hpp"
#include "tool/gradcheck/report.hpp"
#include "tool/io/files.hpp"
#include "tool/io/gnuplot.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace {

struct GradcheckArguments {
  GradcheckFilters filters{};
  std::uint64_t seed = 1;
  std::string json{};
  std::string plot{};
};

/// All names, in lines that fit beside the option.
std::string names_of_scalings() {
  std::string lines = wrapped(detail::joined(all_scalings(), ", "), 50, "");
  lines.pop_back();  // the last line's end
  return lines;
}

int run(const GradcheckArguments& arguments) {
  if (!arguments.plot.empty()) require_picture(arguments.plot);
  if (!arguments.json.empty()) require_writable(arguments.json);
  const auto cases = gradcheck_cases(arguments.filters);
  const GradcheckReport report = gradcheck(cases, arguments.seed, library_answers);
  print_text(text_of(report, text_options_for(stdout)));
  if (!arguments.json.empty()) write_json(report, arguments.json);
  if (!arguments.plot.empty()) draw(report, arguments.plot);
  return report.failed() == 0 ? fine : found;
}

}  // namespace

Command add_gradcheck(CLI::App& app) {
  const auto arguments = std::make_shared<GradcheckArguments>();
  CLI::App* command = app.add_subcommand(
      "gradcheck", "Check the rotation, its inverse and every gradient by an independent method.");
  const auto filter = [&](const char* option, std::string& expression, const char* names) {
    command->add_option(option, expression, names)->option_text("REGEX");
  };
  filter("--pairing", arguments->filters.pairing,
         "split_half, interleaved, quarter, interleaved_to_split_half");
  filter("--scaling", arguments->filters.scaling, names_of_scalings().c_str());
  filter("--scalar", arguments->filters.scalar, "f64, f32, f16, bf16");
  filter("--layout", arguments->filters.layout, "bsnd, bnsd, sbnd, tnd");
  command->add_option("--seed", arguments->seed, "Of the random numbers (default 1)")
      ->option_text("N");
  command
      ->add_option("--json", arguments->json,
                   "Write all checks: error, bound, place, method; - for standard output, in place "
                   "of the report")
      ->option_text("FILE");
  command->add_option("--plot", arguments->plot, "Draw a heat map with gnuplot, .svg or .png")
      ->option_text("FILE");
  command->footer(gradcheck_help());
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
