// SPDX-License-Identifier: Apache-2.0
//
// The reference loops on rows small enough to work by hand, in integers, so that every comparison
// is exact.
#include "eigen_rope/forms/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace eigen_rope::reference_tests {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

/// A table of one row.
template <class Scalar>
struct Row {
  std::vector<Scalar> cos;
  std::vector<Scalar> sin;
  TableView<Scalar> view() const {
    return {cos.data(), sin.data(), static_cast<Index>(cos.size()), Shape{}};
  }
};

template <class Scalar>
std::vector<Scalar> rotated(const std::vector<Scalar>& x, const Row<Scalar>& table, Pairing pairing,
                            Direction direction) {
  std::vector<Scalar> y(x.size());
  reference::rotate(x.data(), y.data(), Shape{static_cast<Index>(x.size())}, table.view(), pairing,
                    direction);
  return y;
}

struct Golden {
  Pairing pairing;
  std::vector<float> y;
  std::vector<float> dx;
};

/// Ascend's operator (aclnnRotaryPositionEmbedding) with full-width tables in its four modes; dx
/// verified by finite differences. Mode 0, slot 0, by hand: pair (x_0, x_4) = (1, 5), y_0 = 2*1 -
/// 1*5 = -3, and slot 4: y_4 = 11*5 + 3*1 = 58.
const std::vector<Golden> golden{
    {split_half, {-3, 12, 1, 44, 58, 72, 131, 136}, {17, -21, 62, -63, 54, 105, 217, 405}},
    {interleaved, {0, 5, 7, 22, 37, 63, 87, 124}, {1, 2, 4, 17, 31, 89, 137, 347}},
    {quarter, {-1, 10, 17, 24, 34, 102, 139, 128}, {6, -3, 9, 22, 107, 20, 206, 423}},
    {interleaved_to_split_half,
     {0, 13, 13, 65, 25, 43, 122, 124},
     {17, 54, -21, 105, 62, 217, -63, 405}},
};
const std::vector<float> golden_x{1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<float> golden_dy{1, 1, 2, 3, 5, 8, 13, 21};
const Row<float> golden_table{{2, 3, 5, 7, 11, 13, 17, 19}, {1, -1, 2, -2, 3, -3, 4, -4}};

TEST(Reference, FullWidthTablesGiveAscendsResultsInEveryMode) {
  for (const Golden& mode : golden) {
    EXPECT_THAT(rotated(golden_x, golden_table, mode.pairing, Direction::forward),
                ElementsAreArray(mode.y));
    EXPECT_THAT(rotated(golden_dy, golden_table, mode.pairing, Direction::backward),
                ElementsAreArray(mode.dx));
  }
}

TEST(Reference, TransposeIsTheAdjointOfForward) {
  for (const Golden& mode : golden) {
    float y_dy = 0;
    float x_dx = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      y_dy += mode.y[i] * golden_dy[i];
      x_dx += golden_x[i] * mode.dx[i];
    }
    EXPECT_EQ(y_dy, x_dx);
  }
}

TEST(Reference, InverseUndoesForwardWithFullWidthTables) {
  // The two members of every pair have coefficients of their own. Determinants are powers of two,
  // so that division is exact. half, pairs (0, 2) and (1, 3): c_A c_B + s_A s_B = 3*2 + 1*2 = 8 and
  // 1*2 + 2*1 = 4.
  const Row<double> table{{3, 1, 2, 2}, {1, 2, 2, 1}};
  const std::vector<double> x{1, 2, 3, 4};
  EXPECT_THAT(rotated(rotated(x, table, split_half, Direction::forward), table, split_half,
                      Direction::inverse),
              ElementsAreArray(x));
}

TEST(Reference, AQuarterTurnSwapsTheMembersOfEachPair) {
  // c = 0, s = 1: (a, b) -> (-b, a).
  const Row<double> turn{{0, 0}, {1, 1}};
  const std::vector<double> x{1, 2, 3, 4};
  EXPECT_THAT(rotated(x, turn, split_half, Direction::forward), ElementsAre(-3, -4, 1, 2));
  EXPECT_THAT(rotated(x, turn, interleaved, Direction::forward), ElementsAre(-2, 1, -4, 3));
  EXPECT_THAT(rotated(x, turn, quarter, Direction::forward), ElementsAre(-2, 1, -4, 3));
  EXPECT_THAT(rotated(x, turn, interleaved_to_split_half, Direction::forward),
              ElementsAre(-2, -4, 1, 3));
  for (const Pairing pairing : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    for (const Direction back : {Direction::backward, Direction::inverse}) {
      EXPECT_THAT(rotated(rotated(x, turn, pairing, Direction::forward), turn, pairing, back),
                  ElementsAreArray(x));
    }
  }
}

TEST(Reference, TransposeAndInverseDifferByTheMagnitudeSquared) {
  // c = 0, s = 2: m = 2.
  const Row<double> table{{0}, {2}};
  const std::vector<double> x{3, 5};
  const std::vector<double> y = rotated(x, table, split_half, Direction::forward);
  EXPECT_THAT(y, ElementsAre(-10, 6));
  EXPECT_THAT(rotated(y, table, split_half, Direction::backward), ElementsAre(12, 20));
  EXPECT_THAT(rotated(y, table, split_half, Direction::inverse), ElementsAre(3, 5));
}

TEST(Reference, OnlyTheWindowTurns) {
  const Row<double> turn{{0, 0}, {1, 1}};
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT(rotated(x, turn, split_half.with_rotary_dims(4).with_offset(2), Direction::forward),
              ElementsAre(1, 2, -5, -6, 3, 4, 7, 8));
  EXPECT_THAT(rotated(x, turn, interleaved.with_rotary_dims(4), Direction::forward),
              ElementsAre(-2, 1, -4, 3, 5, 6, 7, 8));
  EXPECT_THAT(rotated(x, turn, split_half.with_offset(4), Direction::forward),
              ElementsAre(1, 2, 3, 4, -7, -8, 5, 6));
}

TEST(Reference, RowsFindTheirTableRow) {
  // x [2, 2 heads, 3 tokens, 2 batches]; tables with each outer extent 1 or x's. c = 10^(row of the
  // table), s = 0.
  const Shape shape{2, 2, 3, 2};
  const std::vector<double> x(24, 1);
  const std::vector<double> cos{1, 10, 100, 1000, 10000, 100000};
  const std::vector<double> sin(6, 0);
  const auto row_scales = [&](const Shape& outer) {
    std::vector<double> y(24);
    reference::rotate(x.data(), y.data(), shape,
                      TableView<double>{cos.data(), sin.data(), 1, outer}, split_half);
    std::vector<double> scales;
    for (std::size_t row = 0; row < 12; ++row) scales.push_back(y[2 * row]);
    return scales;
  };
  EXPECT_THAT(row_scales({}), testing::Each(1));
  EXPECT_THAT(row_scales({1, 1, 1}), testing::Each(1));
  EXPECT_THAT(row_scales({2}), ElementsAre(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10));
  EXPECT_THAT(row_scales({1, 3}), ElementsAre(1, 1, 10, 10, 100, 100, 1, 1, 10, 10, 100, 100));
  EXPECT_THAT(row_scales({1, 1, 2}), ElementsAre(1, 1, 1, 1, 1, 1, 10, 10, 10, 10, 10, 10));
  EXPECT_THAT(row_scales({1, 3, 2}),
              ElementsAre(1, 1, 10, 10, 100, 100, 1000, 1000, 10000, 10000, 100000, 100000));
  EXPECT_THAT(row_scales({2, 3, 1}),
              ElementsAre(1, 10, 100, 1000, 10000, 100000, 1, 10, 100, 1000, 10000, 100000));
}

TEST(Reference, SixteenBitTypesAreRoundedOnce) {
  // Half steps by 2 between 2048 and 4096. y_0 = 1.5 * 1367 - 0.25 * (-3) = 2050.5 + 0.75 =
  // 2051.25, which rounds to 2052; were the product rounded before the sum, it would be 2050 +
  // 0.75, and 2050. y_1 = 1.5 * (-3) + 0.25 * 1367 = 337.25 is a half.
  const Row<float> table{{1.5F}, {0.25F}};
  const std::vector<Eigen::half> x{Eigen::half(1367.0F), Eigen::half(-3.0F)};
  std::vector<Eigen::half> y(2);
  reference::rotate(x.data(), y.data(), Shape{2}, table.view(), split_half);
  EXPECT_EQ(static_cast<float>(y[0]), 2052.0F);
  EXPECT_EQ(static_cast<float>(y[1]), 337.25F);
}

TEST(Reference, EmptyRowsAndNoRowsAreLeftAlone) {
  const Row<double> none{{}, {}};
  EXPECT_THAT(rotated(std::vector<double>{}, none, split_half, Direction::forward),
              testing::IsEmpty());
  const Row<double> turn{{0}, {1}};
  std::vector<double> untouched{7, 7};
  reference::rotate(untouched.data(), untouched.data(), Shape{2, 0}, turn.view(), split_half);
  EXPECT_THAT(untouched, ElementsAre(7, 7));
}

}  // namespace
}  // namespace eigen_rope::reference_tests
