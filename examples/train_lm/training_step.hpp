// SPDX-License-Identifier: Apache-2.0
//
// One step of the training on one rank: its part of the batch, forward and backward, sums over the
// ranks, AdamW.
//
//   loss      = sum over the ranks of their characters' losses / (batch * context)
//   gradient  = sum over the ranks of their characters' gradients, each over batch * context
//
// Every rank then moves the same weights by the same gradient, so weights and moments are equal on
// all of them, and none is sent. How many ranks there are changes the order of these sums and
// nothing else. The scalar is float in training and double where the ranks are tested.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "adam.hpp"
#include "context_ring.hpp"
#include "cross_entropy.hpp"
#include "frequencies.hpp"
#include "gradient_sums.hpp"
#include "run.hpp"
#include "transformer.hpp"
#include "windows.hpp"

namespace train_lm {

template <class S>
class TrainingStep {
 public:
  /// All of them must outlive this. With several ranks the device has one thread.
  TrainingStep(const RunConfig& config, const std::vector<int>& text, const Device& device,
               Profile& profile, Ranks& ranks)
      : config_(config),
        text_(text),
        device_(device),
        profile_(profile),
        ranks_(ranks),
        part_{share_of(config.batch, ranks.data_rank(), ranks.grid().data), {}},
        sums_(ranks),
        gradient_(config.model) {
    if (ranks.grid().context > 1) {
      ring_.emplace(ranks, config.context);
      part_.places = ring_->tokens();
    }
    model_.emplace(config.model, device, profile, ring_ ? &*ring_ : nullptr);
  }

  /// Moves weights and moments by the step, unless the loss is not finite. Returns the loss before,
  /// in bits per character.
  double take(std::int64_t step, Parameters<S>& weights, AdamMoments<S>& moments) {
    Laps& laps = profile_.laps(0);
    draw_batch(text_, config_.context, part_, config_.seed, step, batch_);
    laps.lap(Part::batch);
    const Rotations<S>& rotations = rotations_of(weights);
    laps.lap(Part::tables);
    const Index count = config_.batch * config_.context;
    const std::vector<double>& losses = model_->losses_and_gradient(
        weights, batch_, count, rotations, gradient_, ranks_.count() > 1 ? &sums_ : nullptr);
    double loss = total(losses);
    if (ranks_.count() > 1) {
      laps.start();
      ranks_.start_sum(&loss, 1);
      sums_.finish();
      laps.lap(Part::ranks, Way::backward);
    }
    const double bits = loss / static_cast<double>(count) / nats_per_bit;
    if (!std::isfinite(bits)) return bits;
    adam_step(device_, config_.adam, step, config_.steps, gradient_, moments, weights, profile_);
    return bits;
  }

  /// Null where the windows are whole.
  ContextRing* ring() { return ring_ ? &*ring_ : nullptr; }

 private:
  /// The tables of a step, at the positions of this rank's tokens. Fixed rates have the same in
  /// every step.
  const Rotations<S>& rotations_of(const Parameters<S>& weights) {
    if (!rotations_ || config_.model.rates == Rates::learned) {
      rotations_.emplace(
          run_frequencies(config_, weights),
          ring_ ? ring_->positions() : eigen_rope::Positions::range(0, config_.context));
    }
    return *rotations_;
  }

  const RunConfig& config_;
  const std::vector<int>& text_;
  const Device& device_;
  Profile& profile_;
  Ranks& ranks_;
  std::optional<ContextRing> ring_;
  BatchPart part_;
  Batch batch_;
  std::optional<Rotations<S>> rotations_;
  std::optional<Transformer<S>> model_;
  GradientSums<S> sums_;
  Parameters<S> gradient_;
};

}  // namespace train_lm
