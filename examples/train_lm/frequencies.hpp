// SPDX-License-Identifier: Apache-2.0
//
// The frequencies a run rotates with: those of its rope choice, or the rates its weights have
// learned.
//
// Learned rates are stretched to longer windows by the ratio a scaling gives each of the rates they
// started from: linear divides all of them, NTK and YaRN treat pair k as they would have before
// training.
#pragma once

#include <vector>

#include "rotations.hpp"
#include "run.hpp"

namespace train_lm {

/// As trained, or stretched to windows `length_factor` times the training context. Empty for a run
/// without RoPE. For weights of float and of double.
template <class S>
LayerFrequencies run_frequencies(const RunConfig& config, const Parameters<S>& weights,
                                 Scaling scaling = Scaling::none, double length_factor = 1.0);

extern template LayerFrequencies run_frequencies(const RunConfig&, const Parameters<float>&,
                                                 Scaling, double);
extern template LayerFrequencies run_frequencies(const RunConfig&, const Parameters<double>&,
                                                 Scaling, double);

/// The rates training starts from, radians per token. config.rope.rotates().
std::vector<double> first_rates(const RunConfig& config);

}  // namespace train_lm
