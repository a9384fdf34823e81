// SPDX-License-Identifier: Apache-2.0
//
// The work of causal attention that each rank of a ring has, counted in pairs of a query and a key
// that it sees.
//
//   query i sees keys j    with i - window < j <= i    (window 0: all j <= i)
//   step s of the ring     rank r has the keys of rank (r - s) mod R at hand
//
// The tokens of a rank are those of shard_tokens(). The window is padded to equally long chunks,
// and padding is work as well, because a kernel does not leave it out. Numbers only: what a pair
// costs is training_plan.hpp's.
#pragma once

#include <vector>

#include "eigen_rope/choices/context_shard.hpp"

namespace eigen_rope::tool {

struct CausalWork {
  /// Tokens that a rank holds, padding included.
  eigen_rope::Index places = 0;
  /// Of the rank with the most, in each step of the ring.
  std::vector<double> step_pairs{};
  /// In all steps: of the rank with the most, and the mean over the ranks.
  double busiest_pairs = 0, mean_pairs = 0;

  /// 1 where all ranks have the same work.
  double balance() const { return busiest_pairs / mean_pairs; }
};

/// `tokens` from 1 to 2^31, `ranks` from 1 to 4096, `window` from 0.
///
/// - Errors:   eigen_rope::Error outside these ranges.
/// - Cost:     O(ranks^2).
CausalWork causal_work(eigen_rope::Index tokens, eigen_rope::Index ranks, Sharding sharding,
                       eigen_rope::Index window = 0);

inline constexpr eigen_rope::Index most_context = eigen_rope::Index{1} << 31;
inline constexpr eigen_rope::Index most_ranks = 4096;

}  // namespace eigen_rope::tool
