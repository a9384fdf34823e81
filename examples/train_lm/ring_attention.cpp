// SPDX-License-Identifier: Apache-2.0
#include "ring_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace train_lm {

template <class S>
void RingAttention<S>::resize(Index heads, Index head_dim, ContextRing& ring) {
  heads_ = heads;
  head_dim_ = head_dim;
  ring_ = &ring;
  const Index dim = heads * head_dim;
  const Index places = ring.places();
  for (Matrix<S>* block : {&here_, &d_here_}) block->resize(2 * dim, places);
  if (ring.steps() > 1) {
    for (Matrix<S>* block : {&next_, &d_sent_, &d_next_}) block->resize(2 * dim, places);
  }
  scores_.resize(std::min(key_tile, places), std::min(query_block, places));
  d_scores_.resize(scores_.rows(), scores_.cols());
  seen_.resize(static_cast<std::size_t>(places));
  mean_.resize(places);
}

template <class S>
void RingAttention<S>::forward(const Matrix<S>& qk, const Matrix<S>& v, SoftmaxRows<S>& softmax,
                               Matrix<S>& o, Laps& laps) {
  softmax.largest.resize(qk.cols(), heads_);
  softmax.sum.resize(qk.cols(), heads_);
  softmax.largest.setConstant(-std::numeric_limits<S>::infinity());
  softmax.sum.setZero();
  o.setZero();
  take_own_block(qk, v);
  for (Index step = 0; step < ring_->steps(); ++step) {
    send_block_on(step);
    attend(step, qk, softmax, o, laps);
    receive_block(step);
    laps.lap(Part::ranks);
  }
  for (Index h = 0; h < heads_; ++h) {
    for (Index j = 0; j < o.cols(); ++j) head(o, h).col(j) *= S(1) / softmax.sum(j, h);
  }
  laps.lap(Part::softmax);
}

template <class S>
void RingAttention<S>::backward(const Matrix<S>& qk, const Matrix<S>& v,
                                const SoftmaxRows<S>& softmax, const Matrix<S>& o,
                                const Matrix<S>& d_o, Matrix<S>& dqk, Matrix<S>& dv, Laps& laps) {
  dqk.setZero();
  take_own_block(qk, v);
  for (Index step = 0; step < ring_->steps(); ++step) {
    send_block_on(step);
    attend_backward(step, qk, softmax, o, d_o, dqk, laps);
    pass_gradients(step);
    receive_block(step);
    laps.lap(Part::ranks, Way::backward);
  }
  // The gradients that arrive last are those of this rank's own keys and values.
  if (ring_->steps() > 1) {
    ring_->ranks().finish_pass(Lane::gradients);
    d_here_.swap(d_next_);
  }
  const Index dim = v.rows();
  dqk.bottomRows(dim) = d_here_.topRows(dim);
  dv = d_here_.bottomRows(dim);
  laps.lap(Part::ranks, Way::backward);
}

template <class S>
void RingAttention<S>::take_own_block(const Matrix<S>& qk, const Matrix<S>& v) {
  here_.topRows(v.rows()) = qk.bottomRows(v.rows());
  here_.bottomRows(v.rows()) = v;
}

template <class S>
void RingAttention<S>::send_block_on(Index step) {
  if (step + 1 == ring_->steps()) return;
  ring_->ranks().start_pass(Lane::keys_values, here_.data(), next_.data(), here_.size());
}

template <class S>
void RingAttention<S>::receive_block(Index step) {
  if (step + 1 == ring_->steps()) return;
  ring_->ranks().finish_pass(Lane::keys_values);
  here_.swap(next_);
}

template <class S>
void RingAttention<S>::pass_gradients(Index step) {
  if (ring_->steps() == 1) return;
  if (step > 0) {
    ring_->ranks().finish_pass(Lane::gradients);
    d_here_ += d_next_;
  }
  d_here_.swap(d_sent_);
  ring_->ranks().start_pass(Lane::gradients, d_sent_.data(), d_next_.data(), d_sent_.size());
}

template <class S>
void RingAttention<S>::count_seen(Index step) {
  const std::vector<Index>& queries = ring_->queries();
  const std::vector<Index>& keys = ring_->keys(step);
  std::size_t count = 0;
  for (std::size_t j = 0; j < queries.size(); ++j) {
    while (count < keys.size() && keys[count] <= queries[j]) ++count;
    seen_[j] = static_cast<Index>(count);
  }
}

template <class S>
Index RingAttention<S>::seen_of_tile(Index query, Index tile, Index size) const {
  return std::clamp(seen_[static_cast<std::size_t>(query)] - tile, Index{0}, size);
}

template <class S>
template <class Work>
void RingAttention<S>::for_each_query_block(Index step, const Work& work) {
  count_seen(step);
  const Index places = ring_->places();
  for (Index h = 0; h < heads_; ++h) {
    for (Index first = 0; first < places; first += query_block) {
      const Index width = std::min(query_block, places - first);
      const Index keys = seen_[static_cast<std::size_t>(first + width - 1)];
      if (keys > 0) work(h, QueryBlock{first, width, keys});
      ring_->ranks().progress();
    }
  }
}

template <class S>
void RingAttention<S>::attend(Index step, const Matrix<S>& qk, SoftmaxRows<S>& softmax,
                              Matrix<S>& o, Laps& laps) {
  const S scale = score_scale();
  const auto all_keys = here_.topRows(o.rows());
  const auto all_values = here_.bottomRows(o.rows());
  for_each_query_block(step, [&](Index h, const QueryBlock& block) {
    const auto q = head(qk, h).middleCols(block.first, block.width);
    for (Index tile = 0; tile < block.keys; tile += key_tile) {
      const Index size = std::min(key_tile, block.keys - tile);
      auto p = scores_.topLeftCorner(size, block.width);
      p.noalias() = head(all_keys, h).middleCols(tile, size).transpose() * q;
      laps.lap(Part::scores);
      for (Index j = 0; j < block.width; ++j) {
        const Index query = block.first + j;
        const Index seen = seen_of_tile(query, tile, size);
        auto of_query = p.col(j).array();
        if (seen == 0) {
          of_query.setZero();
          continue;
        }
        S& largest = softmax.largest(query, h);
        const S before = largest;
        largest = std::max(before, of_query.head(seen).maxCoeff());
        of_query = ((of_query - largest) * scale).exp();
        of_query.tail(size - seen).setZero();
        const S shrink = std::exp((before - largest) * scale);
        softmax.sum(query, h) = softmax.sum(query, h) * shrink + of_query.sum();
        head(o, h).col(query) *= shrink;
      }
      laps.lap(Part::softmax);
      head(o, h).middleCols(block.first, block.width).noalias() +=
          head(all_values, h).middleCols(tile, size) * p;
      laps.lap(Part::values);
    }
  });
}

template <class S>
void RingAttention<S>::attend_backward(Index step, const Matrix<S>& qk,
                                       const SoftmaxRows<S>& softmax, const Matrix<S>& o,
                                       const Matrix<S>& d_o, Matrix<S>& dqk, Laps& laps) {
  const S scale = score_scale();
  const auto all_keys = here_.topRows(o.rows());
  const auto all_values = here_.bottomRows(o.rows());
  auto d_all_keys = d_here_.topRows(o.rows());
  auto d_all_values = d_here_.bottomRows(o.rows());
  d_here_.setZero();
  for_each_query_block(step, [&](Index h, const QueryBlock& block) {
    const auto q = head(qk, h).middleCols(block.first, block.width);
    const auto of_queries = head(o, h).middleCols(block.first, block.width);
    const auto d_of_queries = head(d_o, h).middleCols(block.first, block.width);
    auto dq = head(dqk, h).middleCols(block.first, block.width);
    for (Index j = 0; j < block.width; ++j)
      mean_(block.first + j) = of_queries.col(j).dot(d_of_queries.col(j));
    for (Index tile = 0; tile < block.keys; tile += key_tile) {
      const Index size = std::min(key_tile, block.keys - tile);
      const auto k = head(all_keys, h).middleCols(tile, size);
      auto p = scores_.topLeftCorner(size, block.width);
      auto ds = d_scores_.topLeftCorner(size, block.width);
      p.noalias() = k.transpose() * q;
      laps.lap(Part::scores, Way::backward);
      for (Index j = 0; j < block.width; ++j) {
        const Index query = block.first + j;
        const Index seen = seen_of_tile(query, tile, size);
        auto of_query = p.col(j).array();
        of_query =
            ((of_query - softmax.largest(query, h)) * scale).exp() * (S(1) / softmax.sum(query, h));
        of_query.tail(size - seen).setZero();
      }
      laps.lap(Part::softmax, Way::backward);
      head(d_all_values, h).middleCols(tile, size).noalias() += d_of_queries * p.transpose();
      ds.noalias() = head(all_values, h).middleCols(tile, size).transpose() * d_of_queries;
      laps.lap(Part::values, Way::backward);
      for (Index j = 0; j < block.width; ++j) {
        ds.col(j).array() = p.col(j).array() * (ds.col(j).array() - mean_(block.first + j)) * scale;
      }
      laps.lap(Part::softmax, Way::backward);
      dq.noalias() += k * ds;
      head(d_all_keys, h).middleCols(tile, size).noalias() += q * ds.transpose();
      laps.lap(Part::scores, Way::backward);
    }
  });
}

template class RingAttention<float>;
template class RingAttention<double>;

}  // namespace train_lm
