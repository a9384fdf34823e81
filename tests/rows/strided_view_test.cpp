// SPDX-License-Identifier: Apache-2.0
//
// Which strides a view may have: every list whose rows are provably apart is kept, and the span is
// the memory its rows touch.
#include "eigen_rope/rows/strided_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::strided_view_tests {
namespace {

using detail::check_strides;
using detail::span_of;

/// Every element of every row, relative to the view's data; nothing if two rows share one.
std::set<Index> elements(const Shape& shape, const std::vector<Index>& strides) {
  std::set<Index> result;
  for (Index row = 0; row < shape.outer().size(); ++row) {
    Index place = 0;
    Index rest = row;
    for (int axis = 1; axis < shape.rank(); ++axis) {
      place += rest % shape[axis] * strides[static_cast<std::size_t>(axis - 1)];
      rest /= shape[axis];
    }
    for (Index d = 0; d < shape[0]; ++d) {
      if (!result.insert(place + d).second) return {};
    }
  }
  return result;
}

bool accepted(const Shape& shape, const std::vector<Index>& strides) {
  try {
    check_strides(shape, strides);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(StridedView, AcceptedRowsAreApartAndTheSpanIsWhatTheyTouch) {
  std::mt19937 engine(20250611);
  std::uniform_int_distribution<Index> extent(1, 4);
  std::uniform_int_distribution<Index> stride(-40, 40);
  int accepted_views = 0;
  int refused_overlaps = 0;
  for (int i = 0; i < 4000; ++i) {
    const Shape shape{extent(engine), extent(engine), extent(engine), extent(engine)};
    const std::vector<Index> strides{stride(engine), stride(engine), stride(engine)};
    const std::set<Index> touched = elements(shape, strides);
    if (!accepted(shape, strides)) {
      if (touched.empty()) ++refused_overlaps;
      continue;
    }
    ++accepted_views;
    ASSERT_FALSE(touched.empty()) << "rows share elements: " << shape.text() << " by "
                                  << testing::PrintToString(strides);
    const detail::Span span = span_of(shape, strides);
    EXPECT_EQ(span.first, *touched.begin());
    EXPECT_EQ(span.last, *touched.rbegin());
  }
  // Both outcomes must have been met for the loop to mean anything.
  EXPECT_GT(accepted_views, 100);
  EXPECT_GT(refused_overlaps, 100);
}

TEST(StridedView, AcceptsTheStridesOfRealLayouts) {
  struct View {
    Shape shape;
    std::vector<Index> strides;
  };
  const std::vector<View> views{
      {{64, 8, 100, 2}, {64, 512, 51200}},  // dense
      {{64, 8, 100}, {64, 1536}},           // q inside a fused QKV buffer
      {{64, 100, 8}, {512, 64}},            // heads outside tokens
      {{64, 8, 50}, {64, 1024}},            // every other token
      {{64, 8, 100}, {64, -512}},           // tokens backwards
      {{64}, {}},                           // one row
      {{64, 1, 3}, {0, 64}},                // the stride of an axis of extent 1 does not matter
      {{64, 1, 3}, {-5, 64}},
  };
  for (const View& view : views) {
    EXPECT_TRUE(accepted(view.shape, view.strides)) << view.shape.text();
  }
}

TEST(StridedView, EmptyViewsMayHaveAnyStrides) {
  EXPECT_TRUE(accepted({0, 5}, {0}));
  EXPECT_TRUE(accepted({8, 0, 5}, {0, 0}));
}

TEST(StridedView, SpansOfNegativeStridesBeginBeforeTheData) {
  const Shape shape{4, 3, 2};
  EXPECT_TRUE(accepted(shape, {-4, 100}));
  const detail::Span span = span_of(shape, {-4, 100});
  EXPECT_EQ(span.first, -8);
  EXPECT_EQ(span.last, 103);
}

TEST(StridedView, SpansUpTo60BitsAreAccepted) {
  constexpr Index largest = std::numeric_limits<Index>::max() / 16;
  EXPECT_TRUE(accepted({8, 2}, {largest - 8}));
  EXPECT_FALSE(accepted({8, 2}, {largest - 7}));
  EXPECT_FALSE(accepted({8, 2, 2}, {largest / 2, largest - 8}));
}

/// The short way must not let pass what the long one refuses.
TEST(StridedView, PlainStridesPassTheLongCheckToo) {
  std::mt19937 engine(20261129);
  std::uniform_int_distribution<int> bits(0, 34);
  const auto number = [&](Index least) {
    return std::max<Index>(least, (Index{1} << bits(engine)) + bits(engine) - 2);
  };
  int plain = 0;
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Shape shape;
    try {
      shape = {number(1), number(0), number(1)};
    } catch (const Error&) {
      continue;  // more elements than fit
    }
    const Strides strides{number(-2), number(-2)};
    bool passes = true;
    try {
      detail::check_other_strides(shape, strides, detail::SharedElements::refused, 1);
    } catch (const Error&) {
      passes = false;
      ++refused;
    }
    if (!detail::are_plain_strides(shape, strides, 1)) continue;
    ++plain;
    ASSERT_TRUE(passes) << shape.text() << " by "
                        << testing::PrintToString(
                               std::vector<Index>(strides.begin(), strides.end()));
  }
  EXPECT_GT(plain, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace eigen_rope::strided_view_tests
