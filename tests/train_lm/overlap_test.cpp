// SPDX-License-Identifier: Apache-2.0
//
// The training step on ranks whose sums and passes other threads move, while the rank computes. The
// losses are those of one rank, and under ThreadSanitizer no rank touches numbers that move.
#include <gtest/gtest.h>

#include <vector>

#include "small_runs.hpp"
#include "thread_ranks.hpp"

namespace train_lm {
namespace {

class Overlap : public testing::TestWithParam<RankGrid> {};

TEST_P(Overlap, HasTheLossesOfOneRank) {
  const std::vector<int> codes = text();
  for (const Case& c : cases()) {
    RunConfig config = config_of(c);
    config.steps = 3;
    std::vector<double> expected;
    Ranks alone;
    Curve<double> one(config, codes, alone);
    for (std::int64_t step = 0; step < config.steps; ++step) expected.push_back(one.take(step));
    run_ranks(GetParam(), [&](Ranks& ranks) {
      Curve<double> all(config, codes, ranks);
      for (std::int64_t step = 0; step < config.steps; ++step) {
        EXPECT_NEAR(all.take(step), expected[static_cast<std::size_t>(step)], 1e-12)
            << "rank " << ranks.rank() << ", " << c.rope << ", context " << c.context << ", step "
            << step;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, Overlap,
                         testing::Values(RankGrid{2, 1, eigen_rope::Sharding::zigzag},
                                         RankGrid{1, 3, eigen_rope::Sharding::contiguous},
                                         RankGrid{2, 2, eigen_rope::Sharding::zigzag}),
                         [](const auto& grid) {
                           return std::to_string(grid.param.data) + "x" +
                                  std::to_string(grid.param.context);
                         });

}  // namespace
}  // namespace train_lm
