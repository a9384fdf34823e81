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
  /// The device and the profile, which has a watch for each of its threads, must outlive this.
  /// So must the ring; null where the windows are whole.
  Transformer(const ModelConfig& config, const Device& device, Profile& profile,
              ContextRing* ring = nullptr)
      : config_(config),
        device_(&device),
        profile_(&profile),
        ring_(ring),
        workers_(static_cast<std::size_t>(device.numThreads())) {}

  /// The loss of every character, in nats; valid until the next call. `rotations` has none for a
  /// model without RoPE, otherwise tables of batch.tokens positions.
  const std::vector<double>& losses(const Parameters<S>& weights, const Batch& batch,
                                    const Rotations<S>& rotations) {
    prepare(batch);
    on_threads(*device_, threads(batch), [&](int thread) {
      Laps& laps = profile_->laps(thread);
      laps.start();
      WindowPass<S>& pass = workers_[static_cast<std::size_t>(thread)].pass;
      const Range windows = share_of(batch.windows, thread, threads(batch));
      for (Index b = windows.begin; b < windows.end; ++b) {
        const Index first = b * batch.tokens;
        pass.forward(weights, &batch.inputs[static_cast<std::size_t>(first)], rotations, laps);
        pass.losses(&batch.targets[static_cast<std::size_t>(first)],
                    &losses_[static_cast<std::size_t>(first)], laps);
      }
    });
    return losses_;
  }

  /// The same, and sets every element of `gradient` to that of the mean loss. Where rates are
  /// learned, the tables must be those of the rates in `weights`.
  const std::vector<double>& losses_and_gradient(const Parameters<S>& weights, const Batch& batch,
                                                 const Rotations<S>& rotations,
                                                 Parameters<S>& gradient) {
    return losses_and_gradient(weights, batch, batch.windows * batch.tokens, rotations, gradient,
                               nullptr);
  }

  /// The same of the sum of the losses over `count`, and what `sums` is told is final is summed
  /// over the ranks from then on. With `sums` the device has one thread.
  const std::vector<double>& losses_and_gradient(const Parameters<S>& weights, const Batch& batch,
                                                 Index count, const Rotations<S>& rotations,
                                                 Parameters<S>& gradient, GradientSums<S>* sums) {
    prepare(batch);
    for (std::size_t i = 1; i < static_cast<std::size_t>(threads(batch)); ++i) {
      if (!workers_[i].gradient) workers_[i].gradient.emplace(config_);
    }
    on_threads(*device_, threads(batch), [&](int thread) {
      Laps& laps = profile_->laps(thread);
      laps.start();
      Worker& worker = workers_[static_cast<std::size_t>(thread)];
      Parameters<S>& sum = thread == 0 ? gradient : *worker.gradient;
      sum.flat().setZero();
      laps.lap(Part::summing);
      const Range windows = share_of(batch.windows, thread, threads(batch));
      for (Index b = windows.begin; b < windows.end; ++b) {
        const auto first = static_cast<std::size_t>(b * batch.tokens);
        worker.pass.forward(weights, &batch.inputs[first], rotations, laps);
        worker.pass.losses(&batch.targets[first], &losses_[first], laps);
        worker.pass.backward(weights, &batch.inputs[first], &batch.targets[first], count, rotations,
                             sum, b + 1 == windows.end ? sums : nullptr, laps);
      }
    });
    add_gradients(threads(batch), gradient);
    return losses_;
  }

  /// The logits that follow the last character of a batch of one window, [vocabulary]; valid until
  /// the next call.
  auto next_logits(const Parameters<S>& weights, const Batch& batch,
                   const Rotations<S>& rotations) {
    WindowPass<S>& pass = workers_.front().pass;
    pass.resize(config_, batch.tokens);
    pass.forward(weights, batch.inputs.data(), rotations, profile_->laps(0));
    return pass.logits().col(batch.tokens - 1);
  }

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
  void prepare(const Batch& batch) {
    for (int thread = 0; thread < threads(batch); ++thread)
      workers_[static_cast<std::size_t>(thread)].pass.resize(config_, batch.tokens, ring_);
    losses_.resize(static_cast<std::size_t>(batch.windows * batch.tokens));
  }

  void add_gradients(int gradients, Parameters<S>& sum) {
    const int threads = device_->numThreads();
    on_threads(*device_, threads, [&](int thread) {
      Laps& laps = profile_->laps(thread);
      laps.start();
      const Range part = share_of(sum.flat().size(), thread, threads);
      for (std::size_t i = 1; i < static_cast<std::size_t>(gradients); ++i) {
        sum.flat().segment(part.begin, part.size()) +=
            workers_[i].gradient->flat().segment(part.begin, part.size());
      }
      laps.lap(Part::summing);
    });
  }

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
