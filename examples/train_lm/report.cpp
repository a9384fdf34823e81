// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace train_lm {
namespace {

std::string describe(const RunConfig& config) {
  if (!config.rope.rotates()) return "model without RoPE";
  if (config.rope.kind == "default") return fmt::format("model with RoPE (base {})", config.rope.base);
  return fmt::format("model with RoPE ({}, factor {}, base {})", config.rope.kind, config.rope.factor, config.rope.base);
}

}  // namespace

std::string losses_csv(const std::vector<SessionRun>& runs) {
  std::string csv = "step";
  const auto out = std::back_inserter(csv);
  std::size_t steps = 0;
  for (const SessionRun& run : runs) {
    fmt::format_to(out, ",{0}_train_bits,{0}_validation_bits", run.config.name());
    steps = std::max(steps, run.state.train_bits.size());
  }
  for (std::size_t step = 1; step <= steps; ++step) {
    fmt::format_to(out, "\n{}", step);
    for (const SessionRun& run : runs) {
      const RunState& state = run.state;
      fmt::format_to(out, ",");
      if (step <= state.train_bits.size()) fmt::format_to(out, "{:.9g}", state.train_bits[step - 1]);
      fmt::format_to(out, ",");
      for (const ValidationPoint& point : state.validation) {
        if (point.step == static_cast<std::int64_t>(step)) fmt::format_to(out, "{:.9g}", point.bits);
      }
    }
  }
  return csv + "\n";
}

std::string report(const std::vector<SessionRun>& runs, const Corpus& corpus, const Baselines& baselines,
                   const std::vector<PositionCurve>& curves) {
  std::string text;
  const auto out = std::back_inserter(text);
  const RunConfig& config = runs.front().config;
  fmt::format_to(out, "Text: {} ({} characters, {} kinds; the last {} are for validation)\n", config.text,
                 corpus.train.size() + corpus.validation.size(), corpus.vocabulary.size(), corpus.validation.size());
  fmt::format_to(out, "Model: {} layers, {} heads, width {}, {} parameters; {} steps of {} windows of {} characters, seed {}\n\n",
                 config.model.layers, config.model.heads, config.model.dim, runs.front().state.weights.layout().size, config.steps,
                 config.batch, config.context, config.seed);
  fmt::format_to(out, "Validation loss, bits per character\n\n");
  const auto row = [&out](const std::string& label, double bits) { fmt::format_to(out, "  {:<40}{:>8.3f}\n", label, bits); };
  row("unigram counts (add-one)", baselines.unigram);
  row("bigram counts (add-one)", baselines.bigram);
  for (std::size_t i = runs.size(); i-- > 0;) row(describe(runs[i].config), runs[i].state.validation.back().bits);
  return text + "\n" + positions_table(curves, config.context);
}

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) c = '?';
  }
  return text;
}

}  // namespace train_lm
