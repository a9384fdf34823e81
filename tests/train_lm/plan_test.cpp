// SPDX-License-Identifier: Apache-2.0
//
// What `eigen-rope plan` says of a training against the trainer itself, whose ranks are threads of
// this process:
//
//   traffic   the bytes that ranks hand to each other and to sums: exactly
//   memory    the bytes that are allocated after a step: within 10 %
//
// Times are compared by hand (docs/scaling.md).
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tool/plan/training_plan.hpp"
#include "training_step.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EIGEN_ROPE_SANITIZED
// As in sanitizer/allocator_interface.h, which not every Clang brings along.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif
#endif

namespace train_lm {
namespace {

/// Where threads that play the ranks meet.
class MeetingPoint {
 public:
  explicit MeetingPoint(int count) : count_(count) {}

  /// Returns when all are here; the last to come runs `work` before.
  template <class Work>
  void meet(const Work& work) {
    std::unique_lock lock(mutex_);
    const int round = round_;
    if (++here_ == count_) {
      work();
      here_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round; });
  }

 private:
  const int count_;
  int here_ = 0;
  int round_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Numbers on their way to a rank; null when they have been taken.
struct Mailbox {
  const float* numbers = nullptr;
};

/// What the threads share.
struct Exchange {
  explicit Exchange(int ranks)
      : meeting(ranks),
        mailboxes(static_cast<std::size_t>(ranks)),
        sums(static_cast<std::size_t>(ranks)) {}

  MeetingPoint meeting;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::array<Mailbox, 2>> mailboxes;
  /// What each rank has started to sum, in the order of its parts.
  std::vector<std::vector<std::pair<float*, Index>>> sums;
};

/// A rank that is a thread, and counts what it sends.
class CountingRank final : public Ranks {
 public:
  CountingRank(Exchange& exchange, const RankGrid& grid, int rank) : exchange_(&exchange) {
    grid_ = grid;
    rank_ = rank;
  }

  double passed_bytes() const { return passed_bytes_; }
  double summed_bytes() const { return summed_bytes_; }

  void start_sum(float* data, Index count) override {
    own_sums().emplace_back(data, count);
    summed_bytes_ += static_cast<double>(count) * sizeof(float);
  }
  /// Of the loss: nothing compares it here.
  void start_sum(double*, Index) override {}

  void finish_sums() override {
    exchange_->meeting.meet([this] {
      const auto& first = exchange_->sums.front();
      for (std::size_t part = 0; part < first.size(); ++part) {
        for (Index i = 0; i < first[part].second; ++i) {
          float sum = 0;
          for (const auto& of_rank : exchange_->sums) sum += of_rank[part].first[i];
          for (const auto& of_rank : exchange_->sums) of_rank[part].first[i] = sum;
        }
      }
    });
    own_sums().clear();
  }

  void start_pass(Lane lane, const float* out, float* in, Index count) override {
    const std::lock_guard lock(exchange_->mutex);
    box(after(), lane).numbers = out;
    passes_[static_cast<std::size_t>(lane)] = {in, count};
    passed_bytes_ += static_cast<double>(count) * sizeof(float);
    exchange_->changed.notify_all();
  }

  /// Returns when what was sent here is here, and what was sent from here is taken.
  void finish_pass(Lane lane) override {
    std::unique_lock lock(exchange_->mutex);
    Mailbox& mine = box(rank(), lane);
    exchange_->changed.wait(lock, [&] { return mine.numbers != nullptr; });
    const auto& [in, count] = passes_[static_cast<std::size_t>(lane)];
    std::memcpy(in, mine.numbers, static_cast<std::size_t>(count) * sizeof(float));
    mine.numbers = nullptr;
    exchange_->changed.notify_all();
    exchange_->changed.wait(lock, [&] { return box(after(), lane).numbers == nullptr; });
  }

 private:
  int after() const { return (rank() + 1) % count(); }
  std::vector<std::pair<float*, Index>>& own_sums() const {
    return exchange_->sums[static_cast<std::size_t>(rank())];
  }
  Mailbox& box(int receiver, Lane lane) const {
    return exchange_->mailboxes[static_cast<std::size_t>(receiver)][static_cast<std::size_t>(lane)];
  }

  Exchange* exchange_;
  std::array<std::pair<float*, Index>, 2> passes_{};
  double passed_bytes_ = 0, summed_bytes_ = 0;
};

/// A rank's run: all that it holds.
struct RankRun {
  RankRun(const RunConfig& c, const std::vector<int>& text, Exchange& exchange,
          const RankGrid& grid, int rank)
      : config(c),
        ranks(exchange, grid, rank),
        pool(1),
        device(&pool, 1),
        profile(1),
        weights(config.model),
        moments(config.model),
        step(config, text, device, profile, ranks) {
    weights.initialise(config.seed);
  }

  RunConfig config;
  CountingRank ranks;
  Eigen::ThreadPool pool;
  const Device device;
  Profile profile;
  Parameters<float> weights;
  AdamMoments<float> moments;
  TrainingStep<float> step;
};

/// By all threads, which allocate from the one arena that mallinfo2 counts.
double allocated_bytes() {
#ifdef EIGEN_ROPE_SANITIZED
  return static_cast<double>(__sanitizer_get_current_allocated_bytes());
#else
  ::mallopt(M_ARENA_MAX, 1);
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
#endif
}

struct Measured {
  double passed = 0, summed = 0;  ///< Bytes of each rank in a step.
  double allocated = 0;           ///< Of each rank after it.
};

/// A step on so many ranks. Every rank must have sent as much as the first.
Measured measure(const RunConfig& config, const std::vector<int>& text, const RankGrid& grid) {
  const double before = allocated_bytes();
  Exchange exchange(grid.context);
  std::vector<std::unique_ptr<RankRun>> runs(static_cast<std::size_t>(grid.context));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < grid.context; ++rank) {
    threads.emplace_back([&, rank] {
      auto& run = runs[static_cast<std::size_t>(rank)];
      run = std::make_unique<RankRun>(config, text, exchange, grid, rank);
      run->step.take(0, run->weights, run->moments);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Measured measured;
  measured.allocated = (allocated_bytes() - before) / grid.context;
  measured.passed = runs.front()->ranks.passed_bytes();
  measured.summed = runs.front()->ranks.summed_bytes();
  for (const auto& run : runs) {
    EXPECT_EQ(run->ranks.passed_bytes(), measured.passed);
    EXPECT_EQ(run->ranks.summed_bytes(), measured.summed);
  }
  return measured;
}

/// The trainer's model as a plan knows it.
eigen_rope::tool::TrainingModel planned(const ModelConfig& config) {
  eigen_rope::tool::TrainingModel model;
  model.width = config.dim;
  model.mlp_width = config.hidden();
  model.vocabulary = config.vocabulary;
  model.heads = model.key_heads = config.heads;
  model.mlp = eigen_rope::tool::MlpKind::plain;
  model.layers = {{"", config.layers, config.head_dim(), config.head_dim(), 0, 0}};
  return model;
}

RunConfig run_config(Index context, Index batch) {
  RunConfig config;
  config.model = {40, 2, 4, 96, Rates::fixed};
  config.context = context;
  config.batch = batch;
  config.steps = 1;
  return config;
}

class PlanOfTraining : public testing::Test {
 protected:
  void expect_planned(Index context, Index batch, const RankGrid& grid) {
    SCOPED_TRACE(testing::Message()
                 << grid.context << " ranks, " << eigen_rope::name_of(grid.sharding) << ", context "
                 << context);
    const RunConfig config = run_config(context, batch);
    eigen_rope::tool::PlanOptions options;
    options.context = context;
    options.ranks = grid.context;
    options.batch = batch;
    options.sharding = grid.sharding;
    const eigen_rope::tool::TrainingPlan plan =
        eigen_rope::tool::make_training_plan(planned(config.model), options);
    const Measured measured = measure(config, text_, grid);
    EXPECT_EQ(plan.parameters, static_cast<double>(Parameters<float>(config.model).layout().size));
    EXPECT_EQ(plan.step.traffic.ring, measured.passed);
    EXPECT_EQ(plan.step.traffic.summed, measured.summed);
    EXPECT_NEAR(plan.step.memory.total() / measured.allocated, 1, 0.1);
  }

  static std::vector<int> codes() {
    std::vector<int> codes;
    for (std::uint64_t i = 0; i < 5000; ++i)
      codes.push_back(static_cast<int>(random_bits(5, Stream::windows, i) % 40));
    return codes;
  }

  const std::vector<int> text_ = codes();
};

// More than the trainer keeps the probabilities of, so that one rank goes by blocks as well.
constexpr Index long_context = 1500;

TEST_F(PlanOfTraining, OnOneRank) { expect_planned(long_context, 1, {}); }

TEST_F(PlanOfTraining, OnTwoRanks) {
  expect_planned(long_context, 1, {1, 2, eigen_rope::Sharding::zigzag});
}

TEST_F(PlanOfTraining, OnThreeRanksWithPadding) {
  expect_planned(long_context + 1, 1, {1, 3, eigen_rope::Sharding::contiguous});
}

TEST_F(PlanOfTraining, OnFourRanksWithTwoWindows) {
  expect_planned(long_context, 2, {1, 4, eigen_rope::Sharding::zigzag});
}

}  // namespace
}  // namespace train_lm
