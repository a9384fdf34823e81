// SPDX-License-Identifier: Apache-2.0
//
// The parts of a profiled step sum to the step, and the table and the CSV file say what was
// measured.
#include "profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "trainer.hpp"

namespace train_lm {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

double part_seconds(const Profile::Step& step, Part part) {
  const auto& ways = step.parts[static_cast<std::size_t>(part)];
  return ways[0] + ways[1];
}

double sum_of_parts(const Profile::Step& step) {
  double sum = 0;
  for (std::size_t part = 0; part < part_count; ++part)
    sum += part_seconds(step, static_cast<Part>(part));
  return sum;
}

/// Two steps of a small model, with the seconds that passed outside.
struct Profiled {
  explicit Profiled(Profiling profiling) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "where does the time of a step go? ";
    const Corpus corpus(text);
    RunConfig config;
    config.model = {corpus.vocabulary.size(), 1, 2, 16};
    config.context = 24;
    config.batch = 5;
    Eigen::ThreadPool pool(2);
    const Device device(&pool, 2);
    RunState state(config);
    Ranks alone;
    Trainer trainer(config, corpus, device, alone, profiling);
    for (int i = 0; i < 2; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      trainer.step(state);
      outside.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    steps = trainer.profile();
  }

  std::vector<Profile::Step> steps;
  std::vector<double> outside;
};

TEST(Profile, PartsSumToTheStep) {
  const Profiled profiled(Profiling::on);
  ASSERT_EQ(profiled.steps.size(), 2U);
  for (std::size_t i = 0; i < profiled.steps.size(); ++i) {
    const Profile::Step& step = profiled.steps[i];
    // Sums of some thirty numbers of at most the step's size, each rounded.
    EXPECT_NEAR(sum_of_parts(step), step.seconds, 64 * 2.3e-16 * step.seconds);
    EXPECT_GT(step.seconds, 0);
    EXPECT_LE(step.seconds, profiled.outside[i]);
    for (std::size_t part = 0; part < part_count; ++part) {
      EXPECT_GE(part_seconds(step, static_cast<Part>(part)), 0) << name(static_cast<Part>(part));
      // Tables are kept where rates are fixed, and one rank waits for no other.
      const bool once =
          static_cast<Part>(part) == Part::tables || static_cast<Part>(part) == Part::ranks;
      if (!once) {
        EXPECT_NE(part_seconds(step, static_cast<Part>(part)), 0) << name(static_cast<Part>(part));
      }
    }
  }
}

TEST(Profile, IsEmptyUnlessAskedFor) {
  EXPECT_TRUE(Profiled(Profiling::off).steps.empty());
  EXPECT_EQ(profile_table({}, 100), "");
}

// What passes between a watch's start and its lap, and nothing else, belongs to the part; what no
// watch saw is waiting.
TEST(Profile, AWatchGivesEachPartItsTime) {
  constexpr auto pause = std::chrono::milliseconds(20);
  Profile profile(2, Profiling::on);
  profile.begin_step();
  std::this_thread::sleep_for(pause);
  profile.laps(0).lap(Part::batch);
  profile.laps(1).start();
  std::this_thread::sleep_for(pause);
  profile.laps(0).lap(Part::mlp);
  profile.laps(1).lap(Part::mlp, Way::backward);
  std::this_thread::sleep_for(pause);
  profile.end_step();
  const Profile::Step& step = profile.steps().front();
  const double least = std::chrono::duration<double>(pause).count();
  EXPECT_GE(part_seconds(step, Part::batch), least / 2);
  EXPECT_GE(part_seconds(step, Part::mlp), least);
  EXPECT_GE(part_seconds(step, Part::waiting), 1.5 * least - 1e-12);
  EXPECT_EQ(part_seconds(step, Part::adam), 0);
}

/// Steps of 2, 4 and 6 ms, of which the MLP takes a quarter forward and a half backward.
std::vector<Profile::Step> known_steps() {
  std::vector<Profile::Step> steps(3);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].seconds = 2e-3 * static_cast<double>(i + 1);
    steps[i].parts[static_cast<std::size_t>(Part::mlp)] = {0.25 * steps[i].seconds,
                                                           0.5 * steps[i].seconds};
    steps[i].parts[static_cast<std::size_t>(Part::waiting)][0] = 0.25 * steps[i].seconds;
  }
  return steps;
}

TEST(Profile, TheTableHasMeansOfAllStepsButTheFirst) {
  const std::string table = profile_table(known_steps(), 12);
  EXPECT_THAT(table, StartsWith("ms of a step       forward  backward    share\n"));
  EXPECT_THAT(table, HasSubstr("\nmlp                   1.25      2.50    75.0%\n"));
  EXPECT_THAT(table, HasSubstr("\nwaiting               1.25              25.0%\n"));
  EXPECT_THAT(table, HasSubstr("\nstep                            5.00   100.0%\n"));
  EXPECT_THAT(table, HasSubstr("\nmedian step 6.00 ms, 2.0 thousand characters a second\n"));
  EXPECT_THAT(table, Not(HasSubstr("adam")));
}

TEST(Profile, TheFileHasALinePerStep) {
  std::istringstream csv(profile_csv(known_steps()));
  std::string head, first, second, third, more;
  std::getline(csv, head);
  std::getline(csv, first);
  std::getline(csv, second);
  std::getline(csv, third);
  EXPECT_EQ(head,
            "step,milliseconds,batch,tables,embedding,norms,projections,rotation,scores,softmax,"
            "values,mlp,activation,logits,cross entropy,summing,adam,ranks,waiting");
  EXPECT_THAT(second, StartsWith("2,4.000000,0.000000,"));
  EXPECT_THAT(second, HasSubstr(",3.000000,"));
  EXPECT_THAT(second, testing::EndsWith(",1.000000"));
  EXPECT_FALSE(third.empty());
  EXPECT_FALSE(std::getline(csv, more));
}

}  // namespace
}  // namespace train_lm
