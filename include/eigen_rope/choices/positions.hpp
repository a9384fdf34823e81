// SPDX-License-Identifier: Apache-2.0
//
// The positions of tokens: where each token stands in its sequence.
//
// There are five ways to give them:
//
//   range        start, start + 1, ...: a prompt, or a step of decoding with a KV cache
//   packed       several sequences side by side, each of which counts from its own start
//   ids          one position per token: gathered tokens, gaps, repeats
//   per_batch    one position per batch and token, [batch][token]
//   multi_axis   one position per axis, batch and token, [axis][batch][token], with the Sections
//                that give each pair its axis
//
// Positions are integers (every int64 is kept exactly) or doubles (fractional positions), and both
// may be negative. Which axis of x counts tokens is the Layout of the cache (layout.hpp). What one
// rank of context parallelism holds of them is shard() of a ContextShard (context_shard.hpp).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/choices/context_shard.hpp"
#include "eigen_rope/choices/number_list.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The number of sequences that a list of positions is for.
///
/// It is a type of its own so that a call names what it counts: `er::Batches{2}`.
///
/// \code{.cpp}
/// // two sequences of three tokens
/// const auto two = er::Positions::per_batch({7, 8, 9, 500, 501, 502}, er::Batches{2});
/// \endcode
struct Batches {
  Index count = 1;  ///< The number of sequences; not negative, and 0 only without positions.
};

/// The positions of the tokens of one or more sequences.
///
/// The functions below make them, and Positions and Frequencies make a Cache.
///
/// Where a function takes a NumberList, that is numbers in braces, an array, a `std::vector` or
/// `std::array`, an Eigen vector or a Tensor of one axis, any other contiguous range, or a pointer
/// and a count.
///
/// \code{.cpp}
/// const er::Positions prompt = er::Positions::range(0, tokens);
/// const er::Positions next = er::Positions::range(tokens, 1);  // one step of decoding
/// const er::Cache<float> table(frequencies, next);
/// \endcode
///
/// - Threads:  immutable but for assignment; safe to share between threads.
///
/// \see Cache, NumberList, Sections, ContextShard, \ref cookbook "Cookbook"
class EIGEN_ROPE_API Positions {
 public:
  /// Makes the positions start, start + 1, ..., which all sequences share.
  ///
  /// \code{.cpp}
  /// const er::Positions next = er::Positions::range(tokens, 1);
  /// \endcode
  ///
  /// \param start   the position of the first token, of any sign
  /// \param tokens  the number of positions; not negative
  ///
  /// - Errors:   eigen_rope::Error if `tokens` is negative or the last position would pass int64.
  /// - Cost:     O(tokens).
  static Positions range(std::int64_t start, Index tokens);

  /// Makes the positions of packed sequences, which stand side by side and begin at 0 each.
  ///
  /// \code{.cpp}
  /// const er::Positions two = er::Positions::packed({0, 3, 5});  // 0, 1, 2, 0, 1
  /// \endcode
  ///
  /// \param cu_seqlens  where each sequence begins, and behind them where the last one ends: 0,
  ///                    n_1, n_1 + n_2, ..., as kernels of attention take it; a list of integers
  ///
  /// - Errors:   eigen_rope::Error if the list is empty, does not begin with 0, decreases, or holds
  ///             more tokens than can be counted.
  /// - Cost:     O(sequences + tokens).
  static Positions packed(const NumberList<std::int64_t>& cu_seqlens);

  /// Makes the positions of packed sequences, each of which counts from a start of its own.
  ///
  /// \code{.cpp}
  /// const auto more = er::Positions::packed({0, 1, 4}, {70, 12});  // 70, 12, 13, 14
  /// \endcode
  ///
  /// \param cu_seqlens  where each sequence begins, and behind them where the last one ends
  /// \param starts      the position of each sequence's first token, of any sign; integers, too
  ///
  /// - Errors:   eigen_rope::Error under the conditions above, if there is not one start for each
  ///             sequence, or if a position would pass int64.
  /// - Cost:     O(sequences + tokens).
  static Positions packed(const NumberList<std::int64_t>& cu_seqlens,
                          const NumberList<std::int64_t>& starts);

  /// Makes positions from a list with one entry per token, which all sequences share.
  ///
  /// \code{.cpp}
  /// const er::Positions some = er::Positions::ids({0, 1, 5, 2});
  /// const Eigen::VectorXi gathered = Eigen::VectorXi::LinSpaced(4, 0, 3);
  /// const er::Positions same = er::Positions::ids(gathered);
  /// \endcode
  ///
  /// \param ids  token s stands at ids[s]; a list of numbers
  ///
  /// - Errors:   eigen_rope::Error if a position is not finite, for a null pointer to numbers, or
  ///             for a negative count.
  /// - Cost:     O(tokens).
  static Positions ids(NumberList<DoubleDouble> ids) {
    return Positions(std::move(ids).values(), 1, std::nullopt);
  }
  /// Does the same with a pointer and a count.
  template <class Number>
  static Positions ids(const Number* ids, Index count) {
    return Positions::ids({ids, count});
  }

  /// Makes positions that differ between sequences.
  ///
  /// \code{.cpp}
  /// const auto step = er::Positions::per_batch({7, 500}, er::Batches{2});  // at 7 and at 500
  /// \endcode
  ///
  /// \param ids      token s of batch b stands at ids[b * tokens + s]; a list of numbers
  /// \param batches  the number of sequences; the length of `ids` is a multiple of it
  ///
  /// - Errors:   eigen_rope::Error under the conditions of ids(), if the list does not divide into
  ///             the batches, or if their number is negative.
  /// - Cost:     O(batches * tokens).
  static Positions per_batch(NumberList<DoubleDouble> ids, Batches batches) {
    return Positions(std::move(ids).values(), batches.count, std::nullopt);
  }
  /// Does the same with a pointer and a count.
  template <class Number>
  static Positions per_batch(const Number* ids, Index count, Batches batches) {
    return per_batch({ids, count}, batches);
  }

  /// Makes positions on several axes, such as the time, row and column of an image's patch.
  ///
  /// \code{.cpp}
  /// const er::Sections sections(er::SectionPattern::contiguous, {8, 12, 12});
  /// const std::vector<int> ids{0, 0, 5, 5, 3, 4};  // two tokens: times, rows, columns
  /// const er::Positions patches = er::Positions::multi_axis(ids, sections);
  /// \endcode
  ///
  /// \param ids       on axis a, token s of batch b stands at ids[(a * batches + b) * tokens + s];
  ///                  a list of numbers
  /// \param sections  the axes, and which pairs each of them turns
  /// \param batches   the number of sequences; 1 where all share their positions
  ///
  /// - Errors:   eigen_rope::Error under the conditions of ids(), if the list does not divide into
  ///             axes and batches, or if the number of batches is negative.
  /// - Cost:     O(axes * batches * tokens).
  static Positions multi_axis(NumberList<DoubleDouble> ids, Sections sections,
                              Batches batches = {}) {
    return Positions(std::move(ids).values(), batches.count, std::move(sections));
  }
  /// Does the same with a pointer and a count.
  template <class Number>
  static Positions multi_axis(const Number* ids, Index count, Sections sections,
                              Batches batches = {}) {
    return multi_axis({ids, count}, std::move(sections), batches);
  }

  /// Returns the positions of the tokens that one rank of context parallelism holds.
  ///
  /// All tokens are cut as one sequence, of every batch and on every axis alike. Padding stands at
  /// position 0, where no pair turns and which every table has. shard_tokens() says which tokens
  /// these are. Rotating them gives the bits of the whole rotation.
  ///
  /// \code{.cpp}
  /// const er::ContextShard shard{0, 2, er::Sharding::zigzag};
  /// const er::Positions local = er::Positions::range(0, 8).shard(shard);  // 0, 1, 6, 7
  /// \endcode
  ///
  /// \param shard  the rank, and how the sequence is cut
  ///
  /// - Errors:   eigen_rope::Error if the rank is not one of the ranks.
  /// - Cost:     O(axes * batches * places of the rank).
  ///
  /// \see shard_tokens(), \ref cookbook "Cookbook"
  Positions shard(const ContextShard& shard) const;

  /// Returns the positions of the tokens that one rank of context parallelism holds, if each packed
  /// sequence is cut on its own.
  ///
  /// \code{.cpp}
  /// const std::vector<int> cu_seqlens{0, 4, 11};
  /// const er::ContextShard shard{0, 2, er::Sharding::zigzag};
  /// const er::Positions all = er::Positions::packed(cu_seqlens);
  /// const er::Positions local = all.shard(shard, cu_seqlens);  // 0, 3, 0, 1, 6, padding at 0
  /// \endcode
  ///
  /// \param shard       the rank, and how each sequence is cut
  /// \param cu_seqlens  where each sequence begins, and behind them the number of tokens
  ///
  /// - Errors:   eigen_rope::Error if the rank is not one of the ranks, or under the conditions of
  ///             packed(), or if `cu_seqlens` does not end with tokens().
  /// - Cost:     O(sequences + axes * batches * places of the rank).
  Positions shard(const ContextShard& shard, const NumberList<std::int64_t>& cu_seqlens) const;

  /// Returns the number of tokens in each sequence.
  Index tokens() const { return tokens_; }
  /// Returns the number of sequences with positions of their own, or 1 where all share them.
  Index batches() const { return batches_; }
  /// Returns the number of positions that each token has, 1 to 4.
  int axes() const { return sections_ ? sections_->axes() : 1; }
  /// Returns the axis whose position turns `pair`; it is 0 without sections.
  int axis(Index pair) const { return sections_ ? sections_->axis(pair) : 0; }
  /// Returns the position of a token of a sequence on an axis; the indices are not checked.
  DoubleDouble at(int axis, Index batch, Index token) const {
    return values_[static_cast<std::size_t>((axis * batches_ + batch) * tokens_ + token)];
  }

  /// Returns the numbers of tokens, batches and axes as text: `512 tokens`, or
  /// `2 batches of 512 tokens on 3 axes`.
  std::string text() const;

  /// Returns whether both hold the same numbers for the same tokens, batches and axes.
  ///
  /// Positions on several axes also need equal Sections to be equal.
  friend EIGEN_ROPE_API bool operator==(const Positions& a, const Positions& b);
  /// Returns whether a number, an extent or the Sections differ.
  friend bool operator!=(const Positions& a, const Positions& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Positions& positions);

 private:
  Positions(std::vector<DoubleDouble> values, Index batches, std::optional<Sections> sections);

  /// The positions of these tokens, of all batches and axes, and 0 for those that are -1.
  Positions gathered(const std::vector<Index>& tokens) const;

  std::vector<DoubleDouble> values_;
  Index batches_ = 1;
  Index tokens_ = 0;
  std::optional<Sections> sections_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
