// SPDX-License-Identifier: Apache-2.0
//
// A small decoder-only transformer on batches of windows (window_pass.hpp has the model itself).
//
//   thread i of n:   forward, losses and backward of its share of the windows, one after the other,
//                    into a gradient of its own
//   gradient         the sum of the threads' gradients, in their order
//
// Threads meet once for a whole batch and not in every product, and a window's activations are
// still in the caches when the way back needs them. The shares are fixed, so the bits depend on the
// number of threads and on nothing else. The scalar is float in training and double in the gradient
// check.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "parameters.hpp"
#include "profile.hpp"
#include "rotations.hpp"
#include "threads.hpp"
#include "window_pass.hpp"

namespace train_lm {

/// Windows of text side by side: character t of window b is at [b * tokens + t].
struct Batch {
  Index tokens = 0;
  Index windows = 0;
  std::vector<int> inputs;
  /// The character after each input; empty if only logits are wanted.
  std::vector<int> targets;
};

template <class S>
class Transformer {
 public:
  /// Of one character, [vocabulary].
  using Logits = typename Matrix<S>::ConstColXpr;

  /// The device and the profile, which has a watch for each of its threads, must outlive this.
  /// So must the ring; null where the windows are whole.
  Transformer(const ModelConfig& config, const Device& device, Profile& profile,
              ContextRing* ring = nullptr);

  /// The loss of every character, in nats; valid until the next call. `rotations` has none for a
  /// model without RoPE, otherwise tables of batch.tokens positions.
  const std::vector<double>& losses(const Parameters<S>& weights, const Batch& batch,
                                    const Rotations<S>& rotations);

  /// The same, and sets every element of `gradient` to that of the mean loss. Where rates are
  /// learned, the tables must be those of the rates in `weights`.
  const std::vector<double>& losses_and_gradient(const Parameters<S>& weights, const Batch& batch,
                                                 const Rotations<S>& rotations,
                                                 Parameters<S>& gradient);

  /// The same of the sum of the losses over `count`, and what `sums` is told is final is summed
  /// over the ranks from then on. With `sums` the device has one thread.
  const std::vector<double>& losses_and_gradient(const Parameters<S>& weights, const Batch& batch,
                                                 Index count, const Rotations<S>& rotations,
                                                 Parameters<S>& gradient, GradientSums<S>* sums);

  /// The logits that follow the last character of a batch of one window, [vocabulary]; valid until
  /// the next call.
  Logits next_logits(const Parameters<S>& weights, const Batch& batch,
                     const Rotations<S>& rotations);

 private:
  struct Worker {
    WindowPass<S> pass;
    /// The first thread has the caller's.
    std::optional<Parameters<S>> gradient;
  };

  int threads(const Batch& batch) const {
    return static_cast<int>(std::min<Index>(static_cast<Index>(workers_.size()), batch.windows));
  }

  /// Reserves all memory, so that the threads need none.
  void prepare(const Batch& batch);

  void add_gradients(int gradients, Parameters<S>& sum);

  ModelConfig config_;
  const Device* device_;
  Profile* profile_;
  ContextRing* ring_;
  std::vector<Worker> workers_;
  std::vector<double> losses_;
};

extern template class Transformer<float>;
extern template class Transformer<double>;

}  // namespace train_lm
