// SPDX-License-Identifier: Apache-2.0
#include "transformer.hpp"

#include <algorithm>

namespace train_lm {

template <class S>
Transformer<S>::Transformer(const ModelConfig& config, const Device& device, Profile& profile,
                            ContextRing* ring)
    : config_(config),
      device_(&device),
      profile_(&profile),
      ring_(ring),
      workers_(static_cast<std::size_t>(device.numThreads())) {}

template <class S>
const std::vector<double>& Transformer<S>::losses(const Parameters<S>& weights, const Batch& batch,
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

template <class S>
const std::vector<double>& Transformer<S>::losses_and_gradient(const Parameters<S>& weights,
                                                               const Batch& batch,
                                                               const Rotations<S>& rotations,
                                                               Parameters<S>& gradient) {
  return losses_and_gradient(weights, batch, batch.windows * batch.tokens, rotations, gradient,
                             nullptr);
}

template <class S>
const std::vector<double>& Transformer<S>::losses_and_gradient(const Parameters<S>& weights,
                                                               const Batch& batch, Index count,
                                                               const Rotations<S>& rotations,
                                                               Parameters<S>& gradient,
                                                               GradientSums<S>* sums) {
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

template <class S>
typename Transformer<S>::Logits Transformer<S>::next_logits(const Parameters<S>& weights,
                                                            const Batch& batch,
                                                            const Rotations<S>& rotations) {
  WindowPass<S>& pass = workers_.front().pass;
  pass.resize(config_, batch.tokens);
  pass.forward(weights, batch.inputs.data(), rotations, profile_->laps(0));
  return pass.logits().col(batch.tokens - 1);
}

template <class S>
void Transformer<S>::prepare(const Batch& batch) {
  for (int thread = 0; thread < threads(batch); ++thread)
    workers_[static_cast<std::size_t>(thread)].pass.resize(config_, batch.tokens, ring_);
  losses_.resize(static_cast<std::size_t>(batch.windows * batch.tokens));
}

template <class S>
void Transformer<S>::add_gradients(int gradients, Parameters<S>& sum) {
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

template class Transformer<float>;
template class Transformer<double>;

}  // namespace train_lm
