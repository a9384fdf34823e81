// SPDX-License-Identifier: Apache-2.0
//
// Rotation from one strided view into another: the bits of a dense rotation, rows shared for
// reading, aliasing refused.
#include "eigen_rope/rotation/rotate_strided.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::rotate_strided_tests {
namespace {

constexpr Index D = 10;
constexpr Index H = 3;
constexpr Index S = 4;
constexpr float untouched = 77;
const Shape shape{D, H, S};
const Pairing window = split_half.with_rotary_dims(6).with_offset(2);

Cache<float> cache() { return {Frequencies::powers({6}), Positions::range(3, S)}; }

float value(Index d, Index h, Index s) { return static_cast<float>(1 + d + 10 * h + 100 * s) / 64; }

std::vector<float> dense_values() {
  std::vector<float> x;
  for (Index s = 0; s < S; ++s)
    for (Index h = 0; h < H; ++h)
      for (Index d = 0; d < D; ++d) x.push_back(value(d, h, s));
  return x;
}

std::vector<float> expected(Direction direction) {
  const std::vector<float> x = dense_values();
  std::vector<float> y(x.size());
  reference::rotate(x.data(), y.data(), shape, cache().view(), window, direction);
  return y;
}

/// Rows with `gap` unused elements behind them, tokens fastest: [D, S, H] in memory.
std::vector<Index> transposed_strides(Index gap) { return {(D + gap) * S, D + gap}; }

TEST(RotateStrided, BetweenLayouts) {
  const Cache<float> table = cache();
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    const std::vector<float> x = dense_values();
    constexpr Index gap = 5;
    std::vector<float> y((D + gap) * S * H, untouched);
    rotate_to(StridedView<float>{y.data(), shape, transposed_strides(gap)},
              StridedView<const float>{x.data(), shape, {D, D * H}}, table, window, direction);
    const std::vector<float> dense = expected(direction);
    for (Index h = 0; h < H; ++h) {
      for (Index s = 0; s < S; ++s) {
        for (Index d = 0; d < D + gap; ++d) {
          const float got = y[static_cast<std::size_t>((h * S + s) * (D + gap) + d)];
          EXPECT_EQ(got, d < D ? dense[static_cast<std::size_t>((s * H + h) * D + d)] : untouched);
        }
      }
    }
  }
}

// Gaps behind every token, on one side only: with one table row for all, nothing else tells the
// axes of heads and tokens apart.
TEST(RotateStrided, GapsOnEitherSideAlone) {
  const Cache<float> one_row(Frequencies::powers({6}), Positions::range(3, 1));
  constexpr Index token = D * H + 4;
  const std::vector<float> x = dense_values();
  std::vector<float> dense(x.size());
  reference::rotate(x.data(), dense.data(), shape, one_row.view(), window, Direction::forward);

  std::vector<float> spread(static_cast<std::size_t>(token * S), untouched);
  rotate_to(StridedView<float>{spread.data(), shape, {D, token}},
            StridedView<const float>{x.data(), shape, {D, D * H}}, one_row, window);
  for (Index i = 0; i < token * S; ++i) {
    const Index place = i % token;
    EXPECT_EQ(
        spread[static_cast<std::size_t>(i)],
        place < D * H ? dense[static_cast<std::size_t>(i / token * D * H + place)] : untouched);
  }

  std::vector<float> spread_x(spread.size(), untouched);
  for (Index i = 0; i < shape.size(); ++i) {
    spread_x[static_cast<std::size_t>(i / (D * H) * token + i % (D * H))] =
        x[static_cast<std::size_t>(i)];
  }
  std::vector<float> y(x.size());
  rotate_to(StridedView<float>{y.data(), shape, {D, D * H}},
            StridedView<const float>{spread_x.data(), shape, {D, token}}, one_row, window);
  EXPECT_EQ(y, dense);
}

// Features on each axis of a view, with gaps along all of them.
TEST(RotateStrided, AlongAnAxisOfAView) {
  const Cache<float> table = cache();
  const std::vector<float> dense = expected(Direction::forward);
  // [heads, tokens, features] of heads 2 apart, then [heads, features, tokens].
  for (const int axis : {2, 1}) {
    const bool last = axis == 2;
    const Index head = 2;
    const Index second = head * H + 1;
    const Index third = second * (last ? S : D) + 3;
    const Index token = last ? second : third;
    const Index feature = last ? third : second;
    std::vector<float> memory(static_cast<std::size_t>(third * (last ? D : S)), untouched);
    const auto at = [&](Index d, Index h, Index s) -> float& {
      return memory[static_cast<std::size_t>(h * head + s * token + d * feature)];
    };
    for (Index s = 0; s < S; ++s)
      for (Index h = 0; h < H; ++h)
        for (Index d = 0; d < D; ++d) at(d, h, s) = value(d, h, s);
    StridedView<float> view{memory.data(), {H, last ? S : D, last ? D : S}, {second, third}};
    view.feature_stride = head;
    rotate_inplace(view, table, window.along(axis));
    std::size_t changed = 0;
    for (Index s = 0; s < S; ++s) {
      for (Index h = 0; h < H; ++h) {
        for (Index d = 0; d < D; ++d, ++changed)
          EXPECT_EQ(at(d, h, s), dense[static_cast<std::size_t>((s * H + h) * D + d)]);
      }
    }
    EXPECT_EQ(static_cast<std::size_t>(std::count(memory.begin(), memory.end(), untouched)),
              memory.size() - changed);
  }
}

TEST(RotateStrided, AFeatureStrideOfZeroIsRefused) {
  std::vector<float> memory(D);
  StridedView<float> view{memory.data(), {D}, {}};
  view.feature_stride = 0;
  EXPECT_EQ(test::error_of([&] { rotate_inplace(view, cache(), window); }),
            "[rope] the feature stride of a strided view must not be 0");
}

TEST(RotateStrided, NegativeStridesReadBackwards) {
  const Cache<float> table = cache();
  std::vector<float> reversed;
  for (Index s = S - 1; s >= 0; --s)
    for (Index h = 0; h < H; ++h)
      for (Index d = 0; d < D; ++d) reversed.push_back(value(d, h, s));
  std::vector<float> y(reversed.size());
  rotate_to(StridedView<float>{y.data(), shape, {D, D * H}},
            StridedView<const float>{reversed.data() + D * H * (S - 1), shape, {D, -D * H}}, table,
            window);
  EXPECT_EQ(y, expected(Direction::forward));
}

// One row read for every head: what a broadcast view is.
TEST(RotateStrided, RowsOfTheSourceMayShareElements) {
  const Cache<float> table = cache();
  const std::vector<float> x = dense_values();
  std::vector<float> shared(x.size());
  std::vector<float> copied;
  for (Index s = 0; s < S; ++s)
    for (Index h = 0; h < H; ++h)
      for (Index d = 0; d < D; ++d) copied.push_back(value(d, 0, s));
  std::vector<float> from_copies(x.size());
  rotate_to(StridedView<float>{shared.data(), shape, {D, D * H}},
            StridedView<const float>{x.data(), shape, {0, D * H}}, table, window);
  rotate_to(StridedView<float>{from_copies.data(), shape, {D, D * H}},
            StridedView<const float>{copied.data(), shape, {D, D * H}}, table, window);
  EXPECT_EQ(shared, from_copies);
}

TEST(RotateStrided, RefusesAWindowThatEndsOneElementBehindItsRow) {
  const Cache<float> table(Frequencies::powers({8}), Positions::range(0, 1));
  std::vector<float> buffer(2 * D, untouched);
  EXPECT_EQ(test::error_of([&] {
              rotate_inplace(StridedView<float>{buffer.data(), {D}}, table,
                             split_half.with_rotary_dims(8).with_offset(3));
            }),
            "[rope] rotary dims must be at most 7 (head size 10 less window offset 3), got 8");
  EXPECT_EQ(buffer, std::vector<float>(buffer.size(), untouched));
}

TEST(RotateStrided, RefusesAliasingAndShapesAndWritesNothing) {
  const Cache<float> table = cache();
  std::vector<float> buffer(2 * D * H * S, untouched);
  const StridedView<float> y{buffer.data() + D, shape, {D, D * H}};
  const auto error = [&](const StridedView<const float>& x) {
    return test::error_of([&] { rotate_to(y, x, table, window); });
  };
  EXPECT_EQ(error({buffer.data(), shape, {D, D * H}}),
            "[rope] x and the destination must be the same rows or not overlap at all (distance in "
            "bytes), got 40");
  EXPECT_EQ(error({buffer.data() + D, shape, transposed_strides(0)}),
            "[rope] x and the destination must be the same rows or not overlap at all (distance in "
            "bytes), got 0");
  EXPECT_EQ(error({nullptr, shape, {D, D * H}}),
            "[rope] a strided view must have data, got a null pointer");
  EXPECT_EQ(error({buffer.data(), {D, H, 2}, {D, D * H}}),
            "[rope] the destination must have x's shape [10, 3, 2], got [10, 3, 4]");
  const std::vector<float> x(static_cast<std::size_t>(shape.size()), 1.0F);
  EXPECT_EQ(
      test::error_of([&] {
        rotate_to(StridedView<float>{buffer.data(), shape, {0, D * H}},
                  StridedView<const float>{x.data(), shape, {D, D * H}}, table, window);
      }),
      "[rope] strides must step over the 10 elements inside them, or rows share elements, got 0");
  EXPECT_EQ(buffer, std::vector<float>(buffer.size(), untouched));
}

}  // namespace
}  // namespace eigen_rope::rotate_strided_tests
