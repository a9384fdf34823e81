// SPDX-License-Identifier: Apache-2.0
//
// A Device made of a parallel_for: every item once in every split, exceptions of any thread, and
// splits that leave something out.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>
#include <vector>

#include "eigen_rope/machine/device.hpp"
#include "support/error_of.hpp"
#include "support/parallel_for.hpp"

namespace eigen_rope::test::parallel_for_tests {
namespace {

constexpr double large = 1e9;  // bytes of an item that is worth a thread of its own

TEST(ParallelFor, EveryItemOnceInEverySplit) {
  for (const Split split : every_split) {
    SCOPED_TRACE(name_of(split));
    for (const int threads : {1, 2, 3, 8}) {
      for (const Index count : {0, 1, 2, 7, 1000}) {
        ParallelFor parallel_for{split};
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
        Device(parallel_for, threads).for_range(count, large, [&](Index first, Index last) {
          EXPECT_LT(first, last);
          for (Index i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (const std::atomic<int>& times : seen) EXPECT_EQ(times, 1);
        EXPECT_EQ(parallel_for.most_items, threads == 1 || count < 2 ? 0
                                           : count < threads         ? count
                                                                     : threads);
      }
    }
  }
}

TEST(ParallelFor, RangesDifferByAtMostOneItem) {
  ParallelFor parallel_for{Split::one_by_one};
  for (Index count = 2; count < 40; ++count) {
    std::set<Index> lengths;
    Device(parallel_for, 6).for_range(count, large, [&](Index first, Index last) {
      lengths.insert(last - first);
    });
    EXPECT_LE(*lengths.rbegin() - *lengths.begin(), 1) << count;
  }
}

/// 256 KiB each is what a thread is woken for.
TEST(ParallelFor, LittleWorkStaysOnTheCallingThread) {
  ParallelFor parallel_for{Split::threads};
  const Device device(parallel_for, 4);
  const auto run = [&](Index count, double bytes) {
    int calls = 0;
    device.for_range(count, bytes, [&](Index, Index) { ++calls; });
    EXPECT_EQ(calls, 1);
  };
  run(1, large);
  run(100, 1);
  run(511, 1024);
  EXPECT_EQ(parallel_for.calls, 0);
  std::atomic<int> calls = 0;
  device.for_range(512, 1024, [&](Index, Index) { ++calls; });
  EXPECT_EQ(parallel_for.most_items, 2);
  EXPECT_EQ(calls, 2);
}

void serial(Index count, const Device::Work& work) { work(0, count); }

TEST(ParallelFor, IsAnythingThatCanBeCalled) {
  const auto lambda = [](Index count, const auto& work) { work(0, count); };
  const std::function<void(Index, Device::Work)> erased = lambda;
  for (const Device& device : {Device(serial, 3), Device(lambda, 3), Device(erased, 3)}) {
    std::vector<int> seen(10);
    device.for_range(10, large, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(seen, std::vector<int>(10, 1));
  }
}

struct OwnException {};

TEST(ParallelFor, ExceptionsReachTheCallingThread) {
  for (const Split split : every_split) {
    SCOPED_TRACE(name_of(split));
    ParallelFor parallel_for{split};
    const Device device(parallel_for, 4);
    const auto throw_at = [&](Index place, auto exception) {
      device.for_range(4, large, [&](Index first, Index last) {
        if (first <= place && place < last) throw exception;
      });
    };
    for (Index place = 0; place < 4; ++place) {
      EXPECT_THROW(throw_at(place, std::bad_alloc()), std::bad_alloc);
      EXPECT_THROW(throw_at(place, OwnException()), OwnException);
      EXPECT_THROW(throw_at(place, Error("[rope] so")), Error);
    }
    EXPECT_NO_THROW(throw_at(4, 0));  // nothing is left of the exceptions before
  }
}

TEST(ParallelFor, ThrowsOneOfTheExceptionsOfAllThreads) {
  ParallelFor parallel_for{Split::threads};
  EXPECT_THROW(
      Device(parallel_for, 8)
          .for_range(8, large,
                     [](Index first, Index) { throw std::out_of_range(std::to_string(first)); }),
      std::out_of_range);
}

TEST(ParallelFor, ExceptionsOfTheParallelForItselfPass) {
  const auto parallel_for = [](Index, const auto&) { throw OwnException(); };
  EXPECT_THROW(Device(parallel_for, 2).for_range(2, large, [](Index, Index) {}), OwnException);
}

/// The refusal of a parallel_for that is given 4 items. No item outside is ever done.
template <class Call>
std::string refusal_of(const Call& parallel_for) {
  return error_of([&] {
    Device(parallel_for, 4).for_range(4, large, [](Index first, Index last) {
      ASSERT_GE(first, 0);
      ASSERT_LE(last, 4);
    });
  });
}

TEST(ParallelFor, WhatDoesNotCoverItsItemsOnceIsRefused) {
  EXPECT_EQ(refusal_of([](Index, const auto&) {}),
            "[rope] parallel_for must call work once for each of 4 items, got 0");
  EXPECT_EQ(refusal_of([](Index count, const auto& work) { work(1, count); }),
            "[rope] parallel_for must call work once for each of 4 items, got 3");
  EXPECT_EQ(refusal_of([](Index count, const auto& work) {
              work(0, count);
              work(0, 1);
            }),
            "[rope] parallel_for must call work once for each of 4 items, got 5");
  EXPECT_EQ(refusal_of([](Index count, const auto& work) { work(0, count + 1); }),
            "[rope] parallel_for must call work for ranges inside [0, 4), got [0, 5)");
  EXPECT_EQ(refusal_of([](Index count, const auto& work) { work(-1, count); }),
            "[rope] parallel_for must call work for ranges inside [0, 4), got [-1, 4)");
  EXPECT_EQ(refusal_of([](Index, const auto& work) { work(3, 2); }),
            "[rope] parallel_for must call work for ranges inside [0, 4), got [3, 2)");
}

TEST(ParallelFor, NeedsAThread) {
  for (const int threads : {0, -1}) {
    EXPECT_EQ(error_of([&] { Device(serial, threads); }),
              "[rope] the number of threads of a device must be at least 1, got " +
                  std::to_string(threads));
  }
}

}  // namespace
}  // namespace eigen_rope::test::parallel_for_tests
