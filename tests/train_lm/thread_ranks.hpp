// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of one process, and whose numbers other threads move.
//
//   start_sum, start_pass     once all who take part have started it, a thread of its own moves it
//   finish_sums, finish_pass  wait for these threads, and nothing else does
//
// MPI moves numbers in the thread that calls it, so no tool sees a rank that touches them too
// early. Here ThreadSanitizer does: between start and finish nothing orders the rank's own reads
// and writes and those of the thread that moves.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "ranks.hpp"

namespace train_lm {

/// What the ranks of one process have started. They tell it what they have; it never tells them
/// that a number was moved, which only the thread that moved it does.
class Exchange {
 public:
  using Move = std::shared_future<void>;

  explicit Exchange(int ranks) : ranks_(ranks) {}

  /// This rank's part of the sum with that number.
  template <class S>
  void start_sum(std::size_t number, int rank, S* data, Index count) {
    const std::lock_guard lock(mutex_);
    if (sums_.size() <= number) sums_.resize(number + 1);
    Sum& sum = sums_[number];
    sum.parts.resize(static_cast<std::size_t>(ranks_));
    sum.parts[static_cast<std::size_t>(rank)] = data;
    if (++sum.here < ranks_) return;
    sum.move = std::async(std::launch::async, [parts = sum.parts, count] {
      for (Index i = 0; i < count; ++i) {
        S total(0);
        for (void* const part : parts) total += static_cast<const S*>(part)[i];
        for (void* const part : parts) static_cast<S*>(part)[i] = total;
      }
    });
    started_.notify_all();
  }

  Move sum(std::size_t number) {
    std::unique_lock lock(mutex_);
    started_.wait(lock, [&] { return sums_[number].move.valid(); });
    return sums_[number].move;
  }

  /// Of a pass to `receiver`, the number-th in this lane.
  using PassName = std::tuple<int, Lane, std::size_t>;

  template <class S>
  void start_pass(const PassName& name, const S* from, S* to, Index count) {
    const std::lock_guard lock(mutex_);
    Pass& pass = passes_[name];
    if (from != nullptr) pass.from = from;
    if (to != nullptr) pass.to = to;
    if (pass.from == nullptr || pass.to == nullptr) return;
    pass.move = std::async(std::launch::async, [source = static_cast<const S*>(pass.from),
                                                target = static_cast<S*>(pass.to),
                                                count] { std::copy_n(source, count, target); });
    started_.notify_all();
  }

  Move pass(const PassName& name) {
    std::unique_lock lock(mutex_);
    started_.wait(lock, [&] { return passes_[name].move.valid(); });
    return passes_[name].move;
  }

 private:
  struct Sum {
    std::vector<void*> parts;
    int here = 0;
    Move move;
  };
  struct Pass {
    const void* from = nullptr;
    void* to = nullptr;
    Move move;
  };

  int ranks_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::deque<Sum> sums_;
  std::map<PassName, Pass> passes_;
};

/// One rank of them; its thread alone uses it.
class ThreadRank final : public Ranks {
 public:
  ThreadRank(Exchange& exchange, int rank, const RankGrid& grid) : exchange_(exchange) {
    rank_ = rank;
    grid_ = grid;
  }

  void start_sum(float* data, Index count) override {
    exchange_.start_sum(sums_++, rank_, data, count);
  }
  void start_sum(double* data, Index count) override {
    exchange_.start_sum(sums_++, rank_, data, count);
  }
  void finish_sums() override {
    for (; finished_ < sums_; ++finished_) exchange_.sum(finished_).wait();
  }

  void start_pass(Lane lane, const float* out, float* in, Index count) override {
    start_pass_of(lane, out, in, count);
  }
  void start_pass(Lane lane, const double* out, double* in, Index count) override {
    start_pass_of(lane, out, in, count);
  }
  void finish_pass(Lane lane) override {
    std::size_t& count = passes_[lane];
    if (count == 0) return;
    exchange_.pass({next(), lane, count - 1}).wait();
    exchange_.pass({rank_, lane, count - 1}).wait();
  }

  double sum(double value) override {
    start_sum(&value, 1);
    finish_sums();
    return value;
  }

 private:
  template <class S>
  void start_pass_of(Lane lane, const S* out, S* in, Index count) {
    const std::size_t number = passes_[lane]++;
    exchange_.start_pass<S>({next(), lane, number}, out, nullptr, count);
    exchange_.start_pass<S>({rank_, lane, number}, nullptr, in, count);
  }

  /// The next rank of the ring.
  int next() const { return data_rank() * grid_.context + (context_rank() + 1) % grid_.context; }

  Exchange& exchange_;
  std::size_t sums_ = 0;
  std::size_t finished_ = 0;
  std::map<Lane, std::size_t> passes_;
};

/// Runs `body(rank)` in a thread for each rank of the grid.
inline void run_ranks(const RankGrid& grid, const std::function<void(Ranks&)>& body) {
  Exchange exchange(grid.ranks());
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(grid.ranks()));
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    threads.emplace_back([&exchange, &grid, &body, rank] {
      ThreadRank here(exchange, rank, grid);
      body(here);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace train_lm
