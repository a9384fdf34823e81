// SPDX-License-Identifier: Apache-2.0
//
// Causal self-attention with rotated queries and keys, forward and backward. This is where the
// model meets eigen-rope:
//
//   q' = R q,  k' = R k                                eigen_rope::rotate, R_t turns the pairs of
//                                                      token t
//   p_ij = softmax_i(q'_j . k'_i / sqrt(d)),  i <= j   one matrix [key i, query j] per head and
//                                                      window
//   o_j  = sum_i p_ij v_i
//
//   dv_i  = sum_j p_ij do_j        ds_ij = p_ij (v_i . do_j - sum_l p_lj (v_l . do_j)) / sqrt(d)
//   dq'_j = sum_i ds_ij k'_i       dk'_i = sum_j ds_ij q'_j
//   dq = R^T dq',  dk = R^T dk'                            eigen_rope::rotate_backward, which is
//                                                          the inverse only where m = 1
//   d rate_k = sum_t t dL/d angle_tk                        eigen_rope::gradients and
//                                                           eigen_rope::rate_gradients, from q',
//                                                           k', dq', dk'
//
// Tensors are [head dim, heads, tokens, windows]; q and k are rotated in place. Without a table
// (null) R is the identity. The probabilities are kept for the backward pass: memory grows with
// tokens^2, this is not flash attention.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "tensor.hpp"

namespace train_lm {

template <class S>
class Attention {
 public:
  using Rotation = eigen_rope::Cache<S>;

  void resize(Index heads, Index tokens, Index windows) {
    probabilities_.resize(tokens, tokens, heads, windows);
    scratch_.resize(tokens, tokens, heads, windows);
  }

  /// Rotates q and k in place and sets o.
  void forward(Device& device, HeadsMap<S> q, HeadsMap<S> k, HeadsMap<S> v,
               const Rotation* rotation, HeadsMap<S> o) {
    if (rotation != nullptr) {
      q.device(device) = eigen_rope::rotate(q, *rotation, eigen_rope::split_half);
      k.device(device) = eigen_rope::rotate(k, *rotation, eigen_rope::split_half);
    }
    const Index heads = q.dimension(1);
    const Index tokens = q.dimension(2);
    const S scale = S(1) / std::sqrt(S(q.dimension(0)));
    parallel_for(device, heads * q.dimension(3), head_cycles(q), [&](Index i) {
      const Index h = i % heads;
      const Index b = i / heads;
      Square p(&probabilities_(0, 0, h, b), tokens, tokens);
      for (Index first = 0; first < tokens; first += query_block) {
        const Index width = std::min(query_block, tokens - first);
        const Index keys = first + width;
        p.block(0, first, keys, width).noalias() =
            head(k, h, b).leftCols(keys).transpose() * head(q, h, b).middleCols(first, width);
        for (Index j = first; j < keys; ++j) {
          auto seen = p.col(j).head(j + 1).array();
          seen = ((seen - seen.maxCoeff()) * scale).exp();
          seen *= S(1) / seen.sum();
          p.col(j).segment(j + 1, keys - j - 1).setZero();
        }
        head(o, h, b).middleCols(first, width).noalias() =
            head(v, h, b).leftCols(keys) * p.block(0, first, keys, width);
      }
    });
  }

  /// From the rotated q, k of the forward pass and d_o to the gradients of the unrotated q, k and
  /// of v.
  void backward(Device& device, HeadsMap<S> q, HeadsMap<S> k, HeadsMap<S> v, HeadsMap<S> d_o,
                const Rotation* rotation, HeadsMap<S> dq, HeadsMap<S> dk, HeadsMap<S> dv) {
    backward_of_rotated(device, q, k, v, d_o, dq, dk, dv);
    if (rotation == nullptr) return;
    dq.device(device) = eigen_rope::rotate_backward(dq, *rotation, eigen_rope::split_half);
    dk.device(device) = eigen_rope::rotate_backward(dk, *rotation, eigen_rope::split_half);
  }

  /// The same, and the gradient of the rates, one per pair. q and k were rotated at these
  /// positions.
  std::vector<double> backward_with_rates(Device& device, HeadsMap<S> q, HeadsMap<S> k,
                                          HeadsMap<S> v, HeadsMap<S> d_o, const Rotation& rotation,
                                          const eigen_rope::Positions& positions, HeadsMap<S> dq,
                                          HeadsMap<S> dk, HeadsMap<S> dv) {
    backward_of_rotated(device, q, k, v, d_o, dq, dk, dv);
    eigen_rope::GradientOptions options;
    options.device = device;
    const auto rotate_back = [&](const HeadsMap<S>& y, const HeadsMap<S>& dy) {
      return eigen_rope::rate_gradients(
          eigen_rope::gradients_inplace(y, dy, rotation, eigen_rope::split_half, options),
          positions);
    };
    std::vector<double> rates = rotate_back(q, dq);
    const std::vector<double> from_keys = rotate_back(k, dk);
    for (std::size_t i = 0; i < rates.size(); ++i) rates[i] += from_keys[i];
    return rates;
  }

 private:
  using Square = Eigen::Map<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>;
  using Head =
      Eigen::Map<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;

  /// To the gradients of the rotated q, k and of v.
  void backward_of_rotated(Device& device, HeadsMap<S> q, HeadsMap<S> k, HeadsMap<S> v,
                           HeadsMap<S> d_o, HeadsMap<S> dq, HeadsMap<S> dk, HeadsMap<S> dv) {
    const Index heads = q.dimension(1);
    const Index tokens = q.dimension(2);
    const S scale = S(1) / std::sqrt(S(q.dimension(0)));
    parallel_for(device, heads * q.dimension(3), 2 * head_cycles(q), [&](Index i) {
      const Index h = i % heads;
      const Index b = i / heads;
      const Square p(&probabilities_(0, 0, h, b), tokens, tokens);
      Square ds(&scratch_(0, 0, h, b), tokens, tokens);
      head(dk, h, b).setZero();
      head(dv, h, b).setZero();
      for (Index first = 0; first < tokens; first += query_block) {
        const Index width = std::min(query_block, tokens - first);
        const Index keys = first + width;
        const auto d_out = head(d_o, h, b).middleCols(first, width);
        auto d = ds.block(0, first, keys, width);
        head(dv, h, b).leftCols(keys).noalias() +=
            d_out * p.block(0, first, keys, width).transpose();
        d.noalias() = head(v, h, b).leftCols(keys).transpose() * d_out;
        for (Index j = first; j < keys; ++j) {
          const auto seen = p.col(j).head(keys).array();
          auto d_scores = ds.col(j).head(keys).array();
          const S mean = (seen * d_scores).sum();
          d_scores = seen * (d_scores - mean) * scale;
        }
        head(dq, h, b).middleCols(first, width).noalias() = head(k, h, b).leftCols(keys) * d;
        head(dk, h, b).leftCols(keys).noalias() +=
            head(q, h, b).middleCols(first, width) * d.transpose();
      }
    });
  }

  /// Queries taken together: keys after the last of them are never looked at, which saves almost
  /// half of the square.
  static constexpr Index query_block = 32;

  /// One head of one window as a matrix [head dim, tokens].
  static Head head(HeadsMap<S>& x, Index h, Index b) {
    const Index stride = x.dimension(0) * x.dimension(1);
    return Head(&x(0, h, 0, b), x.dimension(0), x.dimension(2), Eigen::OuterStride<>(stride));
  }

  static double head_cycles(const HeadsMap<S>& x) {
    return static_cast<double>(x.dimension(2) * x.dimension(2)) *
           (4.0 + static_cast<double>(x.dimension(0)));
  }

  Eigen::Tensor<S, 4> probabilities_;
  Eigen::Tensor<S, 4> scratch_;
};

}  // namespace train_lm
