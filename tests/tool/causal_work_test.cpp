// SPDX-License-Identifier: Apache-2.0
//
// The work of each rank of a ring against pairs counted one by one, at the tokens that
// shard_tokens() deals out.
#include "tool/plan/causal_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/error_of.hpp"

namespace eigen_rope::tool::causal_work_tests {
namespace {

using eigen_rope::test::error_of;

/// Pairs of a query of one list and a key of the other that it sees.
double counted_pairs(const std::vector<Index>& queries, const std::vector<Index>& keys,
                     Index window) {
  double pairs = 0;
  for (const Index query : queries) {
    for (const Index key : keys)
      pairs += key <= query && (window == 0 || query - window < key) ? 1 : 0;
  }
  return pairs;
}

/// From the definition. Padding stands behind the last token and works like one.
CausalWork counted_work(Index tokens, Index ranks, Sharding sharding, Index window) {
  const auto places = static_cast<Index>(shard_tokens({0, ranks, sharding}, tokens).size());
  std::vector<std::vector<Index>> held;
  for (Index rank = 0; rank < ranks; ++rank)
    held.push_back(shard_tokens({rank, ranks, sharding}, places * ranks));
  CausalWork work;
  work.places = places;
  std::vector<double> of_rank(held.size(), 0.0);
  for (std::size_t step = 0; step < held.size(); ++step) {
    double most = 0;
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
      const std::size_t of_keys = (rank + held.size() - step) % held.size();
      const double pairs = counted_pairs(held[rank], held[of_keys], window);
      of_rank[rank] += pairs;
      most = std::max(most, pairs);
    }
    work.step_pairs.push_back(most);
  }
  for (const double own : of_rank) work.mean_pairs += own / static_cast<double>(ranks);
  work.busiest_pairs = *std::max_element(of_rank.begin(), of_rank.end());
  return work;
}

TEST(CausalWork, IsThatOfPairsCountedOneByOne) {
  for (const Sharding sharding : {Sharding::contiguous, Sharding::zigzag}) {
    for (const Index tokens : {1, 2, 7, 24, 61}) {
      for (const Index ranks : {1, 2, 3, 4, 7, 16}) {
        for (const Index window : {0, 1, 5, 24, 200}) {
          SCOPED_TRACE(testing::Message() << name_of(sharding) << " " << tokens << " tokens, "
                                          << ranks << " ranks, window " << window);
          const CausalWork work = causal_work(tokens, ranks, sharding, window);
          const CausalWork counted = counted_work(tokens, ranks, sharding, window);
          EXPECT_EQ(work.places, counted.places);
          EXPECT_EQ(work.step_pairs, counted.step_pairs);
          EXPECT_EQ(work.busiest_pairs, counted.busiest_pairs);
          EXPECT_NEAR(work.mean_pairs, counted.mean_pairs, 1e-9 * counted.mean_pairs);
        }
      }
    }
  }
}

TEST(CausalWork, OfZigzagIsTheSameOnAllRanks) {
  for (const Index ranks : {1, 2, 64, 1024})
    EXPECT_NEAR(causal_work(10'000'000, ranks, Sharding::zigzag).balance(), 1, 1e-12) << ranks;
}

TEST(CausalWork, OfTheLastContiguousRankIsNearlyTwiceTheMean) {
  for (const Index ranks : {1, 2, 64, 1024}) {
    const auto r = static_cast<double>(ranks);
    // Of r^2 / 2 squares of a shard's side, the last rank has r - 1/2.
    EXPECT_NEAR(causal_work(10'240'000, ranks, Sharding::contiguous).balance(), (2 * r - 1) / r,
                1e-3)
        << ranks;
  }
}

TEST(CausalWork, OfAWindowIsBalancedByEitherSharding) {
  for (const Sharding sharding : {Sharding::contiguous, Sharding::zigzag})
    EXPECT_NEAR(causal_work(1'048'576, 16, sharding, 1024).balance(), 1, 0.01);
}

TEST(CausalWork, HasRoomForTheLongestContext) {
  const CausalWork work = causal_work(most_context, 1, Sharding::contiguous);
  EXPECT_EQ(work.busiest_pairs,
            static_cast<double>(most_context) / 2 * (static_cast<double>(most_context) + 1));
  EXPECT_EQ(causal_work(most_context, most_ranks, Sharding::zigzag).places,
            most_context / most_ranks);
}

TEST(CausalWork, RefusesWhatIsOutsideItsRanges) {
  const auto refusal = [](Index tokens, Index ranks, Index window) {
    return error_of([&] { causal_work(tokens, ranks, Sharding::zigzag, window); });
  };
  EXPECT_EQ(refusal(0, 1, 0),
            "[rope] the context must be a whole number from 1 to 2147483648, got 0");
  EXPECT_EQ(refusal(most_context + 1, 1, 0),
            "[rope] the context must be a whole number from 1 to 2147483648, got 2147483649");
  EXPECT_EQ(refusal(1, 0, 0), "[rope] ranks must be a whole number from 1 to 4096, got 0");
  EXPECT_EQ(refusal(1, 4097, 0), "[rope] ranks must be a whole number from 1 to 4096, got 4097");
  EXPECT_EQ(refusal(1, 1, -1),
            "[rope] the window must be a whole number from 0 to 2147483648, got -1");
}

}  // namespace
}  // namespace eigen_rope::tool::causal_work_tests
