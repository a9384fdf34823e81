// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: they hold everything, a resumed run is the unbroken one bit for bit, and nothing
// damages an existing one.
#include "checkpoint.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "error.hpp"
#include "files.hpp"
#include "stored_tensors.hpp"
#include "train_lm/temporary_folder.hpp"
#include "trainer.hpp"

namespace train_lm {
namespace {

constexpr int threads = 2;

std::string repeated_text() {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "the quick brown fox jumps over the lazy dog, again and again. ";
  return text;
}

class CheckpointTest : public TemporaryFolderTest {
 protected:
  CheckpointTest() : corpus_(repeated_text()), pool_(threads), device_(&pool_, threads) {
    config_.model.vocabulary = corpus_.vocabulary.size();
    config_.model.layers = 1;
    config_.model.heads = 2;
    config_.model.dim = 16;
    config_.context = 24;
    config_.batch = 4;
    config_.steps = 12;
    config_.seed = 7;
    config_.text_checksum = corpus_.checksum;
  }

  std::filesystem::path path() const { return folder() / "run.safetensors"; }

  /// `steps` steps from where the state stands.
  void advance(RunState& state, int steps) {
    Ranks alone;
    Trainer trainer(config_, corpus_, device_, alone);
    for (int i = 0; i < steps; ++i) trainer.step(state);
  }

  RunState saved_state() {
    RunState state(config_);
    advance(state, 3);
    state.validation.push_back({2, 4.25});
    state.threads = threads;
    save_checkpoint(path(), config_, state);
    return state;
  }

  Corpus corpus_;
  Eigen::ThreadPool pool_;
  Device device_;
  RunConfig config_;
};

void expect_same(const Parameters<float>& a, const Parameters<float>& b) {
  ASSERT_EQ(a.flat().size(), b.flat().size());
  EXPECT_EQ(std::memcmp(a.flat().data(), b.flat().data(),
                        sizeof(float) * static_cast<std::size_t>(a.flat().size())),
            0);
}

TEST_F(CheckpointTest, RoundTrip) {
  config_.rope.kind = "yarn";
  config_.rope.factor = 4.0;
  config_.adam.peak_rate = 0.1 + 0.2;
  config_.text = "/some/where";
  const RunState state = saved_state();
  const Checkpoint loaded = load_checkpoint(path());
  EXPECT_EQ(difference(config_, loaded.config), "");
  EXPECT_EQ(loaded.config.text, "/some/where");
  expect_same(loaded.state.weights, state.weights);
  expect_same(loaded.state.moments.m, state.moments.m);
  expect_same(loaded.state.moments.v, state.moments.v);
  EXPECT_EQ(loaded.state.step, 3);
  EXPECT_EQ(loaded.state.threads, threads);
  EXPECT_EQ(loaded.state.train_bits, state.train_bits);
  ASSERT_EQ(loaded.state.validation.size(), 1U);
  EXPECT_EQ(loaded.state.validation[0].step, 2);
  EXPECT_EQ(loaded.state.validation[0].bits, 4.25);
}

TEST_F(CheckpointTest, ResumedRunIsTheUnbrokenRun) {
  struct Kind {
    const char* rope;
    Rates rates;
  };
  for (const Kind& kind :
       {Kind{"default", Rates::fixed}, Kind{"none", Rates::fixed}, Kind{"yarn", Rates::learned}}) {
    config_.rope.kind = kind.rope;
    config_.model.rates = kind.rates;
    config_.adam.rates_factor = 2.5;
    RunState unbroken(config_);
    advance(unbroken, 12);
    RunState first(config_);
    advance(first, 5);
    save_checkpoint(path(), config_, first);
    Checkpoint loaded = load_checkpoint(path());
    advance(loaded.state, 7);
    EXPECT_EQ(loaded.state.train_bits, unbroken.train_bits) << config_.name();
    expect_same(loaded.state.weights, unbroken.weights);
    expect_same(loaded.state.moments.m, unbroken.moments.m);
    expect_same(loaded.state.moments.v, unbroken.moments.v);
    EXPECT_LT(unbroken.train_bits.back(), unbroken.train_bits.front());
  }
}

TEST_F(CheckpointTest, HoldsLearnedRates) {
  config_.model.rates = Rates::learned;
  config_.adam.rates_factor = 2.5;
  const std::vector<double> first =
      training_rope(config_.rope, config_.model.head_dim(), config_.context).rates();
  const RunState state = saved_state();
  const Checkpoint loaded = load_checkpoint(path());
  EXPECT_EQ(difference(config_, loaded.config), "");
  const std::vector<double> rates = loaded.state.weights.rates(0);
  ASSERT_EQ(rates.size(), first.size());
  EXPECT_EQ(rates, state.weights.rates(0));
  for (std::size_t k = 0; k < rates.size(); ++k)
    EXPECT_NE(rates[k], first[k]) << "pair " << k << " was not trained";
  EXPECT_EQ(decode(read("run.safetensors")).tensor("model.layers.0.attention.log_rates").shape,
            (std::vector<std::ptrdiff_t>{4}));
}

// A step of rates_factor 0 leaves the rates where they started, to the rounding of their
// logarithms, and the run is that with fixed ones.
TEST_F(CheckpointTest, LearnedRatesStartAsTheFixedOnes) {
  const RunState fixed(config_);
  config_.model.rates = Rates::learned;
  config_.adam.rates_factor = 0;
  RunState learned(config_);
  for (std::size_t i = 0; i < fixed.weights.layout().slots.size(); ++i) {
    ASSERT_EQ(fixed.weights.slot(i).name, learned.weights.slot(i).name);
    EXPECT_EQ(std::memcmp(fixed.weights.data(i), learned.weights.data(i),
                          sizeof(float) * static_cast<std::size_t>(fixed.weights.slot(i).size())),
              0);
  }
  advance(learned, 3);
  const std::vector<double> first =
      training_rope(config_.rope, config_.model.head_dim(), config_.context).rates();
  const std::vector<double> rates = learned.weights.rates(0);
  // log r is held to half an ulp: |log r| 2^-24.
  for (std::size_t k = 0; k < first.size(); ++k) {
    EXPECT_NEAR(
        rates[k], first[k],
        first[k] * (std::abs(std::log(first[k])) + 1) * std::numeric_limits<float>::epsilon());
  }
}

// As written before rates could be learned: without the entries that say whether they are.
TEST_F(CheckpointTest, LoadsCheckpointsFromBeforeRatesWereLearned) {
  const RunState state = saved_state();
  Safetensors file = decode(read("run.safetensors"));
  nlohmann::json config = nlohmann::json::parse(file.metadata.at("config"));
  ASSERT_EQ(config.erase("learn_frequencies"), 1U);
  ASSERT_EQ(config.at("adam").erase("rates_factor"), 1U);
  file.metadata["config"] = config.dump();
  write("run.safetensors", encode(file));
  const Checkpoint loaded = load_checkpoint(path());
  EXPECT_EQ(difference(config_, loaded.config), "");
  expect_same(loaded.state.weights, state.weights);
}

TEST_F(CheckpointTest, RefusesLearnedRatesOfNoRotation) {
  saved_state();
  Safetensors file = decode(read("run.safetensors"));
  nlohmann::json config = nlohmann::json::parse(file.metadata.at("config"));
  config["learn_frequencies"] = true;
  config["rope"]["kind"] = "none";
  file.metadata["config"] = config.dump();
  write("run.safetensors", encode(file));
  EXPECT_THROW(load_checkpoint(path()), Error);
}

TEST_F(CheckpointTest, TrainingSavesAndStopsWhereItIsTold) {
  RunState whole(config_);
  TrainingPlan plan{path(), 5, 4, 0, threads};
  Ranks alone;
  EXPECT_TRUE(train(config_, whole, corpus_, device_, alone, plan));
  EXPECT_EQ(whole.validation.size(), 3U);

  RunState first(config_);
  plan.stop_at = 6;
  EXPECT_FALSE(train(config_, first, corpus_, device_, alone, plan));
  Checkpoint loaded = load_checkpoint(path());
  EXPECT_EQ(loaded.state.step, 6);
  EXPECT_TRUE(train(config_, loaded.state, corpus_, device_, alone, plan));
  EXPECT_EQ(loaded.state.train_bits, whole.train_bits);
  ASSERT_EQ(loaded.state.validation.size(), 3U);
  EXPECT_EQ(loaded.state.validation[2].bits, whole.validation[2].bits);
}

// The layout of the format, read without this library's reader.
TEST_F(CheckpointTest, IsSafetensors) {
  const RunState state = saved_state();
  const std::string file = read("run.safetensors");
  std::size_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length * 256 + static_cast<unsigned char>(file[static_cast<std::size_t>(i)]);
  EXPECT_EQ(length % 8, 0U);
  const nlohmann::json header = nlohmann::json::parse(file.substr(8, length));
  const nlohmann::json& up = header.at("model.layers.0.mlp.up.weight");
  EXPECT_EQ(up.at("dtype"), "F32");
  EXPECT_EQ(up.at("shape"), (std::vector<int>{64, 16}));
  const auto begin = up.at("data_offsets").at(0).get<std::size_t>();
  EXPECT_EQ(up.at("data_offsets").at(1).get<std::size_t>(), begin + 64 * 16 * 4);
  float value = 0;
  std::memcpy(&value, file.data() + 8 + length + begin + 4 * 17, 4);  // row 1, column 1
  EXPECT_EQ(value, state.weights.matrix(state.weights.layout().layers[0].up)(1, 1));
  EXPECT_EQ(header.at("__metadata__").at("step"), "3");
  std::size_t covered = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__")
      covered += entry.at("data_offsets").at(1).get<std::size_t>() -
                 entry.at("data_offsets").at(0).get<std::size_t>();
  }
  EXPECT_EQ(8 + length + covered, file.size());
}

// The smallest model, so that every length and every bit can be tried.
class DamagedCheckpointTest : public TemporaryFolderTest {
 protected:
  DamagedCheckpointTest() {
    config_.model.vocabulary = 2;
    config_.model.layers = 1;
    config_.model.heads = 1;
    config_.model.dim = 2;
    config_.rope.kind = "none";
    config_.text = "text";
  }

  std::filesystem::path path() const { return folder() / "run.safetensors"; }

  void save(std::int64_t step) {
    RunState state(config_);
    state.step = step;
    state.train_bits.assign(static_cast<std::size_t>(step), 2.0);
    state.validation = {{step, 2.5}};
    save_checkpoint(path(), config_, state);
  }

  /// Why it cannot be loaded, after the words that name it; a failure if that is no such sentence.
  std::string reason() const {
    try {
      load_checkpoint(path());
    } catch (const Error& e) {
      const std::string words = e.what(),
                        start = "cannot use the checkpoint " + path().string() + ": ";
      EXPECT_EQ(words.substr(0, start.size()), start);
      EXPECT_EQ(words.find('\n'), std::string::npos) << words;
      return words.substr(start.size());
    }
    return {};
  }

  RunConfig config_;
};

TEST_F(DamagedCheckpointTest, CutAnywhere) {
  save(1);
  ASSERT_EQ(reason(), "");
  const std::string good = read("run.safetensors");
  write("run.safetensors", good + "x");
  EXPECT_NE(reason(), "");
  for (std::size_t size = good.size(); size-- > 0;) {
    std::filesystem::resize_file(path(), size);
    EXPECT_NE(reason(), "") << size << " bytes";
  }
  EXPECT_EQ(reason(), "it is too short for a safetensors file");
  RecordProperty("lengths", static_cast<int>(good.size()));
}

TEST_F(DamagedCheckpointTest, AnyBitChanged) {
  save(1);
  std::string bytes = read("run.safetensors");
  const int file = ::open(path().c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      const char changed = static_cast<char>(bytes[at] ^ (1 << bit));
      ASSERT_EQ(::pwrite(file, &changed, 1, static_cast<off_t>(at)), 1);
      ASSERT_NE(reason(), "") << "bit " << bit << " of byte " << at;
    }
    ASSERT_EQ(::pwrite(file, &bytes[at], 1, static_cast<off_t>(at)), 1);
  }
  ::close(file);
  EXPECT_EQ(reason(), "");
  RecordProperty("bits", static_cast<int>(bytes.size() * 8));
}

TEST_F(DamagedCheckpointTest, TheOneBeforeIsKeptAndUsed) {
  save(1);
  EXPECT_FALSE(std::filesystem::exists(folder() / "run.before.safetensors"));
  save(2);
  save(3);
  EXPECT_EQ(load_checkpoint(folder() / "run.before.safetensors").state.step, 2);
  EXPECT_EQ(load_newest_checkpoint(path()).checkpoint.state.step, 3);
  EXPECT_EQ(load_newest_checkpoint(path()).path, path());
  EXPECT_EQ(load_newest_checkpoint(path()).damage, "");

  write("run.safetensors", "");
  const StoredCheckpoint older = load_newest_checkpoint(path());
  EXPECT_EQ(older.checkpoint.state.step, 2);
  EXPECT_EQ(older.path, folder() / "run.before.safetensors");
  EXPECT_EQ(older.damage, "cannot use the checkpoint " + path().string() +
                              ": it is too short for a safetensors file");

  std::filesystem::remove(path());
  EXPECT_TRUE(checkpoint_exists(path()));
  EXPECT_EQ(load_newest_checkpoint(path()).damage, "there is no " + path().string());
  // What is not there does not take the place of what is.
  save(4);
  EXPECT_EQ(load_checkpoint(folder() / "run.before.safetensors").state.step, 2);
}

TEST_F(DamagedCheckpointTest, BothDamagedIsASentenceOfBoth) {
  save(1);
  save(2);
  write("run.safetensors", "");
  write("run.before.safetensors", "12345678");
  try {
    load_newest_checkpoint(path());
    FAIL() << "loaded";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), "cannot use the checkpoint " + path().string() +
                            ": it is too short for a safetensors file; the one before it: " +
                            "cannot use the checkpoint " +
                            (folder() / "run.before.safetensors").string() +
                            ": it is cut short, or no safetensors file");
  }
}

TEST_F(DamagedCheckpointTest, AFolderInItsPlaceIsASentence) {
  std::filesystem::create_directory(path());
  EXPECT_EQ(reason(), "it cannot be read: Is a directory");
  EXPECT_THROW(save(1), Error);
}

TEST_F(CheckpointTest, RefusesAnotherFormat) {
  Safetensors other;
  other.metadata = {{"format", "something else"}};
  const float value = 1;
  other.add("a", {1}, &value);
  write("run.safetensors", encode(other));
  EXPECT_THROW(load_checkpoint(path()), Error);
}

TEST_F(CheckpointTest, NamesTheDifferenceOfAnotherRun) {
  RunConfig other = config_;
  EXPECT_EQ(difference(config_, other), "");
  other.model.dim = 32;
  EXPECT_EQ(difference(config_, other), "dim is 16, the checkpoint has 32");
  other = config_;
  other.text_checksum ^= 1;
  EXPECT_EQ(difference(config_, other), "the text is another one than the checkpoint's");
  other = config_;
  other.rope.kind = "ntk";
  EXPECT_EQ(difference(config_, other), "rope/kind is \"default\", the checkpoint has \"ntk\"");
}

TEST_F(CheckpointTest, RefusesCutsAndNothing) {
  saved_state();
  write("run.safetensors", read("run.safetensors").substr(0, 5000));
  EXPECT_THROW(load_checkpoint(path()), Error);
  EXPECT_THROW(load_checkpoint(folder() / "missing"), Error);
}

// A limit on the size of files stands in for a full disk: write() fails half-way in the same
// manner.
TEST_F(CheckpointTest, FullDiskLeavesTheOldCheckpoint) {
  RunState state = saved_state();
  const std::string good = read("run.safetensors");
  advance(state, 1);

  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = good.size() / 2;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(save_checkpoint(path(), config_, state), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_EQ(read("run.safetensors"), good);
  EXPECT_FALSE(std::filesystem::exists(folder() / "run.safetensors.tmp"));
  save_checkpoint(path(), config_, state);
  EXPECT_EQ(load_checkpoint(path()).state.step, 4);
}

TEST_F(CheckpointTest, UnwritableFoldersAreRefused) {
  const RunState state(config_);
  EXPECT_THROW(save_checkpoint(folder() / "missing" / "run.safetensors", config_, state), Error);
  write("file", "x");
  EXPECT_THROW(make_folder(folder() / "file"), Error);
  EXPECT_THROW(make_folder(folder() / "file" / "below"), Error);
}

}  // namespace
}  // namespace train_lm
