// SPDX-License-Identifier: Apache-2.0
//
// A step of the training allocates no memory after the first, on any of its threads.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "profile.hpp"
#include "support/allocations.hpp"
#include "trainer.hpp"

namespace train_lm {
namespace {

struct Case {
  std::string name;
  std::string rope;
  int threads;
  Profiling profiling;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AllocationTest : public testing::TestWithParam<Case> {};

/// Of the demo's sizes, at which the blocks that a product copies are largest, but with few windows
/// and characters.
RunConfig demo_config(const std::string& rope, const Corpus& corpus) {
  RunConfig config;
  config.rope.kind = rope;
  config.model.vocabulary = corpus.vocabulary.size();
  config.model.layers = 2;
  config.batch = 3;
  config.steps = 4;
  return config;
}

TEST_P(AllocationTest, NoStepAfterTheFirstAllocates) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "no memory is taken in a step, and none is given back. ";
  const Corpus corpus(text);
  const RunConfig config = demo_config(GetParam().rope, corpus);
  Eigen::ThreadPool pool(GetParam().threads);
  const Device device(&pool, GetParam().threads);
  RunState state(config);
  Ranks alone;
  Trainer trainer(config, corpus, device, alone, GetParam().profiling);
  const auto allocations_of_step = [&] {
    const int before = eigen_rope::test::allocations();
    trainer.step(state);
    return eigen_rope::test::allocations() - before;
  };
  EXPECT_GT(allocations_of_step(), 0) << "nothing counts allocations";
  for (int step = 2; step <= config.steps; ++step)
    EXPECT_EQ(allocations_of_step(), 0) << "step " << step;
}

INSTANTIATE_TEST_SUITE_P(Trainers, AllocationTest,
                         testing::Values(Case{"one_thread", "default", 1, Profiling::off},
                                         Case{"two_threads", "default", 2, Profiling::off},
                                         Case{"more_threads_than_windows", "yarn", 5,
                                              Profiling::off},
                                         Case{"without_rotation", "none", 2, Profiling::off},
                                         Case{"profiled", "default", 2, Profiling::on}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace train_lm
