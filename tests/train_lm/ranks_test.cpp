// SPDX-License-Identifier: Apache-2.0
//
// The training step of the trainer on as many ranks as mpirun starts, in every grid of them,
// against the same step on one rank, which each rank takes beside it.
//
//   losses             equal to those of one rank: in double to 1e-12 bits, in float to 5e-6
//   all ranks          have the same weights and moments, bit for bit
//   gradient           that of central differences of the loss, across the ranks
//
//   mpirun -n 4 train_lm_ranks_tests
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "small_runs.hpp"
#include "start_ranks.hpp"

namespace train_lm {
namespace {

StartedRanks* started = nullptr;

/// All grids of as many ranks as there are.
std::vector<RankGrid> grids() {
  const int count = started->all().count();
  std::vector<RankGrid> all;
  for (int data = 1; data <= count; ++data) {
    if (count % data != 0) continue;
    for (const auto sharding : {eigen_rope::Sharding::contiguous, eigen_rope::Sharding::zigzag})
      all.push_back({data, count / data, sharding});
  }
  return all;
}

struct Bounds {
  double bits;
  double weights;
  double epsilon;  ///< of AdamW
};

/// Checks every grid against one rank.
template <class S>
void expect_the_curve_of_one(const Bounds& bounds) {
  const std::vector<int> codes = text();
  for (const RankGrid& grid : grids()) {
    Ranks& ranks = started->arrange(grid, 60);
    for (const Case& c : cases()) {
      if (grid.data > c.batch) continue;
      SCOPED_TRACE(testing::Message() << "rank " << ranks.rank() << ", " << grid.data << " x "
                                      << grid.context << " " << eigen_rope::name_of(grid.sharding)
                                      << ", " << c.rope << ", context " << c.context);
      Ranks alone;
      RunConfig config = config_of(c);
      config.adam.epsilon = bounds.epsilon;
      Curve<S> one(config, codes, alone);
      Curve<S> all(config, codes, ranks);
      for (std::int64_t step = 0; step < one.config.steps; ++step)
        EXPECT_NEAR(all.take(step), one.take(step), bounds.bits) << "step " << step;
      EXPECT_LE((all.weights.flat() - one.weights.flat()).cwiseAbs().maxCoeff(), bounds.weights);
      // To the first rank's, so to each other's.
      for (const Parameters<S>* of_all : {&all.weights, &all.moments.m, &all.moments.v})
        EXPECT_TRUE(ranks.broadcast(bytes_of(*of_all)) == bytes_of(*of_all));
    }
  }
}

TEST(TrainingOnRanks, InDoubleHasTheLossesOfOneRank) {
  expect_the_curve_of_one<double>({1e-12, 1e-10, AdamConfig().epsilon});
}

// Losses near 3 bits, whose sums of some hundred floats are added in another order. AdamW's usual
// epsilon moves a weight by its whole rate where the gradient is nothing but rounding.
TEST(TrainingOnRanks, InFloatHasTheLossesOfOneRank) {
  expect_the_curve_of_one<float>({5e-6, 1e-4, 1e-4});
}

/// The loss at these weights, and its gradient, without moving any.
struct Slope {
  Slope(const RunConfig& c, const std::vector<int>& text, Ranks& with)
      : config(c),
        ranks(with),
        pool(1),
        device(&pool, 1),
        profile(1),
        ring(ranks, c.context),
        model(c.model, device, profile, &ring),
        sums(ranks),
        gradient(c.model) {
    draw_batch(text, c.context,
               {share_of(c.batch, ranks.data_rank(), ranks.grid().data), ring.tokens()}, c.seed, 0,
               batch);
  }

  double loss(const Parameters<double>& weights) {
    return ranks.sum(total(model.losses(weights, batch, rotations(weights)))) / count();
  }

  const Parameters<double>& at(const Parameters<double>& weights) {
    model.losses_and_gradient(weights, batch, config.batch * config.context, rotations(weights),
                              gradient, &sums);
    sums.finish();
    return gradient;
  }

  Rotations<double> rotations(const Parameters<double>& weights) const {
    return {run_frequencies(config, weights), ring.positions()};
  }
  double count() const { return static_cast<double>(config.batch * config.context); }

  RunConfig config;
  Ranks& ranks;
  Eigen::ThreadPool pool;
  const Device device;
  Profile profile;
  ContextRing ring;
  Batch batch;
  Transformer<double> model;
  GradientSums<double> sums;
  Parameters<double> gradient;
};

// The bounds are those of gradient_test.cpp.
TEST(TrainingOnRanks, GradientIsThatOfCentralDifferences) {
  constexpr double h = 1e-5;
  Case c{"yarn", Rates::learned, 19, started->all().count() == 1 ? 1 : 4};
  for (const RankGrid& grid : grids()) {
    Ranks& ranks = started->arrange(grid, 60);
    const RunConfig config = config_of(c);
    const std::vector<int> codes = text();
    Curve<double> run(config, codes, ranks);
    Slope slope(config, codes, ranks);
    const Parameters<double>& gradient = slope.at(run.weights);
    // Some of each tensor: all of it takes minutes where ranks share a processor.
    for (std::size_t i = 0; i < run.weights.layout().slots.size(); ++i) {
      const Index size = run.weights.slot(i).size();
      for (Index j = static_cast<Index>(i) % 3; j < size; j += std::max<Index>(1, size / 4)) {
        double& w = run.weights.data(i)[j];
        const double kept = w;
        w = kept + h;
        const double above = slope.loss(run.weights);
        w = kept - h;
        const double below = slope.loss(run.weights);
        w = kept;
        const double expected = (above - below) / (2 * h);
        EXPECT_NEAR(gradient.data(i)[j], expected, 1e-7 + 1e-6 * std::abs(expected))
            << "rank " << ranks.rank() << " of " << grid.data << " x " << grid.context << " "
            << eigen_rope::name_of(grid.sharding) << ", " << run.weights.slot(i).name << " " << j;
      }
    }
  }
}

TEST(Ranks, TheGridMustHaveAsManyAsWereStarted) {
  EXPECT_THROW(started->arrange({started->all().count() + 1, 1}, 60), std::runtime_error);
}

}  // namespace
}  // namespace train_lm

int main(int argc, char** argv) {
  const std::unique_ptr<train_lm::StartedRanks> ranks = train_lm::start_ranks(argc, argv);
  train_lm::started = ranks.get();
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::stoi(argv[1]) != ranks->all().count()) {
    std::cerr << "mpirun was to start " << argv[1] << " ranks, got " << ranks->all().count()
              << "\n";
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  ranks->leave();
  return result;
}
