// SPDX-License-Identifier: Apache-2.0
#include "tool/plan/report.hpp"

#include <fmt/core.h>

#include <utility>
#include <vector>

namespace eigen_rope::tool {
namespace {

constexpr int plan_name_width = 34;

/// Four digits of a number below 10,000.
std::string four_digits(double value) {
  const int decimals = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

/// The largest unit of which there is one at least.
std::string in_units(double value, const std::vector<std::pair<double, const char*>>& units) {
  for (const auto& [size, name] : units) {
    if (value >= size) return fmt::format("{} {}", four_digits(value / size), name);
  }
  return value == 0 ? "0"
                    : fmt::format("{:.3g} {}", value / units.back().first, units.back().second);
}

struct ReportRow {
  std::string name;
  double value;
};

std::string table_with_shares(const std::string& title, const std::vector<ReportRow>& rows,
                              std::string (*text)(double), const Painter& painter) {
  double total = 0;
  for (const ReportRow& row : rows) total += row.value;
  std::string result = painter.bold(title) + "\n";
  const auto line = [&](const std::string& name, double value) {
    const double share = total > 0 ? 100 * value / total : 0;
    return fmt::format("  {:<{}}{:>12}{:>11}\n", name, plan_name_width, text(value),
                       share > 0 && share < 0.01 ? "< 0.01 %" : fmt::format("{:.2f} %", share));
  };
  for (const ReportRow& row : rows) result += line(row.name, row.value);
  return result + line("together", total) + "\n";
}

std::string head_of(const TrainingPlan& plan, const Painter& painter, int width) {
  const PlanOptions& options = plan.options;
  const StepPlan& step = plan.step;
  std::string text = painter.bold_lines(
      wrapped(plan.model.architecture.empty() ? "architecture not said" : plan.model.architecture,
              width, ""));
  const auto line = [&](const char* name, const std::string& value) {
    text += folded(fmt::format("  {:<{}}{}\n", name, plan_name_width, value), width);
  };
  line("parameters", fmt::format("{:.0f}", plan.parameters));
  line("layers, width", fmt::format("{}, {}", plan.model.layer_count(), plan.model.width));
  line("context",
       fmt::format("{} tokens, {} to a step", options.context,
                   options.batch == 1 ? "1 window" : fmt::format("{} windows", options.batch)));
  line("ranks", fmt::format("{}, {}", options.ranks, name_of(options.sharding)));
  line("tokens of a rank", fmt::format("{}", step.places));
  return text + "\n";
}

std::string rope_of(const TrainingPlan& plan, const Painter& painter) {
  const StepPlan& step = plan.step;
  std::string text = painter.bold("RoPE's share") + "\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<{}}{}\n", name, plan_name_width, value);
  };
  line("tables of a rank", text_of_bytes(step.memory.tables));
  line("tables of the whole context", text_of_bytes(plan.global_tables));
  line("memory", fmt::format("{:.3g} %", 100 * step.memory.tables / step.memory.total()));
  line("traffic", "0 %, as keys travel rotated");
  line("time", fmt::format("{:.3g} %", 100 * step.time.rotation / step.time.total()));
  return text + "\n";
}

std::string balance_of(const TrainingPlan& plan, const Painter& painter) {
  std::string text = painter.bold("causal work of the busiest rank over the mean") + "\n";
  for (const auto& [name, value] :
       {std::pair(Sharding::zigzag, plan.zigzag), std::pair(Sharding::contiguous, plan.contiguous)})
    text += fmt::format("  {:<{}}{:.4g}\n", name_of(name), plan_name_width, value);
  return text + "\n";
}

std::string ranks_table(const TrainingPlan& plan, const Painter& painter) {
  std::string text = painter.bold(fmt::format("{:>6}{:>12}{:>13}{:>13}{:>13}{:>11}", "ranks",
                                              "tokens", "memory", "sent", "step", "speed-up")) +
                     "\n";
  const double alone = plan.by_ranks.front().time.total();
  for (const StepPlan& step : plan.by_ranks) {
    const std::string line =
        fmt::format("{:>6}{:>12}{:>13}{:>13}{:>13}{:>11.4g}", step.ranks, step.places,
                    text_of_bytes(step.memory.total()), text_of_bytes(step.traffic.total()),
                    text_of_seconds(step.time.total()), alone / step.time.total());
    text += (step.ranks == plan.options.ranks ? painter.bold(line) : line) + "\n";
  }
  return text;
}

std::string speeds_of(const PlanOptions& options) {
  constexpr double giga = 1e9;
  return fmt::format(
      "times of a rank that makes {:.4g} GFLOP/s of products and {:.4g} of attention, rotates "
      "{:.4g} "
      "GB/s and moves {:.4g}, over links of {:.4g} GB/s and {:.4g} us",
      options.speeds.products / giga, options.speeds.attention / giga,
      options.speeds.rotation / giga, options.speeds.memory / giga,
      options.link.bytes_per_second / giga, options.link.latency * 1e6);
}

Json step_json(const StepPlan& step) {
  const RankMemory& memory = step.memory;
  const RankTraffic& traffic = step.traffic;
  const StepTime& time = step.time;
  return {
      {"ranks", step.ranks},
      {"tokens", step.places},
      {"padding", step.padding},
      {"balance", step.balance},
      {"memory_bytes",
       {{"state", memory.state},
        {"layers", memory.layers},
        {"between", memory.between},
        {"blocks", memory.blocks},
        {"tables", memory.tables},
        {"total", memory.total()}}},
      {"sent_bytes", {{"ring", traffic.ring}, {"sums", traffic.sums}, {"total", traffic.total()}}},
      {"summed_bytes", traffic.summed},
      {"seconds",
       {{"products", time.products},
        {"attention", time.attention},
        {"rotation", time.rotation},
        {"elementwise", time.elementwise},
        {"passes", time.passes},
        {"sums", time.sums},
        {"total", time.total()}}}};
}

}  // namespace

std::string text_of_bytes(double bytes) {
  return in_units(bytes, {{0x1p50, "PiB"},
                          {0x1p40, "TiB"},
                          {0x1p30, "GiB"},
                          {0x1p20, "MiB"},
                          {0x1p10, "KiB"},
                          {1, "B"}});
}

std::string text_of_seconds(double seconds) {
  return in_units(seconds,
                  {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
}

std::string text_of(const TrainingPlan& plan, const TextOptions& options) {
  const Painter painter(options.colour);
  const StepPlan& step = plan.step;
  std::string text = head_of(plan, painter, options.width);
  text += table_with_shares("memory of a rank",
                            {{"parameters, gradient, moments", step.memory.state},
                             {"activations of layers", step.memory.layers},
                             {"between layers, and logits", step.memory.between},
                             {"keys and values by blocks", step.memory.blocks},
                             {"tables of cos and sin", step.memory.tables}},
                            text_of_bytes, painter);
  text += table_with_shares("sent by a rank in a step",
                            {{"keys, values, their gradients", step.traffic.ring},
                             {"sum of the gradient", step.traffic.sums}},
                            text_of_bytes, painter);
  text += table_with_shares("time of a step",
                            {{"products with weights", step.time.products},
                             {"attention", step.time.attention},
                             {"rotation", step.time.rotation},
                             {"norms, activations, AdamW", step.time.elementwise},
                             {"waiting for keys and values", step.time.passes},
                             {"waiting for the gradient", step.time.sums}},
                            text_of_seconds, painter);
  text += rope_of(plan, painter) + balance_of(plan, painter) + ranks_table(plan, painter);
  std::vector<std::string> notes{speeds_of(plan.options)};
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  text += "\n" + painter.bold("Notes") + "\n";
  for (const std::string& note : notes) text += wrapped(note, options.width, "  ");
  if (!plan.warnings.empty()) text += "\n" + painter.bold(painter.yellow("Warnings")) + "\n";
  for (const std::string& warning : plan.warnings) text += wrapped(warning, options.width, "! ");
  return text;
}

Json json_of(const TrainingPlan& plan) {
  const PlanOptions& options = plan.options;
  Json by_ranks = Json::array();
  for (const StepPlan& step : plan.by_ranks) by_ranks.push_back(step_json(step));
  return {{"architecture", plan.model.architecture},
          {"parameters", plan.parameters},
          {"context", options.context},
          {"batch", options.batch},
          {"sharding", name_of(options.sharding)},
          {"scalar", name_of(options.scalar)},
          {"speeds",
           {{"products", options.speeds.products},
            {"attention", options.speeds.attention},
            {"rotation", options.speeds.rotation},
            {"memory", options.speeds.memory},
            {"link", options.link.bytes_per_second},
            {"latency", options.link.latency}}},
          {"step", step_json(plan.step)},
          {"global_table_bytes", plan.global_tables},
          {"balance", {{"contiguous", plan.contiguous}, {"zigzag", plan.zigzag}}},
          {"by_ranks", std::move(by_ranks)},
          {"notes", plan.notes},
          {"warnings", plan.warnings}};
}

}  // namespace eigen_rope::tool
