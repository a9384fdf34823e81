// SPDX-License-Identifier: Apache-2.0
//
// A table of the positions 0, 1, 2, ... that grows when it is asked for more: what decoding reads,
// one row a token.
//
//   eigen_rope::GrowingCache<float> cache(frequencies);
//                       one for all layers, for q and k, for all threads
//   q = eigen_rope::rotate(q, cache.rows(position, 1), eigen_rope::split_half);
//
// Entries are bit for bit those of Cache. Growing copies the rows into a new block of at least
// twice the size and keeps the old one until the cache is destroyed, so every view stays valid, any
// range of rows is contiguous, and reading takes no lock. The blocks left behind are together
// smaller than the one in use. Not for positions that are fractional, negative or far apart
// (TokenRow, Cache).
#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/table.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope {

/// How a GrowingCache grows, in tokens.
struct Growth {
  /// Rows formed at the first use; at least 1.
  Index first_tokens = 256;
  /// No row at or beyond this one is ever formed: a wrong position then throws instead of taking
  /// all memory. At least first_tokens.
  Index max_tokens = Index{1} << 24;
};

/// Scalar: float, double, long double, Eigen::half, Eigen::bfloat16. Neither copied nor moved:
/// views point into it, and it must outlive them and every expression made from them.
///
/// - Threads:  any number of threads may call every member at once, and so may a forked child,
///             whatever its parent's threads did with the cache when it was forked: it has the rows
///             that were there, and grows on its own.
/// - Error:    of entries, as Cache.
/// - Cost:     memory of 2 pairs sizeof(Scalar) bytes a row, for at most 4 times the rows asked for
///             (twice by growing, twice by what growing left); exactly the rows asked for where
///             reserve() was called first.
template <class Scalar>
class GrowingCache {
 public:
  /// Forms no rows yet. The layout says which axis of x is the token axis.
  ///
  /// - Errors:   eigen_rope::Error if a rate is larger than 2^40 in size, first_tokens is less than
  ///             1 or max_tokens less than first_tokens.
  explicit GrowingCache(const Frequencies& frequencies, const Layout& layout = Layout::bsnd(),
                        const Growth& growth = {});
  ~GrowingCache();
  GrowingCache(const GrowingCache&) = delete;
  GrowingCache& operator=(const GrowingCache&) = delete;

  /// The rows of the positions first, ..., first + tokens - 1 as a table: the outer extent is
  /// `tokens` on the token axis and 1 on the others. Valid until the cache is destroyed, whatever
  /// grows meanwhile.
  ///
  /// - Errors:   eigen_rope::Error if first or tokens is negative or a row lies beyond max_tokens,
  ///             and std::bad_alloc; nothing has changed then.
  /// - Threads:  a thread that needs new rows waits until they are formed, others do not.
  /// - Cost:     within tokens() one atomic load: no lock, no allocation. Beyond, it grows,
  ///             O(pairs) for each new row.
  TableView<Scalar> rows(std::int64_t first, Index tokens) const {
    const Block* block = newest_.load(std::memory_order_acquire);
    if (first < 0 || tokens < 0 || first > block->tokens - tokens) block = grow(first, tokens);
    TableView<Scalar> view{block->cos.data() + first * pairs_, block->sin.data() + first * pairs_,
                           pairs_, Shape(), determinants_};
    for (int axis = 0; axis < axes_; ++axis) view.outer.push_back(axis == token_axis_ ? tokens : 1);
    return view;
  }

  /// A table of its own for any positions that are whole numbers from 0 on: sequences of a batch
  /// that stand at different places, several axes with Sections. Copies the rows, after growing to
  /// the largest position.
  ///
  /// - Errors:   as rows() and Cache, and eigen_rope::Error for a position that is not a whole
  ///             number.
  /// - Cost:     O(batches * tokens * pairs).
  Cache<Scalar> gather(const Positions& positions) const;

  /// Forms the rows below `tokens` now, and exactly those: no later growth up to there, and no
  /// memory beyond it.
  ///
  /// - Errors:   as rows().
  void reserve(Index tokens) const;

  /// Rows formed so far.
  Index tokens() const { return newest_.load(std::memory_order_acquire)->tokens; }
  /// Bytes of all rows held, those in blocks left behind included.
  std::size_t bytes() const;
  Index pairs() const { return pairs_; }  ///< Pairs of a row.

 private:
  struct Block {
    Index tokens = 0;
    detail::AlignedVector<Scalar> cos;
    detail::AlignedVector<Scalar> sin;
    const Block* older = nullptr;
  };
  struct State;
  enum class Size { doubled, exact };

  const Block* grow(std::int64_t first, Index tokens, Size size = Size::doubled) const;

  // Growing changes no entry anyone could have read, so it is const. The older blocks hang on the
  // newest.
  mutable std::atomic<const Block*> newest_{nullptr};
  Index pairs_;
  int axes_;
  int token_axis_ = 0;
  detail::Determinants determinants_;
  std::unique_ptr<State> state_;

  static_assert(detail::is_plain<Scalar>,
                "[rope] a growing cache must hold float, double, long double, Eigen::half or "
                "Eigen::bfloat16");
};

extern template class EIGEN_ROPE_API GrowingCache<float>;
extern template class EIGEN_ROPE_API GrowingCache<double>;
extern template class EIGEN_ROPE_API GrowingCache<long double>;
extern template class EIGEN_ROPE_API GrowingCache<Eigen::half>;
extern template class EIGEN_ROPE_API GrowingCache<Eigen::bfloat16>;

}  // namespace eigen_rope
