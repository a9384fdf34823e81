// SPDX-License-Identifier: Apache-2.0
//
// One training run: what defines it, and where it stands.
//
// Two runs with equal RunConfig and the same number of threads give the same losses bit for bit,
// interrupted or not: weights, moments, step and seed are the whole state, since random numbers are
// a function of seed and step (random.hpp). The lists of losses are kept so that the curves of a
// resumed run are whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adam.hpp"
#include "parameters.hpp"
#include "rope_choice.hpp"

namespace train_lm {

inline std::string run_name(const std::string& rope_kind, Rates rates) {
  return rates == Rates::learned ? rope_kind + "-learned" : rope_kind;
}

struct RunConfig {
  ModelConfig model;
  RopeChoice rope;
  AdamConfig adam;
  Index context = 128;
  Index batch = 16;
  std::int64_t steps = 450;
  std::uint64_t seed = 1;
  std::uint64_t text_checksum = 0;
  /// Where the text was, and whether the session trains a model without RoPE beside this one: for
  /// resuming, no part of what defines a run.
  std::string text;
  bool comparison = true;

  /// none, default, default-learned, ...: names the run in tables and files.
  std::string name() const { return run_name(rope.kind, model.rates); }
};

struct ValidationPoint {
  std::int64_t step = 0;
  double bits = 0;
};

/// The weights that a run begins with.
template <class S>
void set_start(Parameters<S>& weights, const RunConfig& config) {
  weights.initialise(config.seed);
  if (config.model.rates == Rates::fixed) return;
  const std::vector<double> rates =
      training_rope(config.rope, config.model.head_dim(), config.context).rates();
  for (std::size_t layer = 0; layer < weights.layout().layers.size(); ++layer)
    weights.set_rates(layer, rates);
}

struct RunState {
  explicit RunState(const RunConfig& config) : weights(config.model), moments(config.model) {
    set_start(weights, config);
  }

  Parameters<float> weights;
  AdamMoments<float> moments;
  /// Steps done.
  std::int64_t step = 0;
  /// Bits per character of each step's batch, before the step.
  std::vector<double> train_bits;
  std::vector<ValidationPoint> validation;
  /// The state was made with this many threads; 0 if it is new.
  int threads = 0;
};

}  // namespace train_lm
