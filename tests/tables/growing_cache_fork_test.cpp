// SPDX-License-Identifier: Apache-2.0
//
// A child that is forked while another thread of its parent grows the cache can read and grow it.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/growing_cache.hpp"

namespace eigen_rope::growing_cache_fork_tests {
namespace {

// Of doubles, which are formed slowly: the lock is held for milliseconds.
constexpr Index grown_rows = 256;

const Frequencies& frequencies() {
  static const Frequencies result = Frequencies::powers({128});
  return result;
}

const Cache<double>& expected() {
  static const Cache<double> table(frequencies(), Positions::range(0, grown_rows));
  return table;
}

/// Whether all rows are those of a Cache.
bool grows_rightly(const GrowingCache<double>& cache) {
  const TableView<double> view = cache.rows(0, grown_rows);
  const auto bytes = static_cast<std::size_t>(view.width * grown_rows) * sizeof(double);
  return std::memcmp(view.cos, expected().cos(), bytes) == 0 &&
         std::memcmp(view.sin, expected().sin(), bytes) == 0;
}

/// Ends a child as the system does it: ThreadSanitizer's _exit fails where threads of the parent
/// are missing.
[[noreturn]] void leave(int code) {
  for (;;) syscall(SYS_exit_group, code);
}

/// In the child. Nothing but the cache is touched, and a child that hangs is killed by its alarm.
[[noreturn]] void run_child(const GrowingCache<double>& cache) {
  alarm(10);
  const bool right = grows_rightly(cache) && grows_rightly(cache) && cache.bytes() > 0;
  leave(right ? 0 : 1);
}

int status_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(GrowingCacheFork, ChildrenOfAGrowingParentGrowOnTheirOwn) {
  expected();
  for (int round = 0; round < 10; ++round) {
    const GrowingCache<double> cache(frequencies());
    std::atomic<bool> begun{false};
    std::thread grower([&] {
      begun = true;
      cache.reserve(grown_rows / 2);
      cache.reserve(grown_rows);
    });
    while (!begun) std::this_thread::yield();
    // Each round at another moment.
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    const pid_t child = fork();
    if (child == 0) run_child(cache);
    grower.join();
    ASSERT_GT(child, 0);
    ASSERT_EQ(status_of(child), 0)
        << "round " << round << ": SIGALRM (" << SIGALRM << ") is a child that hung";
    ASSERT_TRUE(grows_rightly(cache)) << round;
  }
}

TEST(GrowingCacheFork, GrandchildrenToo) {
  expected();
  const GrowingCache<double> cache(frequencies());
  cache.reserve(7);
  const pid_t child = fork();
  if (child == 0) {
    cache.reserve(8);
    const pid_t grandchild = fork();
    if (grandchild == 0) run_child(cache);
    int status = -1;
    waitpid(grandchild, &status, 0);
    leave(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  ASSERT_GT(child, 0);
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(cache.tokens(), 7);
}

}  // namespace
}  // namespace eigen_rope::growing_cache_fork_tests
