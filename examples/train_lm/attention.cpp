// SPDX-License-Identifier: Apache-2.0
#include "attention.hpp"

#include <algorithm>
#include <cmath>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"

namespace train_lm {

template <class S>
void Attention<S>::resize(Index heads, Index head_dim, Index tokens, RingAttention<S>* blocks) {
  heads_ = heads;
  head_dim_ = head_dim;
  blocks_ = blocks;
  if (blocks_ != nullptr) return;
  probabilities_.resize(tokens, tokens * heads);
  d_scores_.resize(tokens, std::min(query_block, tokens));
}

template <class S>
void Attention<S>::forward(Matrix<S>& qk, const Matrix<S>& v, const Rotation* rotation,
                           Matrix<S>& o, Laps& laps) {
  if (rotation != nullptr) {
    HeadsMap<S> rows = heads_of(qk);
    rows.device(here_) = eigen_rope::rotate(rows, *rotation, eigen_rope::split_half);
    laps.lap(Part::rotation);
  }
  if (blocks_ != nullptr) return blocks_->forward(qk, v, softmax_, o, laps);
  const Index tokens = qk.cols();
  const S scale = score_scale();
  for (Index h = 0; h < heads_; ++h) {
    const auto q = head(qk, h);
    const auto k = head(qk, heads_ + h);
    for (Index first = 0; first < tokens; first += query_block) {
      const Index width = std::min(query_block, tokens - first);
      const Index keys = first + width;
      auto p = probabilities_.block(0, h * tokens + first, keys, width);
      p.noalias() = k.leftCols(keys).transpose() * q.middleCols(first, width);
      laps.lap(Part::scores);
      for (Index j = 0; j < width; ++j) {
        const Index seen = first + j + 1;
        auto of_query = p.col(j).array();
        // Over whole columns, unseen keys included, so that no part of a packet is left over.
        of_query = ((of_query - of_query.head(seen).maxCoeff()) * scale).exp();
        of_query.tail(keys - seen).setZero();
        of_query *= S(1) / of_query.sum();
      }
      laps.lap(Part::softmax);
      head(o, h).middleCols(first, width).noalias() = head(v, h).leftCols(keys) * p;
      laps.lap(Part::values);
    }
  }
}

template <class S>
void Attention<S>::backward(const Matrix<S>& qk, const Matrix<S>& v, const Matrix<S>& o,
                            const Matrix<S>& d_o, const Rotation* rotation, Matrix<S>& dqk,
                            Matrix<S>& dv, Laps& laps) {
  backward_of_rotated(qk, v, o, d_o, dqk, dv, laps);
  if (rotation == nullptr) return;
  HeadsMap<S> rows = heads_of(dqk);
  rows.device(here_) = eigen_rope::rotate_backward(rows, *rotation, eigen_rope::split_half);
  laps.lap(Part::rotation, Way::backward);
}

template <class S>
std::vector<double> Attention<S>::backward_with_rates(const Matrix<S>& qk, const Matrix<S>& v,
                                                      const Matrix<S>& o, const Matrix<S>& d_o,
                                                      const Rotation& rotation,
                                                      const eigen_rope::Positions& positions,
                                                      Matrix<S>& dqk, Matrix<S>& dv, Laps& laps) {
  backward_of_rotated(qk, v, o, d_o, dqk, dv, laps);
  const Eigen::TensorMap<const Eigen::Tensor<S, 3>> rotated(qk.data(), head_dim_, 2 * heads_,
                                                            qk.cols());
  HeadsMap<S> d_rotated = heads_of(dqk);
  std::vector<double> rates = eigen_rope::rate_gradients(
      eigen_rope::gradients_inplace(rotated, d_rotated, rotation, eigen_rope::split_half),
      positions);
  laps.lap(Part::rotation, Way::backward);
  return rates;
}

template <class S>
void Attention<S>::backward_of_rotated(const Matrix<S>& qk, const Matrix<S>& v, const Matrix<S>& o,
                                       const Matrix<S>& d_o, Matrix<S>& dqk, Matrix<S>& dv,
                                       Laps& laps) {
  if (blocks_ != nullptr) return blocks_->backward(qk, v, softmax_, o, d_o, dqk, dv, laps);
  const Index tokens = qk.cols();
  const S scale = score_scale();
  dqk.setZero();
  dv.setZero();
  for (Index h = 0; h < heads_; ++h) {
    const auto q = head(qk, h);
    const auto k = head(qk, heads_ + h);
    auto dq = head(dqk, h);
    auto dk = head(dqk, heads_ + h);
    for (Index first = 0; first < tokens; first += query_block) {
      const Index width = std::min(query_block, tokens - first);
      const Index keys = first + width;
      const auto p = probabilities_.block(0, h * tokens + first, keys, width);
      const auto of_queries = head(o, h).middleCols(first, width);
      const auto d_of_queries = head(d_o, h).middleCols(first, width);
      auto ds = d_scores_.topLeftCorner(keys, width);
      head(dv, h).leftCols(keys).noalias() += d_of_queries * p.transpose();
      ds.noalias() = head(v, h).leftCols(keys).transpose() * d_of_queries;
      laps.lap(Part::values, Way::backward);
      for (Index j = 0; j < width; ++j) {
        const S mean = of_queries.col(j).dot(d_of_queries.col(j));
        ds.col(j).array() = p.col(j).array() * (ds.col(j).array() - mean) * scale;
      }
      laps.lap(Part::softmax, Way::backward);
      dq.middleCols(first, width).noalias() = k.leftCols(keys) * ds;
      dk.leftCols(keys).noalias() += q.middleCols(first, width) * ds.transpose();
      laps.lap(Part::scores, Way::backward);
    }
  }
}

template class Attention<float>;
template class Attention<double>;

}  // namespace train_lm
