// SPDX-License-Identifier: Apache-2.0
//
// A table of the positions 0, 1, 2, ... that grows when a program asks for more rows. A decoder
// reads one row of it for each token:
//
//   eigen_rope::GrowingCache<float> cache(frequencies);  // one for all layers and threads
//   q = eigen_rope::rotate(q, cache.rows(position, 1), eigen_rope::split_half);
//
// Entries are bit for bit those of Cache. To grow, the cache copies its rows into a larger block,
// usually of twice the size, and keeps the old block until it is destroyed. Therefore every view
// stays valid, every range of rows is contiguous, and reading takes no lock.
//
// Positions that are fractional or negative do not fit here, and those that are far apart would
// waste memory. TokenRow and Cache take them.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// How far a GrowingCache grows at first and at most, in tokens.
///
/// \code{.cpp}
/// er::Growth growth;
/// growth.max_tokens = 32768;  // the longest text the model takes
/// const er::GrowingCache<float> table(frequencies, er::Layout::bsnd(), growth);
/// \endcode
struct Growth {
  /// The number of rows formed at the first use; at least 1.
  Index first_tokens = 256;
  /// The largest number of rows that may be formed; at least first_tokens. Because of this limit a
  /// wrong position throws instead of taking all memory.
  Index max_tokens = Index{1} << 24;
};

/// A table of the positions 0, 1, 2, ... that forms its rows when they are first asked for.
///
/// One cache serves all layers, queries and keys, and all threads of a decoder.
///
/// \code{.cpp}
/// const er::GrowingCache<float> table(frequencies);
/// er::rotate_inplace(q, table.rows(0, tokens), er::split_half);  // the prompt
/// Eigen::Tensor<float, 3> next_q(D, heads, 1);                   // then token by token
/// er::rotate_inplace(next_q, table.rows(tokens, 1), er::split_half);
/// \endcode
///
/// Scalar is float, double, long double, Eigen::half or Eigen::bfloat16. The cache can be neither
/// copied nor moved. Views point into it, so it must outlive them and every expression made from
/// them.
///
/// - Threads:  any number of threads may call every member at once. So may a forked child, whatever
///             its parent's threads did with the cache at the time of the fork: the child has the
///             rows that were there, and grows on its own.
/// - Error:    that of Cache's entries.
/// - Cost:     memory of 2 pairs sizeof(Scalar) bytes a row. rows() and gather() alone keep at most
///             4 times the rows asked for, or first_tokens rows if that is more: they grow up to
///             twice as far as they must, and the old blocks take at most as much again. A new
///             cache after one reserve() has exactly the rows reserved.
///
/// \see Cache, TokenRow, \ref cookbook "Cookbook"
template <class Scalar>
class GrowingCache {
 public:
  /// Makes a cache that has no rows yet.
  ///
  /// \param frequencies  the rate of each pair, in radians per token, and m
  /// \param layout       which axis of x outside the feature axis is the token axis. The entries of
  ///                     a row lie next to each other in every layout
  /// \param growth       how many rows to form at first, and how many at most
  ///
  /// - Errors:   eigen_rope::Error if a rate is larger than 2^40 in size, first_tokens is less than
  ///             1 or max_tokens less than first_tokens.
  explicit GrowingCache(const Frequencies& frequencies, const Layout& layout = Layout::bsnd(),
                        const Growth& growth = {});
  /// Frees all rows. No view of them may be read any more.
  ~GrowingCache();
  /// Deleted, because views point into the cache.
  GrowingCache(const GrowingCache&) = delete;
  /// Deleted, because views point into the cache.
  GrowingCache& operator=(const GrowingCache&) = delete;

  /// Returns the rows of the positions first, ..., first + tokens - 1 as a table, and forms those
  /// that are missing.
  ///
  /// The table's outer extent is `tokens` on the token axis and 1 on the others. The view is valid
  /// until the cache is destroyed, whatever grows meanwhile.
  ///
  /// \code{.cpp}
  /// const er::GrowingCache<float> table(frequencies);
  /// q = er::rotate(q, table.rows(28, tokens), er::split_half);  // positions 28, 29, ...
  /// \endcode
  ///
  /// \param first   the first position, not negative
  /// \param tokens  the number of rows, not negative
  ///
  /// - Errors:   eigen_rope::Error if first or tokens is negative, if first + tokens is more than
  ///             max_tokens, or if the size does not fit; std::bad_alloc where memory runs out.
  ///             Nothing has changed then.
  /// - Threads:  a thread that needs new rows waits until they are formed; others do not wait.
  /// - Cost:     one atomic load where the rows are there: no lock, no allocation. Otherwise the
  ///             cache grows, O(pairs) for each new row and a copy of the old ones.
  TableView<Scalar> rows(std::int64_t first, Index tokens) const {
    const Block* block = newest_.load(std::memory_order_acquire);
    if (first < 0 || tokens < 0 || first > block->tokens - tokens) block = grow(first, tokens);
    TableView<Scalar> view{block->cos.data() + first * pairs_, block->sin.data() + first * pairs_,
                           pairs_, Shape(), determinants_};
    for (int axis = 0; axis < axes_; ++axis) view.outer.push_back(axis == token_axis_ ? tokens : 1);
    return view;
  }

  /// Copies the rows of any positions that are whole numbers from 0 on into a table of their own.
  ///
  /// That is for the sequences of a batch that stand at different places, and for tokens that have
  /// positions on several axes. The cache grows to the largest position first.
  ///
  /// \code{.cpp}
  /// const er::GrowingCache<float> table(frequencies);
  /// const std::vector<int> ids{7, 500};  // one token in each of two sequences
  /// const er::Cache<float> step = table.gather(er::Positions::per_batch(ids, er::Batches{2}));
  /// \endcode
  ///
  /// - Errors:   eigen_rope::Error where rows() or Cache throws it, and for a position that is not
  ///             a whole number; std::bad_alloc where memory runs out.
  /// - Cost:     O(batches * tokens * pairs), and that of growing.
  Cache<Scalar> gather(const Positions& positions) const;

  /// Forms the rows of the positions below `tokens` now, and no others.
  ///
  /// The cache then takes no memory beyond these rows, and does not grow before a later one is
  /// asked for. A call that makes it larger leaves the old block behind, so one call at the
  /// beginning is best.
  ///
  /// \code{.cpp}
  /// const er::GrowingCache<float> table(frequencies);
  /// table.reserve(4096);  // the context of the model
  /// \endcode
  ///
  /// - Errors:   those of rows(0, tokens).
  /// - Cost:     O(pairs) for each new row, and a copy of the old ones. Nothing is done where the
  ///             rows are there.
  void reserve(Index tokens) const;

  /// Returns the number of rows formed so far.
  Index tokens() const { return newest_.load(std::memory_order_acquire)->tokens; }
  /// Returns the number of bytes of all rows held, including those in blocks left behind.
  std::size_t bytes() const;
  /// Returns the number of pairs, which is the number of entries in a row.
  Index pairs() const { return pairs_; }

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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
