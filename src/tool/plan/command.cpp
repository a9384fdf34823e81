// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tool/cli/commands.hpp"
#include "tool/io/choice.hpp"
#include "tool/io/count_text.hpp"
#include "tool/io/files.hpp"
#include "tool/io/gnuplot.hpp"
#include "tool/io/terminal.hpp"
#include "tool/plan/causal_work.hpp"
#include "tool/plan/plot.hpp"
#include "tool/plan/report.hpp"

namespace eigen_rope::tool {
namespace {

enum class MlpChoice { by_family, plain, gated };

/// Speeds that were stated, in the units of the options; 0 where they were not.
struct StatedSpeeds {
  double products = 0, attention = 0, rotation = 0, memory = 0;
};

struct PlanArguments {
  std::string config{};
  PlanOptions options{};
  MlpChoice mlp = MlpChoice::by_family;
  bool lenient = false;
  StatedSpeeds stated{};
  std::string bench{}, json{}, plot{};
};

constexpr double giga = 1e9, micro = 1e-6;

/// A whole number from 1 to `most`, as 131072 or 1e6.
CLI::Option* add_count(CLI::App& command, const std::string& name, eigen_rope::Index& variable,
                       eigen_rope::Index most, const std::string& description) {
  const auto read = [&variable, name, most](const std::string& text) {
    variable = parse_count(text).value_or(0);
    if (variable < 1 || variable > most)
      throw CLI::ValidationError(
          fmt::format("{} must be a whole number from 1 to {}, got {}", name, most, text));
  };
  return command.add_option_function<std::string>(name, read, description)->option_text("N");
}

/// A positive number in some unit.
void add_measure(CLI::App& command, const std::string& name, const std::string& unit,
                 const std::function<void(double)>& take, const std::string& description) {
  const auto read = [take, name, unit](const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || !(value > 0) || !std::isfinite(value))
      throw CLI::ValidationError(
          fmt::format("{} must be a positive number of {}, got {}", name, unit, text));
    take(value);
  };
  command.add_option_function<std::string>(name, read, description)->option_text(unit);
}

void set_where_stated(double stated, double& speed) {
  if (stated > 0) speed = stated * giga;
}

int run(const PlanArguments& arguments) {
  if (!arguments.plot.empty()) require_picture(arguments.plot);
  if (!arguments.json.empty()) require_writable(arguments.json);
  std::optional<MlpKind> mlp;
  if (arguments.mlp != MlpChoice::by_family)
    mlp = arguments.mlp == MlpChoice::plain ? MlpKind::plain : MlpKind::gated;
  const TrainingModel model = read_training_model(
      arguments.config,
      arguments.lenient ? models::Strictness::lenient : models::Strictness::strict, mlp);
  PlanOptions options = arguments.options;
  Speeds& speeds = options.speeds;
  if (!arguments.bench.empty())
    read_bench_speeds(arguments.bench, options.scalar, model.pairing, speeds);
  set_where_stated(arguments.stated.products, speeds.products);
  set_where_stated(arguments.stated.attention, speeds.attention);
  set_where_stated(arguments.stated.rotation, speeds.rotation);
  set_where_stated(arguments.stated.memory, speeds.memory);
  const TrainingPlan plan = make_training_plan(model, options);
  if (!arguments.plot.empty()) draw(plan, arguments.plot);
  if (!arguments.json.empty()) write_json(json_of(plan), arguments.json);
  print_text(text_of(plan, text_options_for(stdout)));
  return fine;
}

void add_speeds(CLI::App& command, PlanArguments& arguments) {
  const Speeds usual;
  const Link link;
  command
      .add_option("--bench", arguments.bench,
                  "Take the speeds of the rotation and of memory from results of eigen-rope bench")
      ->option_text("FILE");
  StatedSpeeds& stated = arguments.stated;
  add_measure(
      command, "--products", "GFLOP/s", [&stated](double value) { stated.products = value; },
      fmt::format("Speed of a rank at products with weights (default: {:g})",
                  usual.products / giga));
  add_measure(
      command, "--attention", "GFLOP/s", [&stated](double value) { stated.attention = value; },
      fmt::format("The same of attention's products, softmax included (default: {:g})",
                  usual.attention / giga));
  add_measure(
      command, "--rotation", "GB/s", [&stated](double value) { stated.rotation = value; },
      fmt::format("What a rotation in place reads and writes (default: {:g})",
                  usual.rotation / giga));
  add_measure(
      command, "--memory-speed", "GB/s", [&stated](double value) { stated.memory = value; },
      fmt::format("What everything else reads and writes (default: {:g})", usual.memory / giga));
  Link& chosen = arguments.options.link;
  add_measure(
      command, "--link", "GB/s",
      [&chosen](double value) { chosen.bytes_per_second = value * giga; },
      fmt::format("What a link to the next rank carries (default: {:g})",
                  link.bytes_per_second / giga));
  add_measure(
      command, "--latency", "us", [&chosen](double value) { chosen.latency = value * micro; },
      fmt::format("Microseconds until a message begins to arrive (default: {:g})",
                  link.latency / micro));
}

}  // namespace

Command add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  PlanOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "plan",
      "Say what training on a long context takes: memory, traffic and time of each rank, and "
      "RoPE's share of them.");
  command->add_option("--config", arguments->config, "config.json, or a folder with one")
      ->required()
      ->option_text("FILE");
  add_count(*command, "--context", options.context, most_context,
            "Tokens of a window (default: the model's context)");
  add_count(*command, "--ranks", options.ranks, most_ranks,
            "Ranks that share the tokens of each window (default: 1)");
  add_choice<Sharding>(*command, "--sharding", options.sharding,
                       {{"contiguous", Sharding::contiguous}, {"zigzag", Sharding::zigzag}},
                       "How a window is cut (default: zigzag)");
  add_count(*command, "--batch", options.batch, most_batch,
            "Windows in a step, one after the other (default: 1)");
  add_choice<ScalarType>(
      *command, "--scalar", options.scalar,
      {{"f32", ScalarType::f32}, {"bf16", ScalarType::bf16}, {"f16", ScalarType::f16}},
      "Of activations, keys, values and gradients (default: f32)");
  add_choice<MlpChoice>(*command, "--mlp", arguments->mlp,
                        {{"plain", MlpChoice::plain}, {"gated", MlpChoice::gated}},
                        "Whether the MLP has two matrices or three (default: as the family's)");
  add_measure(
      *command, "--memory", "GiB", [&options](double value) { options.memory = value * 0x1p30; },
      "What a rank has: says for how many ranks it is enough");
  add_speeds(*command, *arguments);
  command->add_flag("--lenient", arguments->lenient,
                    "Do as Hugging Face would about what a file should not say, with a warning");
  command
      ->add_option(
          "--json", arguments->json,
          "Write every number to this file, or with - to standard output in place of the report")
      ->option_text("FILE");
  command
      ->add_option("--plot", arguments->plot,
                   "Draw 1 to 1024 ranks and contexts up to 10^7 with gnuplot, .svg or .png")
      ->option_text("FILE");
  command->footer(
      "Every rank holds all parameters, and shards of each window pass their keys and\n"
      "values round a ring. Speeds of kernels and links are stated, not measured here.\n"
      "\nExit code: 0 done, 2 unusable input or usage.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
