// SPDX-License-Identifier: Apache-2.0
//
// Causal attention over a window whose keys and values come block by block, the block of one rank
// in each step of the ring (Liu, Zaharia and Abbeel 2023), forward and backward.
//
//   forward    m = max over the keys so far, l = sum exp((s - m) c), o = sum exp((s - m) c) v / l
//              with s = k' . q', c = 1 / sqrt(head dim)          (online softmax)
//   backward   p = exp((s - m) c) / l is computed again          (Dao et al. 2022)
//              dv += p do,  ds = p (v . do - o . do) c,  dq' += ds k',  dk' += ds q'
//
// A block of keys and values is sent on to the next rank while this one works on it. On the way
// back the gradients of the block follow it, each rank adding its part, until they are home. A
// window's scores are never held: memory is linear in the tokens of a rank. All of it runs on the
// calling thread; a ring of one rank is attention by blocks.
#pragma once

#include <cmath>
#include <vector>

#include "context_ring.hpp"
#include "profile.hpp"
#include "tensor.hpp"

namespace train_lm {

/// The softmax of each [query, head], as the backward pass needs it.
template <class S>
struct SoftmaxRows {
  Matrix<S> largest;  ///< m, of scores before their scale
  Matrix<S> sum;      ///< l
};

/// Holds what is needed for one layer at a time, so the layers share one.
template <class S>
class RingAttention {
 public:
  /// The ring must outlive this.
  void resize(Index heads, Index head_dim, ContextRing& ring);

  /// From rotated queries and keys, the queries first, and v to o.
  void forward(const Matrix<S>& qk, const Matrix<S>& v, SoftmaxRows<S>& softmax, Matrix<S>& o,
               Laps& laps);

  /// To the gradients of the rotated queries and keys and of v.
  void backward(const Matrix<S>& qk, const Matrix<S>& v, const SoftmaxRows<S>& softmax,
                const Matrix<S>& o, const Matrix<S>& d_o, Matrix<S>& dqk, Matrix<S>& dv,
                Laps& laps);

 private:
  /// Products of these sizes stay in the caches.
  static constexpr Index query_block = 32;
  static constexpr Index key_tile = 256;

  /// Queries [first, first + width) and the keys [0, keys) of the block at hand that the last of
  /// them sees.
  struct QueryBlock {
    Index first, width, keys;
  };

  S score_scale() const { return S(1) / std::sqrt(S(head_dim_)); }

  /// One head as a matrix [head dim, places].
  template <class M>
  auto head(M& x, Index h) const {
    return x.middleRows(h * head_dim_, head_dim_);
  }

  void take_own_block(const Matrix<S>& qk, const Matrix<S>& v);
  void send_block_on(Index step);
  void receive_block(Index step);

  /// Adds what the ranks before found of the gradients of the block at hand, and sends them on.
  void pass_gradients(Index step);

  /// How many keys of the block at hand each query sees.
  void count_seen(Index step);

  /// Calls work(head, block of queries) for all that see a key of the block at hand.
  template <class Work>
  void for_each_query_block(Index step, const Work& work);

  /// Of the `size` keys from `tile` on, those that a query sees.
  Index seen_of_tile(Index query, Index tile, Index size) const;

  void attend(Index step, const Matrix<S>& qk, SoftmaxRows<S>& softmax, Matrix<S>& o, Laps& laps);

  /// Sets d_here_ to this rank's part of the gradients of the block at hand, and adds to dqk.
  void attend_backward(Index step, const Matrix<S>& qk, const SoftmaxRows<S>& softmax,
                       const Matrix<S>& o, const Matrix<S>& d_o, Matrix<S>& dqk, Laps& laps);

  Index heads_ = 0;
  Index head_dim_ = 0;
  ContextRing* ring_ = nullptr;
  /// Keys over values, [2 dim, places]: the block at hand, and the one that arrives.
  Matrix<S> here_, next_;
  /// Their gradients: the block's at hand, those that are sent, those that arrive.
  Matrix<S> d_here_, d_sent_, d_next_;
  Matrix<S> scores_, d_scores_;
  std::vector<Index> seen_;
  Vector<S> mean_;
};

extern template class RingAttention<float>;
extern template class RingAttention<double>;

}  // namespace train_lm
