// SPDX-License-Identifier: Apache-2.0
//
// A growing table holds Cache's bits wherever it grew, keeps every view valid, stays within its
// memory bound, and may be read while it grows. The thread tests are for ThreadSanitizer too
// (preset tsan).
#include "eigen_rope/tables/growing_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::growing_cache_tests {
namespace {

using test::bits_of;
using test::error_of;

/// Scaled rates and a magnitude that is not 1.
Frequencies yarn() {
  Powers<> powers{16};
  powers.linear_scale = 0.25;
  return Frequencies(powers, GgmlYarn<>{1.0, 64});
}

constexpr Growth small_blocks{4, Index{1} << 24};

template <class Scalar>
void expect_same_table(const TableView<Scalar>& view, const TableView<Scalar>& expected) {
  ASSERT_EQ(view.width, expected.width);
  ASSERT_EQ(view.outer, expected.outer);
  const Index count = expected.width * expected.outer.size();
  EXPECT_EQ(bits_of(view.cos, count), bits_of(expected.cos, count));
  EXPECT_EQ(bits_of(view.sin, count), bits_of(expected.sin, count));
}

template <class Scalar>
class GrowingCacheOf : public testing::Test {};
using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(GrowingCacheOf, Scalars);

struct Range {
  std::int64_t first;
  Index tokens;
};

TYPED_TEST(GrowingCacheOf, HoldsTheBitsOfCosSinCacheAcrossEveryGrowth) {
  const Frequencies frequencies = yarn();
  const GrowingCache<TypeParam> cache(frequencies, Layout::bsnd(), small_blocks);
  // At, before and beyond the ends 4, 8, 16, ...; growing by doubling and by a leap; then again
  // what earlier blocks held.
  for (const Range r : {Range{0, 1},
                        {3, 1},
                        {4, 1},
                        {3, 2},
                        {7, 2},
                        {15, 1},
                        {16, 1},
                        {0, 17},
                        {31, 70},
                        {5000, 3},
                        {0, 5003},
                        {4, 1}}) {
    SCOPED_TRACE(r.first);
    const Cache<TypeParam> expected(frequencies, Positions::range(r.first, r.tokens));
    expect_same_table(cache.rows(r.first, r.tokens), expected.view());
  }
}

TYPED_TEST(GrowingCacheOf, GathersTheBitsOfCosSinCache) {
  const Frequencies frequencies = yarn();
  const GrowingCache<TypeParam> cache(frequencies, Layout::sbnd(), small_blocks);
  const Positions apart =
      Positions::per_batch(std::vector<std::int64_t>{7, 130000, 0, 7, 31, 32}, Batches{2});
  expect_same_table(cache.gather(apart).view(),
                    Cache<TypeParam>(frequencies, apart, Layout::sbnd()).view());
  const Positions axes = Positions::multi_axis(std::vector<double>{3, 4, 30, 40, 300, 400},
                                               Sections(SectionPattern::contiguous, {2, 3, 3}));
  expect_same_table(cache.gather(axes).view(),
                    Cache<TypeParam>(frequencies, axes, Layout::sbnd()).view());
}

TEST(GrowingCache, HasTheShapeOfCosSinCacheInEveryLayout) {
  const Frequencies frequencies = Frequencies::powers({8});
  const Cache<float> data(frequencies, Positions::range(5, 3), Layout::sd());
  for (const Layout& layout : {Layout::bsnd(), Layout::bnsd(), Layout::sbnd(), Layout::tnd(),
                               Layout::bsd(), Layout::sd()}) {
    const GrowingCache<float> cache(frequencies, layout);
    expect_same_table(cache.rows(5, 3),
                      Cache<float>(frequencies, Positions::range(5, 3), layout).view());
  }
}

TEST(GrowingCache, ViewsStayValidAndUnchanged) {
  const GrowingCache<float> cache(Frequencies::powers({16}), Layout::sd(), {1, Index{1} << 24});
  std::vector<TableView<float>> views;
  std::vector<decltype(bits_of<float>(nullptr, 0))> bits;
  for (Index position = 0; position < 300; ++position) {
    views.push_back(cache.rows(position / 2, position - position / 2 + 1));
    bits.push_back(bits_of(views.back().cos, views.back().width * views.back().outer.size()));
  }
  cache.reserve(5000);
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(bits_of(views[i].cos, views[i].width * views[i].outer.size()), bits[i]);
  }
}

TEST(GrowingCache, StaysWithinItsMemoryAndGrowsSeldom) {
  constexpr Index pairs = 8;
  constexpr std::size_t row = 2 * pairs * sizeof(float);
  const GrowingCache<float> cache(Frequencies::powers({2 * pairs}), Layout::sd(),
                                  {1, Index{1} << 24});
  EXPECT_EQ(cache.bytes(), 0);
  EXPECT_EQ(cache.tokens(), 0);
  std::set<const float*> blocks;
  for (Index position = 0; position < 4097; ++position) {
    cache.rows(position, 1);
    blocks.insert(cache.rows(0, 1).cos);
    ASSERT_LE(cache.bytes(), 4 * row * static_cast<std::size_t>(position + 1));
    ASSERT_GE(cache.bytes(), row * static_cast<std::size_t>(cache.tokens()));
  }
  EXPECT_LE(blocks.size(), 14);  // 1, 2, 4, ..., 8192
}

TEST(GrowingCache, ReserveFormsExactlyThoseRows) {
  const GrowingCache<float> cache(Frequencies::powers({8}), Layout::sd());
  cache.reserve(1000);
  EXPECT_EQ(cache.tokens(), 1000);
  EXPECT_EQ(cache.bytes(), std::size_t{1000} * 8 * sizeof(float));
  const float* first = cache.rows(0, 1000).cos;
  cache.reserve(10);
  EXPECT_EQ(cache.tokens(), 1000);
  EXPECT_EQ(cache.rows(999, 1).cos, first + 999 * cache.pairs());
}

TEST(GrowingCache, DoublingStopsAtMaxTokens) {
  const GrowingCache<float> cache(Frequencies::powers({8}), Layout::sd(), {4, 9});
  cache.rows(8, 1);
  EXPECT_EQ(cache.tokens(), 9);
  cache.rows(9, 0);
  EXPECT_EQ(cache.rows(0, 9).outer, Shape{9});
}

TEST(GrowingCache, NoRowsAreATableToo) {
  const GrowingCache<float> cache(Frequencies::powers({8}));
  EXPECT_EQ(cache.rows(0, 0).outer, (Shape{1, 0, 1}));
  EXPECT_EQ(cache.gather(Positions::range(0, 0)).outer(), (Shape{1, 0, 1}));
  EXPECT_EQ(cache.tokens(), 0);
}

TEST(GrowingCache, RefusesWrongRangesAndKeepsWhatItHad) {
  const GrowingCache<float> cache(Frequencies::powers({8}), Layout::sd(), {4, 100});
  const float* rows = cache.rows(0, 10).cos;
  const std::size_t bytes = cache.bytes();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error_of([&] { cache.rows(-1, 1); }),
            "[rope] positions of a growing cache must not be negative, got -1");
  EXPECT_EQ(error_of([&] { cache.rows(0, -2); }), "[rope] tokens must not be negative, got -2");
  EXPECT_EQ(error_of([&] { cache.rows(100, 1); }),
            "[rope] positions of a growing cache must be below its max_tokens 100, got start 100 "
            "and 1 tokens");
  EXPECT_EQ(error_of([&] { cache.rows(most, most); }),
            "[rope] positions of a growing cache must be below its max_tokens 100, got start "
            "9223372036854775807 and "
            "9223372036854775807 tokens");
  EXPECT_EQ(error_of([&] { cache.reserve(101); }),
            "[rope] positions of a growing cache must be below its max_tokens 100, got start 0 and "
            "101 tokens");
  EXPECT_EQ(cache.tokens(), 10);
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_EQ(cache.rows(0, 10).cos, rows);
}

TEST(GrowingCache, RefusesSizesThatDoNotFit) {
  constexpr Index huge = Index{1} << 60;
  const GrowingCache<float> cache(Frequencies::powers({8}), Layout::sd(), {1, huge});
  EXPECT_EQ(error_of([&] { cache.rows(huge - 1, 1); }),
            "[rope] the number of bytes in the table must fit a 64-bit count, got "
            "4611686018427387904 x 16");
  EXPECT_EQ(cache.tokens(), 0);
}

TEST(GrowingCache, GatherRefusesPositionsItCannotHold) {
  const GrowingCache<float> cache(Frequencies::powers({8}), Layout::sd(), {4, 100});
  EXPECT_EQ(error_of([&] {
              cache.gather(Positions::ids(std::vector<double>{2, 2.5}));
            }),
            "[rope] positions of a growing cache must be whole numbers, got 2.5");
  EXPECT_EQ(error_of([&] {
              cache.gather(Positions::ids(std::vector<int>{2, -5}));
            }),
            "[rope] positions of a growing cache must not be negative, got -5");
  EXPECT_EQ(error_of([&] { cache.gather(Positions::ids(std::vector<int>{100})); }),
            "[rope] positions of a growing cache must be below its max_tokens 100, got 100");
  EXPECT_EQ(error_of([&] {
              cache.gather(Positions::ids(
                  std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}));
            }),
            "[rope] positions of a growing cache must be below its max_tokens 100, got "
            "9.223372036854776e+18");
  EXPECT_EQ(error_of([&] {
              cache.gather(Positions::per_batch(std::vector<int>{1, 99}, Batches{2}));
            }),
            "[rope] the layout must have a batch axis for positions of several batches, got 2");
  EXPECT_EQ(cache.tokens(), 0);
}

TEST(GrowingCache, RefusesWrongOptionsAndRates) {
  const Frequencies frequencies = Frequencies::powers({8});
  EXPECT_EQ(error_of([&] {
              GrowingCache<float>(frequencies, Layout::sd(), {0, 10});
            }),
            "[rope] first tokens must be at least 1, got 0");
  EXPECT_EQ(error_of([&] {
              GrowingCache<float>(frequencies, Layout::sd(), {11, 10});
            }),
            "[rope] max tokens must be at least first tokens (11), got 10");
  EXPECT_NE(error_of([&] {
              GrowingCache<float>(Frequencies::explicit_rates(std::vector<double>{1e13}));
            }),
            "no eigen_rope::Error");
}

TEST(GrowingCache, RotatesAsCosSinCacheDoes) {
  const Frequencies frequencies = yarn();
  const GrowingCache<float> cache(frequencies, Layout::bsnd(), small_blocks);
  Eigen::Tensor<float, 4> x(16, 3, 5, 2), y(16, 3, 5, 2), expected(16, 3, 5, 2);
  x.setRandom();
  const auto expect_same = [&] {
    EXPECT_EQ(bits_of(y.data(), y.size()), bits_of(expected.data(), expected.size()));
  };
  const Cache<float> full(frequencies, Positions::range(9, 5));
  y = rotate(x, cache.rows(9, 5), split_half);
  expected = rotate(x, full, split_half);
  expect_same();
  y = rotate_backward(x, cache.rows(9, 5), interleaved) * 2.F;
  expected = rotate_backward(x, full, interleaved) * 2.F;
  expect_same();
  y = rotate_inverse(x, cache.rows(9, 5), quarter);
  expected = rotate_inverse(x, full, quarter);
  expect_same();
  rotate_to(y, x, cache.rows(9, 5), split_half);
  rotate_to(expected, x, full, split_half);
  expect_same();
  rotate_inplace(y, cache.gather(Positions::range(9, 5)), split_half);
  rotate_inplace(expected, full, split_half);
  expect_same();
}

TEST(GrowingCache, ThreadsReadWhileItGrows) {
  constexpr Index tokens = 3000;
  constexpr int threads = 4;
  const Frequencies frequencies = Frequencies::powers({16});
  const Cache<float> full(frequencies, Positions::range(0, tokens), Layout::sd());
  const GrowingCache<float> cache(frequencies, Layout::sd(), {1, tokens});
  std::atomic<int> wrong{0};
  std::atomic<int> started{0};
  const auto read = [&](int thread) {
    std::minstd_rand random(static_cast<unsigned>(thread) + 1);
    ++started;
    while (started < threads) std::this_thread::yield();
    TableView<float> kept = cache.rows(0, 1);
    Index kept_first = 0;
    for (Index end = 1; end <= tokens; ++end) {
      // The newest row, as in decoding, and a range behind it; now and then a view is kept while
      // others grow.
      const Index first = end - 1 - static_cast<Index>(random() % static_cast<unsigned>(end));
      const TableView<float> view = cache.rows(first, end - first);
      const Index last = (end - first) * view.width - 1;
      if (view.cos[0] != full.cos()[first * view.width] ||
          view.sin[last] != full.sin()[end * view.width - 1])
        ++wrong;
      if (kept.sin[1] != full.sin()[kept_first * view.width + 1]) ++wrong;
      if (end % 7 == 0) {
        kept = view;
        kept_first = first;
      }
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(threads);
  for (int t = 0; t < threads; ++t) pool.emplace_back(read, t);
  for (std::thread& thread : pool) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.tokens(), tokens);
  expect_same_table(cache.rows(0, tokens), full.view());
}

}  // namespace
}  // namespace eigen_rope::growing_cache_tests
