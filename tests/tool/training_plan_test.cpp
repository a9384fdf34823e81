// SPDX-License-Identifier: Apache-2.0
//
// The costs of a plan: how they depend on ranks, tokens, speeds and links. That they are those of a
// training is tests/train_lm/plan_test.cpp's.
#include "tool/plan/training_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/training_models.hpp"
#include "tool/plan/causal_work.hpp"

namespace eigen_rope::tool::training_plan_tests {
namespace {

using eigen_rope::test::error_of;
using test::llama_31_8b;
using test::small_windows;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PlanOptions options_for(Index context, Index ranks, Sharding sharding = Sharding::zigzag) {
  PlanOptions options;
  options.context = context;
  options.ranks = ranks;
  options.sharding = sharding;
  return options;
}

StepPlan step_of(const TrainingModel& model, const PlanOptions& options) {
  return make_training_plan(model, options).step;
}

constexpr Index million = 1 << 20;

TEST(TrainingPlan, TablesAreOfTheRanksOwnTokens) {
  const double whole = step_of(llama_31_8b(), options_for(million, 1)).memory.tables;
  EXPECT_EQ(whole, 128.0 * million * sizeof(float));
  for (const Index ranks : {2, 64, 1024}) {
    const TrainingPlan plan = make_training_plan(llama_31_8b(), options_for(million, ranks));
    EXPECT_EQ(plan.step.memory.tables * static_cast<double>(ranks), whole);
    EXPECT_EQ(plan.global_tables, whole);
  }
  // Two kinds of layers have a table each, of 16 and of 8 dims, unless they rotate alike.
  TrainingModel model = small_windows();
  EXPECT_EQ(step_of(model, options_for(4096, 1)).memory.tables, 24.0 * 4096 * 4);
  model.layers[1] = {"sliding_attention", 1, 16, 16, 64, 0};
  EXPECT_EQ(step_of(model, options_for(4096, 1)).memory.tables, 16.0 * 4096 * 4);
  model.layers[1] = {"", 1, 16, 0, 0, -1};
  EXPECT_EQ(step_of(model, options_for(4096, 1)).memory.tables, 16.0 * 4096 * 4);
}

TEST(TrainingPlan, MemoryIsLinearInTheTokensOfARank) {
  const auto beside_state = [](Index context, Index ranks) {
    const RankMemory memory = step_of(llama_31_8b(), options_for(context, ranks)).memory;
    return memory.total() - memory.state;
  };
  EXPECT_DOUBLE_EQ(beside_state(2 * million, 64), 2 * beside_state(million, 64));
  EXPECT_DOUBLE_EQ(beside_state(2 * million, 128), beside_state(million, 64));
}

TEST(TrainingPlan, StateIsThatOfEveryRank) {
  const double parameters = parameters_of(llama_31_8b());
  for (const Index ranks : {1, 1024})
    EXPECT_EQ(step_of(llama_31_8b(), options_for(million, ranks)).memory.state, 16 * parameters);
}

TEST(TrainingPlan, HalfAsManyBytesOfAScalarAreHalfTheTrafficAndNotTheTables) {
  PlanOptions options = options_for(million, 8);
  const StepPlan full = step_of(llama_31_8b(), options);
  options.scalar = ScalarType::bf16;
  const StepPlan half = step_of(llama_31_8b(), options);
  EXPECT_EQ(2 * half.traffic.total(), full.traffic.total());
  EXPECT_EQ(2 * half.memory.layers, full.memory.layers);
  EXPECT_EQ(half.memory.tables, full.memory.tables);
  EXPECT_EQ(half.memory.state, full.memory.state);
}

TEST(TrainingPlan, ARingSendsBlocksForwardAndTheirGradientsBack) {
  for (const Index ranks : {2, 3, 64}) {
    const StepPlan step = step_of(llama_31_8b(), options_for(million, ranks));
    const double block = 2 * 8 * 128.0 * static_cast<double>(step.places) * sizeof(float);
    const auto r = static_cast<double>(ranks);
    EXPECT_EQ(step.traffic.ring, 32 * block * ((r - 1) + (r - 1) + r));
    EXPECT_EQ(step.traffic.summed, 4 * parameters_of(llama_31_8b()));
    EXPECT_DOUBLE_EQ(step.traffic.sums, 2 * (r - 1) / r * step.traffic.summed);
  }
  EXPECT_EQ(step_of(llama_31_8b(), options_for(million, 1)).traffic.total(), 0);
}

TEST(TrainingPlan, TimesAreWorkOverSpeed) {
  PlanOptions options = options_for(million, 16);
  options.speeds = {4e13, 2e13, 1e12, 5e11};
  const StepTime time = step_of(llama_31_8b(), options).time;
  const double places = million / 16.0;
  // All matrices but the embedding, whose rows are read: 2 operations forward, 4 backward.
  const double multiplied = parameters_of(llama_31_8b()) - 128256.0 * 4096 - 65 * 4096.0;
  EXPECT_NEAR(time.products, 6 * multiplied * places / 4e13, 1e-9 * time.products);
  // 7 products of 2 operations for each of 128 elements of 32 heads and of a pair.
  const double pairs = causal_work(million, 16, Sharding::zigzag).busiest_pairs;
  EXPECT_NEAR(time.attention, 32 * 14 * 32 * 128 * pairs / 2e13, 1e-9 * time.attention);
  // Both ways: 40 heads read and written, and a table read.
  EXPECT_NEAR(time.rotation, 32 * 2 * places * 4 * (2 * 40 * 128 + 128) / 1e12,
              1e-9 * time.rotation);
  options.speeds.rotation *= 2;
  EXPECT_DOUBLE_EQ(2 * step_of(llama_31_8b(), options).time.rotation, time.rotation);
}

TEST(TrainingPlan, ALinkThatIsFastEnoughIsNotWaitedFor) {
  PlanOptions options = options_for(million, 16);
  options.link = {1e30, 0};
  const StepTime time = step_of(llama_31_8b(), options).time;
  EXPECT_LT(time.passes + time.sums, 1e-15 * time.total());
  options.link = {1, 0};
  const StepPlan slow = step_of(llama_31_8b(), options);
  // Everything else is hidden: a pass of a byte a second takes the ring's bytes in seconds.
  EXPECT_NEAR(slow.time.passes + slow.time.attention, slow.traffic.ring, 0.01 * slow.traffic.ring);
}

TEST(TrainingPlan, ContiguousWaitsForTheLastRank) {
  const StepPlan zigzag = step_of(llama_31_8b(), options_for(million, 64));
  const StepPlan contiguous =
      step_of(llama_31_8b(), options_for(million, 64, Sharding::contiguous));
  EXPECT_NEAR(contiguous.time.attention / zigzag.time.attention, 2 - 1.0 / 64, 1e-3);
  EXPECT_NEAR(contiguous.balance, 2 - 1.0 / 64, 1e-3);
  EXPECT_EQ(zigzag.balance, 1);
  const TrainingPlan plan = make_training_plan(llama_31_8b(), options_for(million, 64));
  EXPECT_EQ(plan.zigzag, zigzag.balance);
  EXPECT_EQ(plan.contiguous, contiguous.balance);
}

TEST(TrainingPlan, WindowsTakeNoMoreTimeThanAllTokens) {
  TrainingModel whole = small_windows();
  whole.layers[1].window = 0;
  const PlanOptions options = options_for(4096, 4);
  const double windowed = step_of(small_windows(), options).time.attention;
  EXPECT_LT(windowed, step_of(whole, options).time.attention);
  // The layer that sees 64 tokens of 4096 has about 1/32 of the other one's pairs.
  EXPECT_GT(windowed, 0.5 * step_of(whole, options).time.attention);
}

TEST(TrainingPlan, IsMadeForPowersOfTwoAndTheRanksAskedFor) {
  const TrainingPlan plan = make_training_plan(llama_31_8b(), options_for(million, 48));
  std::vector<Index> ranks;
  for (const StepPlan& step : plan.by_ranks) ranks.push_back(step.ranks);
  EXPECT_THAT(ranks, testing::ElementsAre(1, 2, 4, 8, 16, 32, 48, 64, 128, 256, 512, 1024));
}

TEST(TrainingPlan, SaysWhatPaddingTakes) {
  const auto plan = [](Index context, Index ranks, Sharding sharding) {
    return make_training_plan(llama_31_8b(), options_for(context, ranks, sharding));
  };
  EXPECT_THAT(plan(1000, 4, Sharding::zigzag).notes, Not(Contains(HasSubstr("padding"))));
  EXPECT_THAT(plan(1001, 4, Sharding::zigzag).notes,
              Contains("1001 tokens are not a multiple of 8 chunks: a window ends in padding of 7, "
                       "which takes work and memory as well"));
  EXPECT_THAT(plan(5, 4, Sharding::zigzag).warnings, Not(Contains(HasSubstr("padding"))));
  EXPECT_THAT(plan(3, 4, Sharding::zigzag).warnings,
              Contains("3 tokens leave 1 of 4 ranks with nothing but padding"));
  EXPECT_THAT(plan(5, 4, Sharding::contiguous).warnings,
              Contains("5 tokens leave 1 of 4 ranks with nothing but padding"));
}

TEST(TrainingPlan, SaysForHowManyRanksTheMemoryIsEnough) {
  PlanOptions options = options_for(million, 8);
  options.memory = 140 * 0x1p30;
  const TrainingPlan plan = make_training_plan(llama_31_8b(), options);
  Index enough = 1;
  while (step_of(llama_31_8b(), options_for(million, enough)).memory.total() > *options.memory)
    enough *= 2;
  EXPECT_GT(enough, 8);
  EXPECT_THAT(plan.notes,
              Contains("140 GiB a rank are enough from " + std::to_string(enough) + " ranks on"));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr(", which is more than 140 GiB")));
  options.memory = 100 * 0x1p30;
  EXPECT_THAT(make_training_plan(llama_31_8b(), options).warnings,
              Contains("no number of ranks makes it fit 100 GiB: parameters, gradient and moments "
                       "take 119.7 GiB on each"));
}

TEST(TrainingPlan, WarnsOfContiguousShardsAndOfPassesThatTakeLonger) {
  EXPECT_THAT(make_training_plan(llama_31_8b(), options_for(million, 64)).warnings, IsEmpty());
  EXPECT_THAT(
      make_training_plan(llama_31_8b(), options_for(million, 64, Sharding::contiguous)).warnings,
      Contains("the last rank has 1.98 times the mean of the causal work, and the others wait for "
               "it: --sharding zigzag shares it evenly"));
  PlanOptions options = options_for(65536, 1024);
  options.speeds = {4e14, 3e14, 2e12, 2e12};
  const TrainingPlan plan = make_training_plan(llama_31_8b(), options);
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("of a step are waiting for the ring")));
  EXPECT_THAT(plan.notes, Contains(HasSubstr("a step is shortest on ")));
}

TEST(TrainingPlan, RefusesWhatCannotBePlanned) {
  const auto refusal = [](const PlanOptions& options, Index context = 131072) {
    return error_of([&] {
      TrainingModel model = llama_31_8b();
      model.context = context;
      make_training_plan(model, options);
    });
  };
  EXPECT_EQ(refusal(options_for(0, 1), 0),
            "[rope] the model does not say for how many tokens it is: give --context");
  EXPECT_EQ(make_training_plan(llama_31_8b(), options_for(0, 1)).options.context, 131072);
  EXPECT_EQ(refusal(options_for(-1, 1)),
            "[rope] the context must be a whole number from 1 to 2147483648, got -1");
  EXPECT_EQ(refusal(options_for(8, 0)),
            "[rope] ranks must be a whole number from 1 to 4096, got 0");
  PlanOptions options = options_for(8, 1);
  options.batch = 0;
  EXPECT_EQ(refusal(options), "[rope] the batch must be from 1 to 1048576, got 0");
  options.batch = 1;
  options.speeds.products = 0;
  EXPECT_THAT(refusal(options), HasSubstr("a speed"));
}

}  // namespace
}  // namespace eigen_rope::tool::training_plan_tests
