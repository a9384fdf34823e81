// SPDX-License-Identifier: Apache-2.0
//
// The size of the last-level cache from what the lines of a working set cost: for caches that are
// given, and whose sets are read in turn.
#include "machine/cache_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace eigen_rope::test::cache_sizes {
namespace {

using detail::largest_set;
using detail::mebibyte;
using detail::set_that_outgrows_the_cache;
using detail::unmeasured_set;

/// Bytes, and the nanoseconds of a line that is found there.
struct Level {
  double size;
  double latency;
};

/// A line is found in the second level with the odds of its size, otherwise in the last, otherwise
/// in memory.
class SetOfCaches {
 public:
  SetOfCaches(Level second, Level last, double memory)
      : second_(second), last_(last), memory_(memory) {}

  void grow(std::size_t bytes) { bytes_ = std::max(bytes_, static_cast<double>(bytes)); }

  double latency(int /*repeats*/) const {
    const double in_second = std::min(1.0, second_.size / bytes_);
    const double in_last = std::max(0.0, std::min(1.0, last_.size / bytes_) - in_second);
    return in_second * second_.latency + in_last * last_.latency +
           (1 - in_second - in_last) * memory_;
  }
  double flushed_latency(int /*repeats*/) const { return memory_; }

 private:
  Level second_;
  Level last_;
  double memory_;
  double bytes_ = 0;
};

constexpr auto always_in_time = [] { return true; };
constexpr double MiB = static_cast<double>(mebibyte);

std::size_t measured(Level second, Level last, double memory) {
  SetOfCaches set(second, last, memory);
  return set_that_outgrows_the_cache(set, always_in_time);
}

TEST(CacheSize, IsAThirdMoreThanTheCacheKeeps) {
  for (const double second : {0.5, 1.0, 2.0}) {
    for (const double last : {12.0, 16.0, 24.0, 30.0, 32.0, 36.0, 45.0}) {
      for (const double latency : {12.0, 25.0, 50.0}) {
        const auto size =
            static_cast<double>(measured({second * MiB, 5}, {last * MiB, latency}, 140));
        EXPECT_GT(size, 1.2 * last * MiB) << second << ' ' << last << ' ' << latency;
        EXPECT_LT(size, 1.5 * last * MiB) << second << ' ' << last << ' ' << latency;
      }
    }
  }
}

/// Where a fourth of the smallest set is found in a second level of 2 MiB, the last one is not
/// taken for memory.
TEST(CacheSize, IsTheLargestSetWhereTheCacheKeepsIt) {
  for (const double second : {0.25, 1.0, 2.0}) {
    for (const double latency : {15.0, 30.0, 50.0, 60.0})
      EXPECT_EQ(measured({second * MiB, 5}, {480 * MiB, latency}, 140), largest_set)
          << second << ' ' << latency;
  }
}

TEST(CacheSize, IsTakenForUsualWhereNothingIsFoundInCaches) {
  EXPECT_EQ(measured({0, 5}, {0, 20}, 140), unmeasured_set);
  EXPECT_EQ(measured({1 * MiB, 5}, {2 * MiB, 20}, 140), unmeasured_set);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(measured({1 * MiB, 5}, {32 * MiB, nan}, 140), unmeasured_set);
}

/// Every first look at a set finds a cache that a neighbour has just emptied.
class SetBesideANeighbour : public SetOfCaches {
 public:
  using SetOfCaches::SetOfCaches;
  double latency(int repeats) {
    emptied_ = !emptied_;
    return emptied_ && repeats == 2 ? flushed_latency(repeats) : SetOfCaches::latency(repeats);
  }

 private:
  bool emptied_ = true;
};

TEST(CacheSize, IsNotDecidedByOneLook) {
  SetBesideANeighbour set({1 * MiB, 5}, {480 * MiB, 25}, 140);
  EXPECT_EQ(set_that_outgrows_the_cache(set, always_in_time), largest_set);
}

TEST(CacheSize, IsWhatStillFitWhenTheTimeWasUp) {
  const auto sizes_in_time = [](int sizes) {
    SetOfCaches set({1 * MiB, 5}, {480 * MiB, 25}, 140);
    return set_that_outgrows_the_cache(set, [&sizes] { return sizes-- > 0; });
  };
  EXPECT_EQ(sizes_in_time(0), unmeasured_set);
  EXPECT_EQ(sizes_in_time(1), unmeasured_set);
  EXPECT_EQ(sizes_in_time(6), 40 * mebibyte);
  EXPECT_EQ(sizes_in_time(8), largest_set);
}

}  // namespace
}  // namespace eigen_rope::test::cache_sizes
