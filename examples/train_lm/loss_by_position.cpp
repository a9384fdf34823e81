// SPDX-License-Identifier: Apache-2.0
#include "loss_by_position.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "frequencies.hpp"
#include "tool/io/interrupt.hpp"

namespace train_lm {
namespace {

/// Odd, so that windows of every length begin all over the text and no position meets the same
/// characters again and again.
Index stride_of(Index context) { return context / 4 * 3 + 1 - context / 4 * 3 % 2; }

/// The scalings tried on a run: all of them on the first of a session.
std::vector<Scaling> scalings_of(const SessionRun& run, bool is_first, int length_factor) {
  if (!run.config.rope.rotates() || !is_first || length_factor == 1) return {Scaling::none};
  return {Scaling::none, Scaling::linear, Scaling::ntk, Scaling::yarn};
}

std::string label(const RunConfig& config, bool is_first, Scaling scaling) {
  if (!config.rope.rotates()) return "no RoPE";
  if (!is_first) return "fixed";
  if (config.model.rates == Rates::learned && scaling == Scaling::none) return "learned";
  return std::string(name(scaling));
}

void measure_run(const SessionRun& run, bool is_first, int length_factor, const Corpus& corpus,
                 const Device& device, std::vector<PositionCurve>& curves) {
  const Index context = run.config.context;
  const Index length = length_factor * context;
  const Index windows = window_count(corpus.validation.size(), length, stride_of(context));
  Evaluator evaluator(run.config.model, device);
  for (const Scaling scaling : scalings_of(run, is_first, length_factor)) {
    if (eigen_rope::tool::interrupt_signal() != 0) return;
    const LayerFrequencies frequencies =
        run_frequencies(run.config, run.state.weights, scaling, length_factor);
    curves.push_back({length_factor, label(run.config, is_first, scaling),
                      evaluator.bits_by_position(run.state.weights, frequencies, corpus.validation,
                                                 length, stride_of(context)),
                      windows});
  }
}

}  // namespace

double PositionCurve::mean(Index first, Index last) const {
  return std::accumulate(bits.begin() + first, bits.begin() + last, 0.0) /
         static_cast<double>(last - first);
}

std::vector<PositionCurve> measure_positions(const std::vector<SessionRun>& runs,
                                             const Corpus& corpus, const Device& device) {
  std::vector<PositionCurve> curves;
  for (const int length_factor : {1, 2, 4}) {
    for (const SessionRun& run : runs) {
      if (window_count(corpus.validation.size(), length_factor * run.config.context, 1) == 0)
        continue;
      measure_run(run, &run == &runs.front(), length_factor, corpus, device, curves);
    }
  }
  return curves;
}

std::string positions_csv(const std::vector<PositionCurve>& curves) {
  std::string csv = "length_factor,scaling,position,bits,windows\n";
  for (const PositionCurve& curve : curves) {
    for (std::size_t i = 0; i < curve.bits.size(); ++i) {
      fmt::format_to(std::back_inserter(csv), "{},{},{},{:.6f},{}\n", curve.length_factor,
                     curve.scaling, i, curve.bits[i], curve.windows);
    }
  }
  return csv;
}

std::string positions_table(const std::vector<PositionCurve>& curves, Index context) {
  std::string text = fmt::format(
      "Loss by position, bits per character (training context {}, scalings without fine-tuning)\n",
      context);
  const auto out = std::back_inserter(text);
  for (const int length_factor : {1, 2, 4}) {
    std::vector<const PositionCurve*> block;
    for (const PositionCurve& curve : curves) {
      if (curve.length_factor == length_factor) block.push_back(&curve);
    }
    if (block.empty()) {
      fmt::format_to(out, "\n  {}x: the validation split is too short for windows of {}\n",
                     length_factor, length_factor * context);
      continue;
    }
    fmt::format_to(out, "\n  {:<18}", fmt::format("{}x, positions", length_factor));
    for (const PositionCurve* curve : block)
      fmt::format_to(out, "{:>9}",
                     length_factor == 1 && curve->scaling == "none" ? "RoPE" : curve->scaling);
    fmt::format_to(out, "\n");
    const auto row = [&](const std::string& label, Index first, Index last) {
      fmt::format_to(out, "  {:<18}", label);
      for (const PositionCurve* curve : block)
        fmt::format_to(out, "{:>9.3f}", curve->mean(first, last));
      fmt::format_to(out, "\n");
    };
    for (Index first = 0; first < length_factor * context; first = std::max(context, 2 * first)) {
      const Index last = std::max(context, 2 * first);
      row(fmt::format("{} - {}", first, last - 1), first, last);
    }
    if (length_factor > 1) row("all", 0, length_factor * context);
  }
  return text;
}

}  // namespace train_lm
