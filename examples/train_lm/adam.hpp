// SPDX-License-Identifier: Apache-2.0
//
// AdamW (Loshchilov and Hutter 2017) with warm-up, cosine decay and clipping of the gradient's
// norm.
//
//   g *= min(1, clip / |g|)
//   m = b1 m + (1 - b1) g         v = b2 v + (1 - b2) g^2
//   w -= rate(step) (m' / (sqrt(v') + eps) + decay w)       m' = m / (1 - b1^t), v' = v / (1 -
//                                                           b2^t), t = step + 1
//
// Gains of the norms and log rates are not decayed; log rates have a rate of their own. The state
// is m, v and the step: nothing is accumulated elsewhere, so these three resume exactly.
#pragma once

#include <algorithm>
#include <cmath>

#include "parameters.hpp"
#include "profile.hpp"
#include "threads.hpp"

namespace train_lm {

struct AdamConfig {
  double peak_rate = 3e-3;
  double final_rate_ratio = 0.05;
  double warmup = 0.05;  ///< share of the steps
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-8;
  double decay = 0.1;
  double clip = 1.0;
  double rates_factor = 5.0;  ///< log rates move at this times the learning rate, or they would
                              ///< hardly leave their start
};

/// The learning rate of a step, 0 <= step < steps.
inline double learning_rate(const AdamConfig& config, std::int64_t step, std::int64_t steps) {
  constexpr double pi = 3.141592653589793;
  const double warm = std::max(1.0, config.warmup * static_cast<double>(steps));
  const auto now = static_cast<double>(step);
  if (now + 1 < warm) return config.peak_rate * (now + 1) / warm;
  const double progress = (now + 1 - warm) / std::max(1.0, static_cast<double>(steps) - warm);
  return config.peak_rate * (config.final_rate_ratio +
                             (1 - config.final_rate_ratio) * 0.5 * (1 + std::cos(pi * progress)));
}

template <class S>
struct AdamMoments {
  explicit AdamMoments(const ModelConfig& config) : m(config), v(config) {}
  Parameters<S> m, v;
};

/// Moves the weights by one step. The norm of the gradient is taken by the calling thread, the rest
/// is shared among the device's; the bits do not depend on how many there are.
template <class S>
void adam_step(const Device& device, const AdamConfig& config, std::int64_t step,
               std::int64_t steps, const Parameters<S>& gradient, AdamMoments<S>& moments,
               Parameters<S>& weights, Profile& profile) {
  const auto norm = static_cast<double>(gradient.flat().norm());
  const S shrink = static_cast<S>(norm > config.clip ? config.clip / norm : 1.0);
  const auto t = static_cast<double>(step + 1);
  const S m_scale = static_cast<S>(1 / (1 - std::pow(config.beta1, t)));
  const S v_scale = static_cast<S>(1 / (1 - std::pow(config.beta2, t)));
  const S rate = static_cast<S>(learning_rate(config, step, steps));
  const S b1 = static_cast<S>(config.beta1);
  const S b2 = static_cast<S>(config.beta2);
  const S epsilon = static_cast<S>(config.epsilon);
  profile.laps(0).lap(Part::adam);

  // So many that gradient, moments and weights stay in the first cache between the statements.
  constexpr Index block = 1024;
  const int threads = device.numThreads();
  on_threads(device, threads, [&](int thread) {
    Laps& laps = profile.laps(thread);
    laps.start();
    for (std::size_t i = 0; i < weights.layout().slots.size(); ++i) {
      const Slot& slot = weights.slot(i);
      const S decay = slot.kind == SlotKind::matrix ? static_cast<S>(config.decay) : S(0);
      const S slot_rate =
          slot.kind == SlotKind::log_rates ? rate * static_cast<S>(config.rates_factor) : rate;
      const Range part = share_of(slot.size(), thread, threads);
      for (Index first = part.begin; first < part.end; first += block) {
        const Index size = std::min(block, part.end - first);
        const auto g = gradient.vector(i).segment(first, size).array();
        auto m = moments.m.vector(i).segment(first, size).array();
        auto v = moments.v.vector(i).segment(first, size).array();
        auto w = weights.vector(i).segment(first, size).array();
        m = m * b1 + (g * shrink) * (S(1) - b1);
        v = v * b2 + (g * shrink).square() * (S(1) - b2);
        w -= (m * m_scale / ((v * v_scale).sqrt() + epsilon) + w * decay) * slot_rate;
      }
    }
    laps.lap(Part::adam);
  });
}

}  // namespace train_lm
