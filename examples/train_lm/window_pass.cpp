// SPDX-License-Identifier: Apache-2.0
#include "window_pass.hpp"

#include "cross_entropy.hpp"

namespace train_lm {

template <class S>
void WindowPass<S>::resize(const ModelConfig& config, Index tokens, ContextRing* ring) {
  if (tokens == x_.cols()) return;
  RingAttention<S>* const blocks = attention_by_blocks(config, tokens, ring);
  layers_.resize(static_cast<std::size_t>(config.layers));
  for (Layer& layer : layers_) {
    layer.norm1.resize(config.dim, tokens);
    layer.norm2.resize(config.dim, tokens);
    layer.attention.resize(config.heads, config.head_dim(), tokens, blocks);
    layer.qk.resize(2 * config.dim, tokens);
    layer.v.resize(config.dim, tokens);
    layer.o.resize(config.dim, tokens);
    layer.up.resize(config.hidden(), tokens);
    layer.hidden.resize(config.hidden(), tokens);
  }
  norm_.resize(config.dim, tokens);
  for (Matrix<S>* matrix : {&x_, &dx_, &dy_, &dv_}) matrix->resize(config.dim, tokens);
  dqk_.resize(2 * config.dim, tokens);
  dup_.resize(config.hidden(), tokens);
  logits_.resize(config.vocabulary, tokens);
}

template <class S>
void WindowPass<S>::forward(const Parameters<S>& weights, const int* inputs,
                            const Rotations<S>& rotations, Laps& laps) {
  embed(weights, inputs);
  laps.lap(Part::embedding);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const LayerSlots& slot = weights.layout().layers[i];
    layer.norm1.forward(x_, weights.vector(slot.norm1));
    laps.lap(Part::norms);
    layer.qk.noalias() = weights.query_key(slot).transpose() * layer.norm1.output();
    layer.v.noalias() = weights.matrix(slot.v).transpose() * layer.norm1.output();
    laps.lap(Part::projections);
    layer.attention.forward(layer.qk, layer.v, rotations.of(i), layer.o, laps);
    x_.noalias() += weights.matrix(slot.o).transpose() * layer.o;
    laps.lap(Part::projections);

    layer.norm2.forward(x_, weights.vector(slot.norm2));
    laps.lap(Part::norms);
    layer.up.noalias() = weights.matrix(slot.up).transpose() * layer.norm2.output();
    laps.lap(Part::mlp);
    layer.up = layer.up.cwiseMax(S(0));
    layer.hidden = layer.up.cwiseAbs2();
    laps.lap(Part::activation);
    x_.noalias() += weights.matrix(slot.down).transpose() * layer.hidden;
    laps.lap(Part::mlp);
  }
  norm_.forward(x_, weights.vector(weights.layout().norm));
  laps.lap(Part::norms);
  logits_.noalias() = weights.matrix(weights.layout().head).transpose() * norm_.output();
  laps.lap(Part::logits);
}

template <class S>
void WindowPass<S>::losses(const int* targets, double* losses, Laps& laps) {
  softmax_losses(logits_, targets, losses);
  laps.lap(Part::cross_entropy);
}

template <class S>
void WindowPass<S>::backward(const Parameters<S>& weights, const int* inputs, const int* targets,
                             Index count, const Rotations<S>& rotations, Parameters<S>& gradient,
                             GradientSums<S>* sums, Laps& laps) {
  softmax_gradient(logits_, targets, count);
  laps.lap(Part::cross_entropy, Way::backward);
  const ParameterLayout& layout = weights.layout();
  gradient.matrix(layout.head).noalias() += norm_.output() * logits_.transpose();
  dy_.noalias() = weights.matrix(layout.head) * logits_;
  laps.lap(Part::logits, Way::backward);
  dx_.setZero();
  norm_.backward(dy_, weights.vector(layout.norm), gradient.vector(layout.norm), dx_);
  laps.lap(Part::norms, Way::backward);
  if (sums != nullptr) sums->start(gradient, layout.norm, layout.head);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    mlp_backward(weights, layout.layers[i], layers_[i], gradient, laps);
    attention_backward(weights, i, rotations, gradient, laps);
    if (sums != nullptr) sums->start(gradient, layout.layers[i].norm1, layout.layers[i].down);
  }
  MatrixMap<S> d_embedding = gradient.matrix(layout.embedding);
  for (Index t = 0; t < dx_.cols(); ++t) d_embedding.col(inputs[t]) += dx_.col(t);
  laps.lap(Part::embedding, Way::backward);
  if (sums == nullptr) return;
  sums->start(gradient, layout.embedding, layout.embedding);
  if (!layout.log_rates.empty())
    sums->start(gradient, layout.log_rates.front(), layout.log_rates.back());
}

template <class S>
RingAttention<S>* WindowPass<S>::attention_by_blocks(const ModelConfig& config, Index tokens,
                                                     ContextRing* ring) {
  own_ring_.reset();
  if (ring == nullptr && tokens <= Attention<S>::most_stored) return nullptr;
  if (ring == nullptr) ring = &own_ring_.emplace(alone_, tokens);
  ring_attention_.resize(config.heads, config.head_dim(), *ring);
  return &ring_attention_;
}

template <class S>
void WindowPass<S>::embed(const Parameters<S>& weights, const int* inputs) {
  const MatrixMap<const S> table = weights.matrix(weights.layout().embedding);
  for (Index t = 0; t < x_.cols(); ++t) x_.col(t) = table.col(inputs[t]);
}

template <class S>
void WindowPass<S>::mlp_backward(const Parameters<S>& weights, const LayerSlots& slot, Layer& layer,
                                 Parameters<S>& gradient, Laps& laps) {
  gradient.matrix(slot.down).noalias() += layer.hidden * dx_.transpose();
  dup_.noalias() = weights.matrix(slot.down) * dx_;
  laps.lap(Part::mlp, Way::backward);
  dup_.array() *= layer.up.array() * S(2);
  laps.lap(Part::activation, Way::backward);
  gradient.matrix(slot.up).noalias() += layer.norm2.output() * dup_.transpose();
  dy_.noalias() = weights.matrix(slot.up) * dup_;
  laps.lap(Part::mlp, Way::backward);
  layer.norm2.backward(dy_, weights.vector(slot.norm2), gradient.vector(slot.norm2), dx_);
  laps.lap(Part::norms, Way::backward);
}

template <class S>
void WindowPass<S>::attention_backward(const Parameters<S>& weights, std::size_t i,
                                       const Rotations<S>& rotations, Parameters<S>& gradient,
                                       Laps& laps) {
  const LayerSlots& slot = weights.layout().layers[i];
  Layer& layer = layers_[i];
  gradient.matrix(slot.o).noalias() += layer.o * dx_.transpose();
  dy_.noalias() = weights.matrix(slot.o) * dx_;
  laps.lap(Part::projections, Way::backward);
  if (weights.layout().log_rates.empty()) {
    layer.attention.backward(layer.qk, layer.v, layer.o, dy_, rotations.of(i), dqk_, dv_, laps);
  } else {
    const std::vector<double> d_rates = layer.attention.backward_with_rates(
        layer.qk, layer.v, layer.o, dy_, *rotations.of(i), rotations.positions(), dqk_, dv_, laps);
    const std::vector<double> rates = weights.rates(i);
    VectorMap<S> d_log_rates = gradient.vector(weights.layout().log_rates[i]);
    for (std::size_t k = 0; k < rates.size(); ++k)
      d_log_rates(static_cast<Index>(k)) += static_cast<S>(rates[k] * d_rates[k]);
  }
  const Matrix<S>& y = layer.norm1.output();
  gradient.query_key(slot).noalias() += y * dqk_.transpose();
  gradient.matrix(slot.v).noalias() += y * dv_.transpose();
  dy_.noalias() = weights.query_key(slot) * dqk_;
  dy_.noalias() += weights.matrix(slot.v) * dv_;
  laps.lap(Part::projections, Way::backward);
  layer.norm1.backward(dy_, weights.vector(slot.norm1), gradient.vector(slot.norm1), dx_);
  laps.lap(Part::norms, Way::backward);
}

template class WindowPass<float>;
template class WindowPass<double>;

}  // namespace train_lm
