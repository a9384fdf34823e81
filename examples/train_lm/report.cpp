// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "frequencies.hpp"

namespace train_lm {
namespace {

constexpr double two_pi = 6.283185307179586;

std::string describe(const RunConfig& config) {
  if (!config.rope.rotates()) return "model without RoPE";
  const char* rates = config.model.rates == Rates::learned ? ", learned rates" : "";
  if (config.rope.kind == "default")
    return fmt::format("model with RoPE (base {}{})", config.rope.base, rates);
  return fmt::format("model with RoPE ({}, factor {}, base {}{})", config.rope.kind,
                     config.rope.factor, config.rope.base, rates);
}

/// One row per pair: rate and wavelength before training, then those of each layer.
std::string rates_table(const SessionRun& run) {
  std::string text =
      "Rates of the pairs in radians per token, and wavelengths in tokens\n\n  pair   before "
      "training";
  const auto out = std::back_inserter(text);
  const std::size_t layers = run.state.weights.layout().layers.size();
  for (std::size_t layer = 0; layer < layers; ++layer)
    fmt::format_to(out, "{:>20}", fmt::format("layer {}", layer));
  const std::vector<double> first = first_rates(run.config);
  for (std::size_t k = 0; k < first.size(); ++k) {
    fmt::format_to(out, "\n  {:>4}  {:>8.5f} {:>7.1f}", k, first[k], two_pi / first[k]);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const double rate = run.state.weights.rates(layer)[k];
      fmt::format_to(out, "    {:>8.5f} {:>7.1f}", rate, two_pi / rate);
    }
  }
  return text + "\n";
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
      if (step <= state.train_bits.size())
        fmt::format_to(out, "{:.9g}", state.train_bits[step - 1]);
      fmt::format_to(out, ",");
      for (const ValidationPoint& point : state.validation) {
        if (point.step == static_cast<std::int64_t>(step))
          fmt::format_to(out, "{:.9g}", point.bits);
      }
    }
  }
  return csv + "\n";
}

std::string rates_csv(const SessionRun& run) {
  std::string csv = "layer,pair,first_rate,rate,first_wavelength,wavelength\n";
  const std::vector<double> first = first_rates(run.config);
  for (std::size_t layer = 0; layer < run.state.weights.layout().layers.size(); ++layer) {
    const std::vector<double> rates = run.state.weights.rates(layer);
    for (std::size_t k = 0; k < rates.size(); ++k) {
      fmt::format_to(std::back_inserter(csv), "{},{},{:.9g},{:.9g},{:.9g},{:.9g}\n", layer, k,
                     first[k], rates[k], two_pi / first[k], two_pi / rates[k]);
    }
  }
  return csv;
}

std::string report(const std::vector<SessionRun>& runs, const Corpus& corpus,
                   const Baselines& baselines, const std::vector<PositionCurve>& curves) {
  std::string text;
  const auto out = std::back_inserter(text);
  const RunConfig& config = runs.front().config;
  fmt::format_to(out, "Text: {} ({} characters, {} kinds; the last {} are for validation)\n",
                 config.text, corpus.train.size() + corpus.validation.size(),
                 corpus.vocabulary.size(), corpus.validation.size());
  fmt::format_to(out,
                 "Model: {} layers, {} heads, width {}, {} parameters; {} steps of {} windows of "
                 "{} characters, seed {}\n\n",
                 config.model.layers, config.model.heads, config.model.dim,
                 runs.front().state.weights.layout().size, config.steps, config.batch,
                 config.context, config.seed);
  fmt::format_to(out, "Validation loss, bits per character\n\n");
  const auto row = [&out](const std::string& label, double bits) {
    fmt::format_to(out, "  {:<48}{:>8.3f}\n", label, bits);
  };
  row("unigram counts (add-one)", baselines.unigram);
  row("bigram counts (add-one)", baselines.bigram);
  for (std::size_t i = runs.size(); i-- > 0;)
    row(describe(runs[i].config), runs[i].state.validation.back().bits);
  text += "\n" + positions_table(curves, config.context);
  return config.model.rates == Rates::learned ? text + "\n" + rates_table(runs.front()) : text;
}

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) c = '?';
  }
  return text;
}

}  // namespace train_lm
