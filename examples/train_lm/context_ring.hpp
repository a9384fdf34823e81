// SPDX-License-Identifier: Apache-2.0
//
// Which tokens of a window each context-parallel rank holds, and whose block is at hand.
//
//   rank r holds    shard_tokens({r, M, sharding}, context), and rotates them at
//                   Positions::range(0, context).shard({r, M, sharding})
//   in step s       rank r works on the keys and values of rank (r - s) mod M
//
// Places are equally many on all ranks. Those behind the last token are padding; they stand behind
// every token, so no token sees them, and they count for no loss. The tokens of a rank are in
// ascending order, so what a query sees of any block of keys is the block's head.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "eigen_rope/choices/context_shard.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "ranks.hpp"

namespace train_lm {

class ContextRing {
 public:
  /// The ranks must outlive this.
  ContextRing(Ranks& ranks, Index context) : ranks_(&ranks), rank_(ranks.context_rank()) {
    const RankGrid& grid = ranks.grid();
    for (Index r = 0; r < grid.context; ++r)
      tokens_.push_back(eigen_rope::shard_tokens({r, grid.context, grid.sharding}, context));
    positions_ =
        eigen_rope::Positions::range(0, context).shard({rank_, grid.context, grid.sharding});
    order_ = tokens_;
    for (std::vector<Index>& of_rank : order_)
      std::replace(of_rank.begin(), of_rank.end(), Index{-1}, context);
  }

  Ranks& ranks() const { return *ranks_; }
  Index steps() const { return static_cast<Index>(tokens_.size()); }
  /// How many tokens this rank holds of each window, padding included.
  Index places() const { return static_cast<Index>(tokens().size()); }
  /// The token at each place of this rank; -1 for padding.
  const std::vector<Index>& tokens() const { return tokens_[static_cast<std::size_t>(rank_)]; }
  /// Where the tokens of this rank stand in the window: what the rotation needs.
  const eigen_rope::Positions& positions() const { return positions_; }
  /// Where each query of this rank stands in the order of cause and effect; padding stands last.
  const std::vector<Index>& queries() const { return order_[static_cast<std::size_t>(rank_)]; }
  /// The same of the keys that are at hand in a step.
  const std::vector<Index>& keys(Index step) const {
    return order_[static_cast<std::size_t>((rank_ - step + steps()) % steps())];
  }

 private:
  Ranks* ranks_;
  Index rank_;
  std::vector<std::vector<Index>> tokens_;
  std::vector<std::vector<Index>> order_;
  eigen_rope::Positions positions_ = eigen_rope::Positions::range(0, 0);
};

}  // namespace train_lm
