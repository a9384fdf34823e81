// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory: arrays are apart and on cache lines, a thread uses the same memory again, and
// what does not fit is still there.
#include "eigen_rope/numbers/detail/scratch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace eigen_rope::test::scratch_tests {
namespace {

using detail::most_kept_scratch;
using detail::Scratch;

/// Arrays of random sizes, given up in the reverse order, each full of its own number.
void hold_many(std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<Index> size(0, 40000);
  std::deque<Scratch<float>> held;
  std::deque<Index> sizes;
  const auto expect_whole = [&] {
    const auto number = static_cast<float>(held.size());
    const float* begin = held.back().data();
    EXPECT_TRUE(std::all_of(begin, begin + sizes.back(), [&](float x) { return x == number; }));
  };
  for (int step = 0; step < 500; ++step) {
    if (held.empty() || engine() % 5 < 3) {
      sizes.push_back(size(engine));
      held.emplace_back(sizes.back());
      EXPECT_EQ(held.back().empty(), sizes.back() == 0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().data()) % 64, 0U);
      std::fill_n(held.back().data(), sizes.back(), static_cast<float>(held.size()));
    } else {
      expect_whole();
      held.pop_back();
      sizes.pop_back();
    }
  }
  for (; !held.empty(); held.pop_back(), sizes.pop_back()) expect_whole();
}

TEST(Scratch, ArraysAreApart) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) hold_many(seed);
}

TEST(Scratch, ThreadsHaveTheirOwn) {
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 10; seed < 14; ++seed)
    threads.emplace_back([seed] { hold_many(seed); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Scratch, IsUsedAgain) {
  const auto hold_two = [](const void*& a, const void*& b) {
    const Scratch<double> first(1000), second(2000);
    a = first.data();
    b = second.data();
  };
  const void *a = nullptr, *b = nullptr, *a_again = nullptr, *b_again = nullptr;
  hold_two(a, b);  // may make the thread's block larger
  hold_two(a, b);
  hold_two(a_again, b_again);
  EXPECT_EQ(a, a_again);
  EXPECT_EQ(b, b_again);
}

TEST(Scratch, MayBeLargerThanWhatIsKept) {
  Scratch<float> large(static_cast<Index>(most_kept_scratch));
  std::fill_n(large.data(), most_kept_scratch, 1.0F);
  Scratch<float> small(100);
  std::fill_n(small.data(), 100, 2.0F);
  EXPECT_EQ(large.data()[most_kept_scratch - 1], 1.0F);
}

/// Scalars with a constructor are constructed, and destroyed.
TEST(Scratch, ConstructsWhatIsNoNumber) {
  Scratch<std::string> texts(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(texts.data()[i], "");
  texts.data()[1] = std::string(100, 'x');
  EXPECT_FALSE(texts.empty());
}

/// A thread_local object that is made before the thread's block, and so ends after it.
struct Late {
  ~Late() {
    Scratch<float> after(100);
    std::fill_n(after.data(), 100, 1.0F);
    *seen = after.data()[99] == 1.0F;
  }
  bool* seen = nullptr;
};

TEST(Scratch, IsThereWhileTheThreadEnds) {
  bool seen = false;
  std::thread([&] {
    thread_local Late late;
    late.seen = &seen;
    hold_many(20);
  }).join();
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace eigen_rope::test::scratch_tests
