// SPDX-License-Identifier: Apache-2.0
//
// A small decoder-only transformer, forward and backward by hand.
//
//   x = embedding[tokens]
//                       x [dim, n], n = tokens * windows, tokens fastest
//   for each layer:  x += o^T attention(q^T y, k^T y, v^T y),   y = norm1(x)
//                    x += down^T relu(up^T y)^2,                y = norm2(x)
//   logits = head^T norm(x)                                     [vocabulary, n]
//
// The class holds the activations of one batch; the weights are the caller's (Parameters) and are
// only read. The scalar is float in training and double in the gradient check. Positions enter only
// through the rotation, so a window may be longer than those of the training. No dropout, no
// biases, no key-value cache.
#pragma once

#include <vector>

#include "attention.hpp"
#include "cross_entropy.hpp"
#include "norm.hpp"
#include "parameters.hpp"
#include "rotations.hpp"
#include "tensor.hpp"

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
  Transformer(const ModelConfig& config, Device& device) : config_(config), device_(&device) {
    layers_.resize(static_cast<std::size_t>(config.layers));
  }

  /// Sets logits(). `rotations` has none for a model without RoPE, otherwise tables of batch.tokens
  /// positions.
  void forward(const Parameters<S>& weights, const Batch& batch, const Rotations<S>& rotations) {
    resize(batch.tokens, batch.windows);
    embed(weights, batch);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Layer& layer = layers_[i];
      const LayerSlots& slot = weights.layout().layers[i];
      layer.norm1.forward(*device_, x_, weights.data(slot.norm1));
      project(*device_, weights.matrix(slot.q), layer.norm1.output(), layer.q);
      project(*device_, weights.matrix(slot.k), layer.norm1.output(), layer.k);
      project(*device_, weights.matrix(slot.v), layer.norm1.output(), layer.v);
      layer.attention.forward(*device_, heads(layer.q), heads(layer.k), heads(layer.v),
                              rotations.of(i), heads(layer.o));
      project(*device_, weights.matrix(slot.o), layer.o, dx_);
      x_.device(*device_) += dx_;

      layer.norm2.forward(*device_, x_, weights.data(slot.norm2));
      project(*device_, weights.matrix(slot.up), layer.norm2.output(), layer.up);
      layer.up.device(*device_) = layer.up.cwiseMax(S(0));
      layer.hidden.device(*device_) = layer.up.square();
      project(*device_, weights.matrix(slot.down), layer.hidden, dx_);
      x_.device(*device_) += dx_;
    }
    norm_.forward(*device_, x_, weights.data(weights.layout().norm));
    project(*device_, weights.matrix(weights.layout().head), norm_.output(), logits_);
  }

  /// [vocabulary, n] after forward().
  const Matrix<S>& logits() const { return logits_; }

  /// The loss of every character after forward(), in nats. The logits become probabilities.
  std::vector<double> losses(const Batch& batch) {
    return softmax_losses(*device_, logits_, batch.targets);
  }

  /// After forward() and losses() with the same arguments: sets every element of `gradient` to that
  /// of the mean loss. Where rates are learned, the tables must be those of the rates in `weights`.
  void backward(const Parameters<S>& weights, const Batch& batch, const Rotations<S>& rotations,
                Parameters<S>& gradient) {
    softmax_gradient(*device_, logits_, batch.targets);
    weight_gradient(*device_, norm_.output(), logits_, gradient.matrix(weights.layout().head));
    project_back(*device_, weights.matrix(weights.layout().head), logits_, dy_);
    dx_.setZero();
    norm_.backward(*device_, dy_, weights.data(weights.layout().norm),
                   gradient.vector(weights.layout().norm), dx_);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      mlp_backward(weights, weights.layout().layers[i], layers_[i], gradient);
      attention_backward(weights, i, rotations, gradient);
    }
    MatrixMap<S> d_embedding = gradient.matrix(weights.layout().embedding);
    d_embedding.setZero();
    for (std::size_t n = 0; n < batch.inputs.size(); ++n) {
      VectorMap<S>(&d_embedding(0, batch.inputs[n]), config_.dim) +=
          VectorMap<S>(&dx_(0, static_cast<Index>(n)), config_.dim);
    }
  }

 private:
  /// What one layer keeps for the backward pass. q and k are the rotated ones; up is relu(up^T y).
  struct Layer {
    RmsNorm<S> norm1, norm2;
    Attention<S> attention;
    Matrix<S> q, k, v, o, up, hidden;
  };

  void resize(Index tokens, Index windows) {
    if (tokens == tokens_ && windows == windows_) return;
    tokens_ = tokens;
    windows_ = windows;
    const Index n = tokens * windows;
    for (Layer& layer : layers_) {
      layer.norm1.resize(config_.dim, n);
      layer.norm2.resize(config_.dim, n);
      layer.attention.resize(config_.heads, tokens, windows);
      for (Matrix<S>* matrix : {&layer.q, &layer.k, &layer.v, &layer.o})
        matrix->resize(config_.dim, n);
      layer.up.resize(config_.hidden(), n);
      layer.hidden.resize(config_.hidden(), n);
    }
    norm_.resize(config_.dim, n);
    for (Matrix<S>* matrix : {&x_, &dx_, &dy_, &dq_, &dk_, &dv_}) matrix->resize(config_.dim, n);
    logits_.resize(config_.vocabulary, n);
    dup_.resize(config_.hidden(), n);
  }

  HeadsMap<S> heads(Matrix<S>& x) {
    return {x.data(), config_.head_dim(), config_.heads, tokens_, windows_};
  }

  void embed(const Parameters<S>& weights, const Batch& batch) {
    const MatrixMap<const S> table = weights.matrix(weights.layout().embedding);
    for (std::size_t n = 0; n < batch.inputs.size(); ++n) {
      VectorMap<S>(&x_(0, static_cast<Index>(n)), config_.dim) =
          VectorMap<const S>(&table(0, batch.inputs[n]), config_.dim);
    }
  }

  /// dx_ becomes the gradient of the stream before the block, as in the next function.
  void mlp_backward(const Parameters<S>& weights, const LayerSlots& slot, Layer& layer,
                    Parameters<S>& gradient) {
    weight_gradient(*device_, layer.hidden, dx_, gradient.matrix(slot.down));
    project_back(*device_, weights.matrix(slot.down), dx_, dup_);
    dup_.device(*device_) = dup_ * layer.up * S(2);
    weight_gradient(*device_, layer.norm2.output(), dup_, gradient.matrix(slot.up));
    project_back(*device_, weights.matrix(slot.up), dup_, dy_);
    layer.norm2.backward(*device_, dy_, weights.data(slot.norm2), gradient.vector(slot.norm2), dx_);
  }

  void attention_backward(const Parameters<S>& weights, std::size_t i,
                          const Rotations<S>& rotations, Parameters<S>& gradient) {
    const LayerSlots& slot = weights.layout().layers[i];
    Layer& layer = layers_[i];
    weight_gradient(*device_, layer.o, dx_, gradient.matrix(slot.o));
    project_back(*device_, weights.matrix(slot.o), dx_, dy_);
    if (weights.layout().log_rates.empty()) {
      layer.attention.backward(*device_, heads(layer.q), heads(layer.k), heads(layer.v), heads(dy_),
                               rotations.of(i), heads(dq_), heads(dk_), heads(dv_));
    } else {
      const std::vector<double> d_rates = layer.attention.backward_with_rates(
          *device_, heads(layer.q), heads(layer.k), heads(layer.v), heads(dy_), *rotations.of(i),
          rotations.positions(), heads(dq_), heads(dk_), heads(dv_));
      const std::vector<double> rates = weights.rates(i);
      S* d_log_rates = gradient.data(weights.layout().log_rates[i]);
      for (std::size_t k = 0; k < rates.size(); ++k)
        d_log_rates[k] = static_cast<S>(rates[k] * d_rates[k]);
    }
    const Matrix<S>& y = layer.norm1.output();
    weight_gradient(*device_, y, dq_, gradient.matrix(slot.q));
    weight_gradient(*device_, y, dk_, gradient.matrix(slot.k));
    weight_gradient(*device_, y, dv_, gradient.matrix(slot.v));
    project_back(*device_, weights.matrix(slot.q), dq_, dy_);
    add_project_back(*device_, weights.matrix(slot.k), dk_, dy_);
    add_project_back(*device_, weights.matrix(slot.v), dv_, dy_);
    layer.norm1.backward(*device_, dy_, weights.data(slot.norm1), gradient.vector(slot.norm1), dx_);
  }

  ModelConfig config_;
  Device* device_;
  Index tokens_ = 0;
  Index windows_ = 0;
  std::vector<Layer> layers_;
  RmsNorm<S> norm_;
  /// The residual stream, and on the way back its gradient; dx_ also takes what a block adds to the
  /// stream.
  Matrix<S> x_, dx_;
  Matrix<S> dy_, dq_, dk_, dv_, dup_;
  Matrix<S> logits_;
};

extern template class Transformer<float>;
extern template class Transformer<double>;

}  // namespace train_lm
