// SPDX-License-Identifier: Apache-2.0
//
// One fork and one join: body(0), ..., body(count - 1) at the same time, each on a thread of its
// own, the first on the calling one.
//
//   on_threads(device, count, [&](int thread) { ... });
//
// A step of the training forks three times, so that threads seldom wait for each other: over the
// windows of the batch, and over the parameters to sum the gradients and to move the weights. The
// pool keeps what it is asked in arrays of its own, and a task is small enough for std::function to
// hold, so a fork allocates nothing. An exception of a thread reaches the caller.
#pragma once

#include <algorithm>
#include <exception>
#include <mutex>

#include "tensor.hpp"

namespace train_lm {

/// From `begin` up to `end`.
struct Range {
  Index begin = 0;
  Index end = 0;

  Index size() const { return end - begin; }
};

/// The share of thread `thread` of `threads` in `count` things; shares differ by one at most.
inline Range share_of(Index count, int thread, int threads) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

namespace detail {

template <class Body>
class Fork {
 public:
  Fork(const Body& body, int others) : body_(body), running_(static_cast<unsigned>(others)) {}

  void run(int thread) {
    try {
      body_(thread);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void run_other(int thread) {
    run(thread);
    running_.Notify();
  }

  void join() {
    running_.Wait();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const Body& body_;
  Eigen::Barrier running_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace detail

/// count: from 1 to the device's threads. Returns when all calls have, and throws what one of them
/// threw.
template <class Body>
void on_threads(const Device& device, int count, const Body& body) {
  detail::Fork<Body> fork(body, count - 1);
  for (int thread = 1; thread < count; ++thread)
    device.getPool()->Schedule([fork = &fork, thread] { fork->run_other(thread); });
  fork.run(0);
  fork.join();
}

}  // namespace train_lm
