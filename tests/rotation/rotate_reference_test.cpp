// SPDX-License-Identifier: Apache-2.0
//
// eigen_rope::rotate assigned directly equals eigen_rope::reference to the bit: every pairing,
// window, width of table, direction and broadcast, for each kind of scalar, in both layouts and at
// every rank.
#include "eigen_rope/forms/reference.hpp"

#include <gtest/gtest.h>

#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_reference_tests {
namespace {

constexpr int ColMajor = Eigen::ColMajor;
constexpr int RowMajor = Eigen::RowMajor;

/// All cases of `rows` with these outer extents, the table varying on each subset of the outer
/// axes.
template <class XScalar, class TableScalar, int rank, int layout, class Rows>
void compare(const Shape& outer, const Rows& rows) {
  ASSERT_EQ(outer.rank(), rank - 1);
  std::uint64_t seed = 1;
  for (const Case& c : cases_of(rows)) {
    const Shape shape = with_row(c.row.length, outer);
    const auto x = random_tensor<XScalar, rank, layout>(shape, ++seed);
    for (unsigned mask = 0; mask < 1U << outer.rank(); ++mask) {
      const auto table = random_table<TableScalar>(c.width(), broadcast_outer(outer, mask), ++seed);
      SCOPED_TRACE(c.text() + ", table varies on outer axes " + std::to_string(mask));
      Eigen::Tensor<XScalar, rank, layout> expected(x.dimensions());
      reference::rotate(x.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
      const Eigen::Tensor<XScalar, rank, layout> actual =
          rotation(x, table, c.pairing, c.direction);
      ASSERT_TRUE(same_rotation(expected.data(), actual.data(), x.data(), shape, c));
    }
  }
}

/// A few rows that meet vectors, remainders and windows.
constexpr std::array<Row, 5> some_rows{
    {{2, 0, 2}, {36, 0, 36}, {80, 8, 32}, {70, 0, 70}, {37, 5, 32}}};

TEST(RotateEqualsReference, Float) { compare<float, float, 4, ColMajor>({3, 5, 2}, every_row); }
TEST(RotateEqualsReference, FloatRowMajor) {
  compare<float, float, 4, RowMajor>({3, 5, 2}, every_row);
}
TEST(RotateEqualsReference, Double) { compare<double, double, 4, RowMajor>({3, 5, 2}, every_row); }
TEST(RotateEqualsReference, LongDouble) {
  compare<long double, long double, 3, ColMajor>({3, 4}, every_row);
}
TEST(RotateEqualsReference, HalfWithFloatTable) {
  compare<Eigen::half, float, 4, ColMajor>({3, 5, 2}, every_row);
}
TEST(RotateEqualsReference, HalfWithHalfTable) {
  compare<Eigen::half, Eigen::half, 3, RowMajor>({3, 4}, every_row);
}
TEST(RotateEqualsReference, Bfloat16WithFloatTable) {
  compare<Eigen::bfloat16, float, 4, RowMajor>({3, 5, 2}, every_row);
}
TEST(RotateEqualsReference, Bfloat16WithBfloat16Table) {
  compare<Eigen::bfloat16, Eigen::bfloat16, 3, ColMajor>({3, 4}, every_row);
}
TEST(RotateEqualsReference, FloatWithDoubleTable) {
  compare<float, double, 3, ColMajor>({3, 4}, some_rows);
}
TEST(RotateEqualsReference, FloatWithHalfTable) {
  compare<float, Eigen::half, 3, ColMajor>({3, 4}, some_rows);
}
TEST(RotateEqualsReference, DoubleWithFloatTable) {
  compare<double, float, 3, ColMajor>({3, 4}, some_rows);
}
TEST(RotateEqualsReference, HalfWithDoubleTable) {
  compare<Eigen::half, double, 3, ColMajor>({3, 4}, some_rows);
}

TEST(RotateEqualsReference, Rank1) {
  compare<float, float, 1, ColMajor>({}, every_row);
  compare<float, float, 1, RowMajor>({}, every_row);
}
TEST(RotateEqualsReference, Rank2) {
  compare<float, float, 2, ColMajor>({7}, every_row);
  compare<float, float, 2, RowMajor>({7}, every_row);
}
TEST(RotateEqualsReference, Rank3) {
  compare<float, float, 3, ColMajor>({7, 3}, some_rows);
  compare<float, float, 3, RowMajor>({7, 3}, some_rows);
}
TEST(RotateEqualsReference, Rank5) {
  compare<float, float, 5, ColMajor>({2, 3, 1, 2}, some_rows);
  compare<float, float, 5, RowMajor>({2, 3, 1, 2}, some_rows);
}
TEST(RotateEqualsReference, Rank6) {
  compare<float, float, 6, ColMajor>({2, 1, 3, 2, 2}, some_rows);
  compare<float, float, 6, RowMajor>({2, 1, 3, 2, 2}, some_rows);
}
TEST(RotateEqualsReference, Rank8) {
  compare<float, float, 8, ColMajor>({2, 1, 2, 1, 3, 1, 2}, std::array<Row, 1>{{{12, 3, 8}}});
}

TEST(RotateEqualsReference, SeventyOneHeads) {
  const std::array<Row, 2> rows{{{64, 0, 64}, {80, 0, 32}}};
  compare<float, float, 4, ColMajor>({71, 3, 2}, rows);
  compare<Eigen::half, float, 4, ColMajor>({71, 3, 2}, rows);
}

/// Blocks beyond 64 KiB, which kernels pass in another order than small ones.
TEST(RotateEqualsReference, LargeBlocks) {
  const std::array<Row, 3> rows{{{128, 0, 128}, {70, 0, 70}, {80, 8, 36}}};
  compare<float, float, 3, ColMajor>({40, 9}, rows);
  compare<double, double, 4, RowMajor>({40, 9, 1}, rows);
}

/// Extents of 1 are merged away inside; the axes beyond them must still find their rows.
TEST(RotateEqualsReference, AxesOfOne) {
  for (const Shape& outer :
       {Shape{1, 1, 1}, Shape{1, 6, 1}, Shape{6, 1, 1}, Shape{1, 1, 6}, Shape{4, 1, 3}}) {
    compare<float, float, 4, ColMajor>(outer, some_rows);
  }
}

/// A table may leave out outermost axes, and may carry more of extent 1 than x has.
TEST(RotateEqualsReference, TablesOfAnotherRank) {
  const Case c{{18, 0, 18}, eigen_rope::split_half, false, Direction::forward};
  const Shape shape{18, 5, 3};
  const auto x = random_tensor<float, 3>(shape, 3);
  for (const Shape& outer :
       {Shape{}, Shape{5}, Shape{5, 3, 1}, Shape{1, 3, 1, 1}, Shape{1, 1, 1, 1, 1, 1, 1}}) {
    SCOPED_TRACE(outer.text());
    const auto table = random_table<float>(9, outer, 4);
    Shape padded;
    for (int axis = 0; axis < 2; ++axis) padded.push_back(outer[axis]);
    Table<float> same = table;
    same.outer = padded;
    const Eigen::Tensor<float, 3> expected = rotate(x, same, c.pairing);
    const Eigen::Tensor<float, 3> actual = rotate(x, table, c.pairing);
    EXPECT_TRUE(same_bits(expected, actual));
    Eigen::Tensor<float, 3> by_reference(x.dimensions());
    reference::rotate(x.data(), by_reference.data(), shape, table.view(), c.pairing);
    EXPECT_TRUE(same_rotation(by_reference.data(), actual.data(), x.data(), shape, c));
  }
}

}  // namespace
}  // namespace eigen_rope::test::rotate_reference_tests
