// SPDX-License-Identifier: Apache-2.0
//
// A Device covers every item exactly once, on the calling thread or on a pool's.
#define EIGEN_USE_THREADS
#include "eigen_rope/machine/device.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "eigen_rope/rotation/detail/tensor.hpp"

namespace eigen_rope {
namespace {

std::vector<int> visits(const Device& device, Index count) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  device.for_range(count, 1e6, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  return {seen.begin(), seen.end()};
}

TEST(Device, EveryItemOnce) {
  Eigen::ThreadPool pool(3);
  const Eigen::ThreadPoolDevice threads(&pool, 3);
  const Eigen::DefaultDevice serial;
  for (const Device& device : {Device(), Device(serial), Device(threads)}) {
    for (const Index count : {0, 1, 2, 7, 1000})
      EXPECT_EQ(visits(device, count), std::vector<int>(static_cast<std::size_t>(count), 1));
  }
}

TEST(Device, WithoutPoolStaysOnTheCallingThread) {
  const Eigen::DefaultDevice serial;
  for (const Device& device : {Device(), Device(serial)}) {
    const std::thread::id caller = std::this_thread::get_id();
    int calls = 0;
    device.for_range(100, 1e9, [&](Index first, Index last) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(first, 0);
      EXPECT_EQ(last, 100);
      ++calls;
    });
    EXPECT_EQ(calls, 1);
  }
}

TEST(Device, NegativeCountsAreNothing) {
  Device().for_range(-1, 1, [](Index, Index) { FAIL(); });
}

}  // namespace
}  // namespace eigen_rope
