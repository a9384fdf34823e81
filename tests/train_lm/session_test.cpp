// SPDX-License-Identifier: Apache-2.0
//
// Which runs a session has, and which session --resume continues.
#include "session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "error.hpp"
#include "train_lm/temporary_folder.hpp"

namespace train_lm {
namespace {

using testing::ElementsAre;

class SessionTest : public TemporaryFolderTest {
 protected:
  SessionTest() : corpus_("abcabcabcabcabcabcabcabc") {}

  Options options(Rates rates) const {
    Options o;
    o.out = folder().string();
    o.run.model.layers = 1;
    o.run.model.heads = 1;
    o.run.model.dim = 4;
    o.run.model.rates = rates;
    return o;
  }

  /// Starts a session as the program does, and leaves checkpoints of one step.
  void start(const Options& o) {
    std::vector<SessionRun> runs = make_runs(o, corpus_);
    set_aside_old_checkpoints(runs);
    for (SessionRun& run : runs) {
      run.state.step = 1;
      run.state.train_bits = {2.0};
      save_checkpoint(run.checkpoint, run.config, run.state);
    }
  }

  /// What --resume alone continues: the names of its runs, those that stand at their first step
  /// marked.
  std::vector<std::string> resumed() const {
    Options o;
    o.out = folder().string();
    o.resume = true;
    std::vector<std::string> names;
    for (const SessionRun& run : make_runs(complete_options(o), corpus_))
      names.push_back(run.config.name() + (run.state.step == 1 ? "" : " anew"));
    return names;
  }

  Corpus corpus_;
};

TEST_F(SessionTest, LearnedRatesStandBesideFixedOnesAndNone) {
  start(options(Rates::learned));
  EXPECT_THAT(resumed(), ElementsAre("default-learned", "default", "none"));
}

TEST_F(SessionTest, TheFirstModelAlone) {
  Options o = options(Rates::learned);
  o.run.comparison = false;
  start(o);
  EXPECT_THAT(resumed(), ElementsAre("default-learned"));
}

TEST_F(SessionTest, ResumesTheLastSession) {
  start(options(Rates::learned));
  start(options(Rates::fixed));
  EXPECT_THAT(resumed(), ElementsAre("default", "none"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "default-learned.previous.safetensors"));
  start(options(Rates::learned));
  EXPECT_THAT(resumed(), ElementsAre("default-learned", "default", "none"));
}

TEST_F(SessionTest, ADamagedCheckpointGivesWayToTheOneBefore) {
  start(options(Rates::fixed));
  for (const SessionRun& run : make_runs(options(Rates::fixed), corpus_)) {
    RunState state(run.config);
    state.step = 2;
    state.train_bits = {2.0, 2.0};
    save_checkpoint(run.checkpoint, run.config, state);
  }
  write("default.safetensors", "damaged");
  Options o;
  o.out = folder().string();
  o.resume = true;
  const std::vector<SessionRun> runs = make_runs(complete_options(o), corpus_);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].state.step, 1);
  EXPECT_NE(runs[0].damage, "");
  EXPECT_EQ(runs[1].state.step, 2);
  EXPECT_EQ(runs[1].damage, "");

  write("default.safetensors.tmp", "half");
  set_aside_old_checkpoints(runs);
  EXPECT_EQ(read("default.damaged.safetensors"), "damaged");
  EXPECT_FALSE(std::filesystem::exists(folder() / "default.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "default.safetensors.tmp"));
  EXPECT_THAT(make_runs(complete_options(o), corpus_)[0].damage,
              testing::StartsWith("there is no "));
}

TEST_F(SessionTest, BothCheckpointsOfAnEarlierSessionAreSetAside) {
  start(options(Rates::fixed));
  write("default.before.safetensors", "before");
  const std::string newest = read("default.safetensors");
  start(options(Rates::fixed));
  EXPECT_EQ(read("default.before.previous.safetensors"), "before");
  EXPECT_EQ(read("default.previous.safetensors"), newest);
  EXPECT_FALSE(std::filesystem::exists(folder() / "default.before.safetensors"));
}

TEST_F(SessionTest, RefusesToResumeWhatIsNotThere) {
  start(options(Rates::fixed));
  Options o = options(Rates::learned);
  o.resume = true;
  o.given.insert("learn-frequencies");
  EXPECT_THROW(complete_options(o), Error);
}

TEST_F(SessionTest, FixedRatesDoNotDependOnTheFactorOfLearnedOnes) {
  Options o = options(Rates::learned);
  o.run.adam.rates_factor = 7.0;
  const std::vector<SessionRun> runs = make_runs(o, corpus_);
  EXPECT_EQ(runs[0].config.adam.rates_factor, 7.0);
  EXPECT_EQ(runs[1].config.adam.rates_factor, AdamConfig().rates_factor);
}

TEST(CheckSizes, LearnedRatesNeedARotation) {
  RunConfig run;
  run.model.rates = Rates::learned;
  EXPECT_NO_THROW(check_sizes(run));
  run.rope.kind = "none";
  EXPECT_THROW(check_sizes(run), Error);
}

}  // namespace
}  // namespace train_lm
