// SPDX-License-Identifier: Apache-2.0
//
// The model on one window of text, forward and backward by hand, on the calling thread.
//
//   x = embedding[tokens]                                       x [dim, tokens]
//   for each layer:  x += o^T attention(q^T y, k^T y, v^T y),   y = norm1(x)
//                    x += down^T relu(up^T y)^2,                y = norm2(x)
//   logits = head^T norm(x)                                     [vocabulary, tokens]
//
// The object holds the activations of one window, about 3 MiB at the demo's sizes, which the next
// window overwrites: they stay in the processor's caches, where those of a whole batch would not.
// The weights are the caller's (Parameters) and are only read. Positions enter only through the
// rotation, so a window may be longer than those of the training. Where ranks share a window, the
// tokens are those of this rank's shard, and attention alone sees the others'. No dropout, no
// biases, no key-value cache.
#pragma once

#include <optional>
#include <vector>

#include "attention.hpp"
#include "context_ring.hpp"
#include "gradient_sums.hpp"
#include "norm.hpp"
#include "parameters.hpp"
#include "profile.hpp"
#include "rotations.hpp"
#include "tensor.hpp"

namespace train_lm {

template <class S>
class WindowPass {
 public:
  /// `ring` outlives this; null where the rank has whole windows.
  void resize(const ModelConfig& config, Index tokens, ContextRing* ring = nullptr);

  /// Sets logits(). inputs has one character per token.
  void forward(const Parameters<S>& weights, const int* inputs, const Rotations<S>& rotations,
               Laps& laps);

  /// [vocabulary, tokens] after forward().
  const Matrix<S>& logits() const { return logits_; }

  /// After forward(): sets the loss of every character, in nats. The logits become probabilities.
  void losses(const int* targets, double* losses, Laps& laps);

  /// After forward() and losses() with the same arguments: adds to every element of `gradient` that
  /// of this window's losses over `count`. Where rates are learned, the tables must be those of the
  /// rates in `weights`. `sums` is told of each part of the gradient that is final; null for all
  /// windows but a rank's last.
  void backward(const Parameters<S>& weights, const int* inputs, const int* targets, Index count,
                const Rotations<S>& rotations, Parameters<S>& gradient, GradientSums<S>* sums,
                Laps& laps);

 private:
  /// What one layer keeps for the backward pass. qk is the rotated one; up is relu(up^T y).
  struct Layer {
    RmsNorm<S> norm1, norm2;
    Attention<S> attention;
    Matrix<S> qk, v, o, up, hidden;
  };

  /// Null where attention keeps its probabilities.
  RingAttention<S>* attention_by_blocks(const ModelConfig& config, Index tokens, ContextRing* ring);

  void embed(const Parameters<S>& weights, const int* inputs);

  /// dx_ becomes the gradient of the stream before the block, as in the next function.
  void mlp_backward(const Parameters<S>& weights, const LayerSlots& slot, Layer& layer,
                    Parameters<S>& gradient, Laps& laps);

  void attention_backward(const Parameters<S>& weights, std::size_t i,
                          const Rotations<S>& rotations, Parameters<S>& gradient, Laps& laps);

  std::vector<Layer> layers_;
  RmsNorm<S> norm_;
  RingAttention<S> ring_attention_;
  /// For long windows of a rank that has them whole.
  Ranks alone_;
  std::optional<ContextRing> own_ring_;
  /// The residual stream, and on the way back its gradient.
  Matrix<S> x_, dx_;
  Matrix<S> dy_, dqk_, dv_, dup_;
  Matrix<S> logits_;
};

extern template class WindowPass<float>;
extern template class WindowPass<double>;

}  // namespace train_lm
