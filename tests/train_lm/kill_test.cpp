// SPDX-License-Identifier: Apache-2.0
//
// The program train_lm, killed, without power, with a full disk, where it may not write: what it
// reported as saved is there, nothing half is taken for whole, and the resumed run ends with the
// files of an unbroken one, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "checkpoint.hpp"
#include "error.hpp"
#include "files.hpp"
#include "support/killed_program.hpp"

namespace train_lm {
namespace {

using namespace kill_test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class TrainerKill : public testing::Test {
 protected:
  TrainerKill() {
    std::string text;
    for (int i = 0; i < 12; ++i)
      text += "the quick brown fox jumps over the lazy dog, again and again. ";
    write_bytes(folder_ / "text", text);
  }

  std::vector<std::string> words(const fs::path& out, const std::vector<std::string>& more) const {
    std::vector<std::string> all{TRAIN_LM_PROGRAM, "--text", (folder_ / "text").string(), "--out",
                                 out.string()};
    for (const char* word : {"--layers=1", "--heads=1", "--dim=4", "--context=4", "--batch=1",
                             "--threads=1", "--sample=4", "--save-every=1", "--validate-every=2"}) {
      all.emplace_back(word);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Without pictures: gnuplot is another program.
  static Ended train(const std::vector<std::string>& words, Circumstances circumstances = {}) {
    circumstances.environment.emplace_back("PATH=/nowhere");
    return run(words, circumstances);
  }

  // What is the same in every run that ends; what it wrote, if the checkpoint in `out` is of a run
  // with these words.
  static std::vector<std::string> results(const fs::path& out) {
    std::vector<std::string> all;
    for (const char* name : {"default.safetensors", "none.safetensors", "losses.csv",
                             "positions.csv", "sample.txt", "report.txt"}) {
      all.push_back(content(out / name));
    }
    return all;
  }

  // Steps of a run that were reported as saved, on any of the lines.
  static std::int64_t reported(const std::string& out, const std::string& label) {
    std::int64_t most = 0;
    const std::regex line(label + ": step ([0-9]+) saved\n");
    for (std::sregex_iterator match(out.begin(), out.end(), line), end; match != end; ++match)
      most = std::max(most, std::stol((*match)[1]));
    return most;
  }

  static void expect_saved(const fs::path& out, const std::string& name, std::int64_t step) {
    const fs::path path = out / (name + ".safetensors");
    if (step == 0) return;
    const StoredCheckpoint stored = load_newest_checkpoint(path);
    // Where there are no hard links, the newest has no name for a moment.
    EXPECT_TRUE(stored.damage.empty() || !fs::exists(path)) << stored.damage;
    EXPECT_GE(stored.checkpoint.state.step, step) << name;
  }

  // After a fault: what was reported is there, and every file that has the name of a checkpoint is
  // one.
  static void expect_nothing_lost(const fs::path& out, const Ended& ended) {
    expect_saved(out, "default", reported(ended.out, "RoPE default"));
    expect_saved(out, "none", reported(ended.out, "no RoPE"));
    if (!fs::exists(out)) return;
    for (const std::string& name : names_ending(out, ".safetensors"))
      EXPECT_NO_THROW(load_checkpoint(out / name)) << name;
  }

  // The words that go on from what is in `out`.
  static std::vector<std::string> resuming(const fs::path& out, std::vector<std::string> words) {
    if (checkpoint_exists(out / "default.safetensors")) words.emplace_back("--resume");
    return words;
  }

  static void expect_resumes_to(const std::vector<std::string>& expected, const fs::path& out,
                                const std::vector<std::string>& words) {
    const Ended ended = train(resuming(out, words));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(results(out) == expected);
    EXPECT_THAT(names_ending(out, ".tmp"), IsEmpty());
  }

  // A close after reading or flushing, and the removal of what is not there, may fail.
  static bool must_be_told(const Call& call) {
    return call.name == "write" || call.name == "fsync" || call.name == "rename";
  }

  static void expect_one_sentence(const Ended& ended) {
    EXPECT_EQ(ended.code, 1) << ended.out;
    EXPECT_THAT(ended.err, StartsWith("train_lm: "));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }

  const fs::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_{};
};

// Each run goes on where the one before was killed, until one reaches its end; then another begins.
TEST_F(TrainerKill, KilledAtThirtyMomentsItGoesOn) {
  constexpr int kills = 30, least_working = 10, most_tries = 20 * kills;
  const auto words_for = [&](const fs::path& out) { return words(out, {"--steps=5"}); };
  const Ended unbroken = train(words_for(folder() / "unbroken"));
  ASSERT_EQ(unbroken.code, 0) << unbroken.err;
  ASSERT_EQ(reported(unbroken.out, "RoPE default"), 5);
  ASSERT_EQ(reported(unbroken.out, "no RoPE"), 5);
  const std::vector<std::string> expected = results(folder() / "unbroken");

  std::chrono::microseconds whole = unbroken.took;
  int killed = 0, working = 0, finished = 0;
  const auto out = [&] { return folder() / ("out" + std::to_string(finished)); };
  for (int i = 0; (killed < kills || working < least_working) && i < most_tries; ++i) {
    const bool anew = !fs::exists(out());
    Circumstances circumstances;
    // All of i + 1/2 thirtieths of what a run takes, in an order that mixes early and late.
    circumstances.kill_after = whole * (2 * (i * 7 % kills) + 1) / (2 * kills);
    const Ended ended = train(resuming(out(), words_for(out())), circumstances);
    expect_nothing_lost(out(), ended);
    if (ended.killed) {
      ++killed;
      working += ended.out.empty() ? 0 : 1;
      // The machine has become slower, or faster, since.
      if (ended.out.empty() && 2 * circumstances.kill_after > whole) whole += whole / 4;
      continue;
    }
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(results(out()) == expected);
    if (anew) whole = std::min(whole, ended.took);
    ++finished;
  }
  expect_resumes_to(expected, out(), words_for(out()));
  EXPECT_GE(killed, kills);
  EXPECT_GE(working, least_working);
  RecordProperty("killed", killed);
  RecordProperty("working", working);
  RecordProperty("finished", finished);
}

TEST_F(TrainerKill, AFaultAtEveryCallThatChangesAFile) {
  const auto words_for = [&](const fs::path& out) {
    return words(out, {"--steps=2", "--no-comparison"});
  };
  const fs::path unbroken = folder() / "unbroken", log = folder() / "calls";
  const Ended whole = train(words_for(unbroken), fault("none", 0, unbroken, log));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::vector<std::string> expected = results(unbroken);
  const std::vector<Call> all = calls(log);
  EXPECT_EQ(durability_fault(all), "");
  const auto count = [&](const char* name) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Call& call) { return call.name == name; });
  };
  ASSERT_EQ(count("rename"), 2 + 5);  // two checkpoints, four tables, a script of gnuplot's
  ASSERT_EQ(count("link"), 1);

  const TemporaryFolder memory(Medium::memory);
  int faults = 0;
  for (const char* kind : {"kill", "torn", "power", "fail"}) {
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (same_as_the_one_before(kind, all, n)) continue;
      SCOPED_TRACE(std::string(kind) + " at " + all[n].name + " " + all[n].path);
      const fs::path out = memory / "out";
      const Ended ended = train(words_for(out), fault(kind, static_cast<long>(n) + 1, out));
      ++faults;
      expect_nothing_lost(out, ended);
      if (kind == std::string("fail")) {
        if (ended.code != 0) expect_one_sentence(ended);
        EXPECT_TRUE(ended.code == 1 || !must_be_told(all[n]));
        EXPECT_TRUE(!fs::exists(out) || names_ending(out, ".tmp").empty());
      } else {
        EXPECT_TRUE(ended.killed);
      }
      expect_resumes_to(expected, out, words_for(out));
      fs::remove_all(out);
    }
  }
  RecordProperty("faults", faults);
}

TEST_F(TrainerKill, AFullDiskIsASentenceAndTheLastCheckpointStays) {
  const fs::path out = folder() / "out";
  Circumstances full;
  full.largest_file = 1000;  // the checkpoint is larger, what is printed is not
  const Ended none = train(words(out, {"--steps=4"}), full);
  expect_one_sentence(none);
  EXPECT_EQ(none.err, "train_lm: cannot write " + (out / "default.safetensors.tmp").string() +
                          ": File too large; nothing of this run is saved\n");
  EXPECT_THAT(names_ending(out, ""), IsEmpty());

  ASSERT_EQ(train(words(out, {"--steps=4", "--stop-at=2"})).code, 0);
  const std::string saved = content(out / "default.safetensors");
  const Ended more = train(words(out, {"--steps=4", "--resume"}), full);
  expect_one_sentence(more);
  EXPECT_THAT(more.err,
              HasSubstr("File too large; step 2 is saved and --resume continues from it\n"));
  EXPECT_EQ(content(out / "default.safetensors"), saved);
  EXPECT_THAT(names_ending(out, ".tmp"), IsEmpty());
  EXPECT_EQ(train(words(out, {"--steps=4", "--resume"})).code, 0);
}

TEST_F(TrainerKill, WhatCannotBePrintedIsASentence) {
  const fs::path out = folder() / "out";
  Circumstances full;
  full.out = "/dev/full";
  const Ended ended = train(words(out, {"--steps=2"}), full);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("train_lm: cannot write to the standard output\n"));
  EXPECT_EQ(train(resuming(out, words(out, {"--steps=2"}))).code, 0);
}

TEST_F(TrainerKill, AFolderThatCannotBeWrittenIsRefusedBeforeTraining) {
  const fs::path out = folder() / "out";
  ASSERT_EQ(train(words(out, {"--steps=2"})).code, 0);
  const std::vector<std::string> before = results(out);
  fs::permissions(out, fs::perms::owner_read | fs::perms::owner_exec);
  Circumstances ordinary;
  ordinary.obeys_permissions = true;
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--steps=3"}, {"--resume"}}) {
    const Ended ended = train(words(out, more), ordinary);
    expect_one_sentence(ended);
    EXPECT_EQ(ended.err,
              "train_lm: cannot write to the folder " + out.string() + ": Permission denied\n");
    EXPECT_EQ(ended.out, "");
  }
  const Ended below = train(words(out / "below", {"--steps=3"}), ordinary);
  expect_one_sentence(below);
  EXPECT_EQ(below.err, "train_lm: cannot make the folder " + (out / "below").string() +
                           ": Permission denied\n");
  fs::permissions(out, fs::perms::owner_all);
  EXPECT_TRUE(results(out) == before);

  // Nobody may write there.
  for (const fs::path& nowhere :
       {folder() / "text" / "below", fs::path("/proc/train_lm"), fs::path("/dev/null")}) {
    const Ended ended = train(words(nowhere, {"--steps=3"}));
    expect_one_sentence(ended);
    EXPECT_THAT(ended.err,
                StartsWith("train_lm: cannot make the folder " + nowhere.string() + ": "));
  }
}

TEST_F(TrainerKill, AnUnreadableCheckpointIsNotReplacedByTheOneBefore) {
  const fs::path out = folder() / "out";
  ASSERT_EQ(train(words(out, {"--steps=2"})).code, 0);
  fs::permissions(out / "default.safetensors", fs::perms::none);
  Circumstances ordinary;
  ordinary.obeys_permissions = true;
  const Ended ended = train(words(out, {"--resume"}), ordinary);
  expect_one_sentence(ended);
  EXPECT_EQ(ended.err, "train_lm: cannot open the checkpoint " +
                           (out / "default.safetensors").string() + ": Permission denied\n");
}

TEST_F(TrainerKill, ADamagedCheckpointCostsTheStepsSinceTheOneBefore) {
  const fs::path out = folder() / "out", newest = out / "default.safetensors";
  const auto words_for = [&](const fs::path& place) {
    return words(place, {"--steps=6", "--no-comparison"});
  };
  ASSERT_EQ(train(words_for(folder() / "unbroken")).code, 0);
  const std::vector<std::string> expected = results(folder() / "unbroken");
  std::vector<std::string> beginning = words_for(out);
  beginning.emplace_back("--stop-at=4");
  ASSERT_EQ(train(beginning).code, 0);
  std::string damaged = content(newest);
  damaged[damaged.size() / 2] ^= 1;
  write_bytes(newest, damaged);
  std::vector<std::string> again = words_for(out);
  again.emplace_back("--resume");
  const fs::path log = folder() / "calls";
  const fs::path kept = folder() / "kept";
  fs::copy(out, kept);
  const Ended ended = train(again, fault("none", 0, out, log));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("going on from the checkpoint before it, step 3\n"));
  EXPECT_EQ(content(out / "default.damaged.safetensors"), damaged);
  EXPECT_TRUE(results(out) == expected);

  // Killed at any call until the first new checkpoint has its name, the good one outlives that too.
  const std::vector<Call> all = calls(log);
  const auto saved = std::find_if(all.begin(), all.end(), [&](const Call& call) {
    return call.name == "rename" && call.other == newest;
  });
  ASSERT_NE(saved, all.end());
  for (long n = 1; n <= saved - all.begin() + 2; ++n) {
    SCOPED_TRACE(n);
    fs::remove_all(out);
    fs::copy(kept, out);
    EXPECT_TRUE(train(again, fault("kill", n, out)).killed);
    EXPECT_EQ(train(again).code, 0);
    EXPECT_TRUE(results(out) == expected);
  }
}

// The newest is renamed before the next one gets its name.
TEST_F(TrainerKill, WithoutHardLinks) {
  const auto words_for = [&](const fs::path& out) {
    return words(out, {"--steps=2", "--no-comparison"});
  };
  const fs::path unbroken = folder() / "unbroken", log = folder() / "calls";
  Circumstances circumstances = fault("none", 0, unbroken, log);
  circumstances.environment.emplace_back("EIGEN_ROPE_FAULT_LINKS=none");
  ASSERT_EQ(train(words_for(unbroken), circumstances).code, 0);
  const std::vector<std::string> expected = results(unbroken);
  EXPECT_EQ(load_checkpoint(unbroken / "default.before.safetensors").state.step, 1);
  const std::vector<Call> all = calls(log);
  const auto link =
      std::find_if(all.begin(), all.end(), [](const Call& call) { return call.name == "link"; });
  ASSERT_NE(link, all.end());
  for (long n = link - all.begin(); n < link - all.begin() + 6; ++n) {
    const fs::path out = folder() / ("out" + std::to_string(n));
    circumstances = fault("kill", n, out);
    circumstances.environment.emplace_back("EIGEN_ROPE_FAULT_LINKS=none");
    const Ended ended = train(words_for(out), circumstances);
    EXPECT_TRUE(ended.killed);
    ASSERT_GE(reported(ended.out, "RoPE default"), 1);
    expect_nothing_lost(out, ended);
    expect_resumes_to(expected, out, words_for(out));
  }
}

TEST_F(TrainerKill, AFolderHasOneTrainerAtATime) {
  const fs::path out = folder() / "out";
  fs::create_directory(out);
  {
    const FolderLock other(out);
    const Ended ended = train(words(out, {"--steps=2"}));
    expect_one_sentence(ended);
    EXPECT_THAT(ended.err, HasSubstr("another train_lm is writing to " + out.string()));
  }
  EXPECT_EQ(train(words(out, {"--steps=2"})).code, 0);
}

}  // namespace
}  // namespace train_lm
