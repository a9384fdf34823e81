// SPDX-License-Identifier: Apache-2.0
//
// Causal self-attention of one window with rotated queries and keys, forward and backward. This is
// where the model meets eigen-rope:
//
//   q' = R q,  k' = R k                                eigen_rope::rotate, R_t turns the pairs of
//                                                      token t
//   p_ij = softmax_i(q'_j . k'_i / sqrt(d)),  i <= j   one matrix [key i, query j] per head
//   o_j  = sum_i p_ij v_i
//
//   dv_i  = sum_j p_ij do_j        ds_ij = p_ij (v_i . do_j - o_j . do_j) / sqrt(d)
//   dq'_j = sum_i ds_ij k'_i       dk'_i = sum_j ds_ij q'_j
//   dq = R^T dq',  dk = R^T dk'                            eigen_rope::rotate_backward, which is
//                                                          the inverse only where m = 1
//   d rate_k = sum_t t dL/d angle_tk                        eigen_rope::gradients and
//                                                           eigen_rope::rate_gradients, from q',
//                                                           k', dq', dk'
//
// Queries and keys are one matrix [2 dim, tokens], the queries first, and so one tensor [head dim,
// 2 heads, tokens], which is rotated in place by one statement. Without a table (null) R is the
// identity. Where a rank has whole windows of at most `most_stored` tokens, the probabilities are
// kept for the backward pass, and memory grows with tokens^2. Longer windows, and shards of
// windows, go by blocks (ring_attention.hpp), and memory grows with tokens. All of it runs on the
// calling thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "profile.hpp"
#include "ring_attention.hpp"
#include "tensor.hpp"

namespace train_lm {

template <class S>
class Attention {
 public:
  using Rotation = eigen_rope::Cache<S>;

  /// The longest window whose probabilities are kept: at the demo's sizes, 16 MiB a layer.
  static constexpr Index most_stored = 1024;

  /// `blocks` outlives this, and is null where probabilities are kept.
  void resize(Index heads, Index head_dim, Index tokens, RingAttention<S>* blocks) {
    heads_ = heads;
    head_dim_ = head_dim;
    blocks_ = blocks;
    if (blocks_ != nullptr) return;
    probabilities_.resize(tokens, tokens * heads);
    d_scores_.resize(tokens, std::min(query_block, tokens));
  }

  /// Rotates qk in place and sets o.
  void forward(Matrix<S>& qk, const Matrix<S>& v, const Rotation* rotation, Matrix<S>& o,
               Laps& laps) {
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

  /// From the rotated qk of the forward pass, o and d_o to the gradients of the unrotated queries
  /// and keys and of v.
  void backward(const Matrix<S>& qk, const Matrix<S>& v, const Matrix<S>& o, const Matrix<S>& d_o,
                const Rotation* rotation, Matrix<S>& dqk, Matrix<S>& dv, Laps& laps) {
    backward_of_rotated(qk, v, o, d_o, dqk, dv, laps);
    if (rotation == nullptr) return;
    HeadsMap<S> rows = heads_of(dqk);
    rows.device(here_) = eigen_rope::rotate_backward(rows, *rotation, eigen_rope::split_half);
    laps.lap(Part::rotation, Way::backward);
  }

  /// The same, and the gradient of the rates, one per pair. qk was rotated at these positions.
  std::vector<double> backward_with_rates(const Matrix<S>& qk, const Matrix<S>& v,
                                          const Matrix<S>& o, const Matrix<S>& d_o,
                                          const Rotation& rotation,
                                          const eigen_rope::Positions& positions, Matrix<S>& dqk,
                                          Matrix<S>& dv, Laps& laps) {
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

 private:
  /// To the gradients of the rotated queries and keys and of v.
  void backward_of_rotated(const Matrix<S>& qk, const Matrix<S>& v, const Matrix<S>& o,
                           const Matrix<S>& d_o, Matrix<S>& dqk, Matrix<S>& dv, Laps& laps) {
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

  /// Queries taken together: keys after the last of them are never looked at, which saves almost
  /// half of the square.
  static constexpr Index query_block = 32;

  HeadsMap<S> heads_of(Matrix<S>& qk) const {
    return {qk.data(), head_dim_, 2 * heads_, qk.cols()};
  }

  S score_scale() const { return S(1) / std::sqrt(S(head_dim_)); }

  /// One head as a matrix [head dim, tokens].
  template <class M>
  auto head(M& x, Index h) const {
    return x.middleRows(h * head_dim_, head_dim_);
  }

  Index heads_ = 0;
  Index head_dim_ = 0;
  Eigen::DefaultDevice here_;
  Matrix<S> probabilities_;
  Matrix<S> d_scores_;
  /// Where attention goes by blocks.
  RingAttention<S>* blocks_ = nullptr;
  SoftmaxRows<S> softmax_;
};

}  // namespace train_lm
