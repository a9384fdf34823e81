// SPDX-License-Identifier: Apache-2.0
//
// Which tokens one rank of context parallelism holds.
//
// Context parallelism cuts every sequence along its tokens. R ranks hold, for 8 tokens and R = 2,
//
//   contiguous    R chunks, rank r has chunk r                          0 1 2 3 | 4 5 6 7
//   zigzag        2R chunks, rank r has chunks r and 2R-1-r, in this    0 1 6 7 | 2 3 4 5
//                 order: with a causal mask all ranks have the same work
//
// Padding: the chunks of a sequence are equally long, so its length is rounded up to a multiple of
// R (contiguous) or 2R (zigzag), with tokens that do not exist behind its last one. One rank holds
// everything and has no padding. These are the rules of Megatron-LM and TransformerEngine, which
// cut packed sequences one by one, too, and want them padded before (issue 1368 of
// NVIDIA/TransformerEngine). PyTorch's context_parallel wants lengths that are multiples of 2R.
#pragma once

#include <cstdint>
#include <vector>

#include "eigen_rope/choices/number_list.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The ways to deal the chunks of a sequence to ranks.
enum class Sharding {
  contiguous,  ///< R chunks; rank r has chunk r.
  zigzag       ///< 2R chunks; rank r has chunk r and then chunk 2R - 1 - r.
};

/// Returns the enumerator's name as text: `zigzag`.
///
/// \code{.cpp}
/// std::cout << er::name_of(er::Sharding::zigzag);  // zigzag
/// \endcode
EIGEN_ROPE_API const char* name_of(Sharding sharding);

/// One rank of context parallelism: which part of each sequence it holds.
///
/// \code{.cpp}
/// er::ContextShard shard;
/// shard.rank = 1;
/// shard.ranks = 4;
/// const er::Positions local = positions.shard(shard);  // chunks 1 and 6 of 8
/// \endcode
///
/// \see Positions::shard(), shard_tokens(), \ref cookbook "Cookbook"
struct ContextShard {
  Index rank = 0;                        ///< The rank; 0 or more and less than `ranks`.
  Index ranks = 1;                       ///< The number of ranks, R; at least 1.
  Sharding sharding = Sharding::zigzag;  ///< The way in which the chunks are dealt.
};

/// Returns which token stands at each place of a rank's part of packed sequences.
///
/// Each sequence is cut on its own. A rank has its chunks of the first sequence, then those of the
/// second, and so on. Padding stands behind the last token of a sequence until its length is a
/// multiple of R (contiguous) or 2R (zigzag), and is -1 here. Every token is on exactly one rank,
/// and all ranks have equally many places. One rank has no padding.
///
/// Rows of x that are gathered by this list belong to the positions of Positions::shard().
///
/// \code{.cpp}
/// const er::ContextShard shard{0, 2, er::Sharding::zigzag};
/// const auto local = er::shard_tokens(shard, {0, 4, 11});  // 0, 3, 4, 5, 10, -1
/// \endcode
///
/// \param shard       the rank, and how sequences are cut
/// \param cu_seqlens  where each sequence begins, and behind them where the last one ends: 0, n_1,
///                    n_1 + n_2, ...; a list of integers, as Positions takes it
///
/// - Errors:   eigen_rope::Error if the rank is not one of the ranks, or if `cu_seqlens` is empty,
///             does not begin with 0, decreases, or holds more than can be counted.
/// - Cost:     O(sequences + places of the rank).
///
/// \see Positions::shard()
EIGEN_ROPE_API std::vector<Index> shard_tokens(const ContextShard& shard,
                                               const NumberList<std::int64_t>& cu_seqlens);

/// Returns which token stands at each place of a rank's part of one sequence.
///
/// \code{.cpp}
/// const auto local = er::shard_tokens({0, 2, er::Sharding::zigzag}, 8);  // 0, 1, 6, 7
/// \endcode
///
/// \param shard   the rank, and how the sequence is cut
/// \param tokens  the number of tokens; not negative
///
/// - Errors:   eigen_rope::Error if the rank is not one of the ranks, or if `tokens` is negative or
///             more than can be counted.
/// - Cost:     O(places of the rank).
EIGEN_ROPE_API std::vector<Index> shard_tokens(const ContextShard& shard, Index tokens);

namespace detail {

/// Throws unless the list begins with 0 and does not decrease.
EIGEN_ROPE_API void require_cu_seqlens(const std::vector<std::int64_t>& cu_seqlens);

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI
