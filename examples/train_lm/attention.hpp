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

#include <cmath>
#include <vector>

#include "eigen_rope/choices/positions.hpp"
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
  void resize(Index heads, Index head_dim, Index tokens, RingAttention<S>* blocks);

  /// Rotates qk in place and sets o.
  void forward(Matrix<S>& qk, const Matrix<S>& v, const Rotation* rotation, Matrix<S>& o,
               Laps& laps);

  /// From the rotated qk of the forward pass, o and d_o to the gradients of the unrotated queries
  /// and keys and of v.
  void backward(const Matrix<S>& qk, const Matrix<S>& v, const Matrix<S>& o, const Matrix<S>& d_o,
                const Rotation* rotation, Matrix<S>& dqk, Matrix<S>& dv, Laps& laps);

  /// The same, and the gradient of the rates, one per pair. qk was rotated at these positions.
  std::vector<double> backward_with_rates(const Matrix<S>& qk, const Matrix<S>& v,
                                          const Matrix<S>& o, const Matrix<S>& d_o,
                                          const Rotation& rotation,
                                          const eigen_rope::Positions& positions, Matrix<S>& dqk,
                                          Matrix<S>& dv, Laps& laps);

 private:
  /// To the gradients of the rotated queries and keys and of v.
  void backward_of_rotated(const Matrix<S>& qk, const Matrix<S>& v, const Matrix<S>& o,
                           const Matrix<S>& d_o, Matrix<S>& dqk, Matrix<S>& dv, Laps& laps);

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

extern template class Attention<float>;
extern template class Attention<double>;

}  // namespace train_lm
