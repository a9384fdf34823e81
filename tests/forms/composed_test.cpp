// SPDX-License-Identifier: Apache-2.0
//
// eigen_rope::composed::rotate, stock Eigen operations only, equals eigen_rope::reference for each
// kind of scalar, at ranks 1 to 6 and in both layouts: to the bit where both round every product
// and sum by itself, to one unit in the last place for 16-bit scalars, which reference fuses;
// eigen_rope::composed::rotate_complex equals interleaved pairs.
#include "eigen_rope/forms/composed.hpp"

#include <gtest/gtest.h>

#include "eigen_rope/forms/composed_complex.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "support/error_of.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

constexpr int ColMajor = Eigen::ColMajor;
constexpr int RowMajor = Eigen::RowMajor;

/// One pair, odd numbers of vectors, windows; stock operations are slow, so not every row there is.
constexpr std::array<Row, 6> rows{
    {{2, 0, 2}, {4, 0, 4}, {18, 0, 18}, {36, 0, 36}, {12, 3, 8}, {80, 8, 20}}};

/// A product that is rounded before it is added instead of after moves a float by less than one
/// unit in its last place, and so the 16-bit number it becomes by at most one.
constexpr double kFusedUlps = 1;

/// How much random_table's coefficients can enlarge a pair: sqrt(1.25^2 + 0.5^2), over the least
/// determinant for the inverse.
double largest_gain(Direction direction) {
  return direction == Direction::inverse ? 1.35 / 0.3 : 1.35;
}

template <class Scalar>
::testing::AssertionResult as_reference(const Scalar* expected, const Scalar* actual,
                                        const Scalar* x, const Shape& shape, const Case& c) {
  const double ulps =
      detail::is_16_bit<Scalar> ? kFusedUlps * largest_gain(c.direction) : kStockUlps;
  return within_ulps(expected, actual, pair_magnitudes(x, shape, c), ulps);
}

/// All cases with these outer extents, the table varying on each subset of the outer axes.
template <class XScalar, class TableScalar, int rank, int layout>
void compare(const Shape& outer) {
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
          composed::rotate(x, table, c.pairing, c.direction);
      ASSERT_EQ(actual.dimensions(), x.dimensions());
      ASSERT_TRUE(as_reference(expected.data(), actual.data(), x.data(), shape, c));
    }
  }
}

// Scalars, layouts and ranks together: each instantiation takes seconds to compile.
TEST(ComposedEqualsReference, FloatRank1) { compare<float, float, 1, ColMajor>({}); }
TEST(ComposedEqualsReference, HalfRank2RowMajor) {
  compare<Eigen::half, Eigen::half, 2, RowMajor>({5});
}
TEST(ComposedEqualsReference, DoubleRank3RowMajor) { compare<double, double, 3, RowMajor>({3, 4}); }
TEST(ComposedEqualsReference, LongDoubleRank3) {
  compare<long double, long double, 3, ColMajor>({3, 2});
}
TEST(ComposedEqualsReference, HalfWithFloatTableRank4) {
  compare<Eigen::half, float, 4, ColMajor>({3, 1, 2});
}
TEST(ComposedEqualsReference, Bfloat16WithFloatTableRank5RowMajor) {
  compare<Eigen::bfloat16, float, 5, RowMajor>({2, 3, 1, 2});
}
TEST(ComposedEqualsReference, Bfloat16Rank6) {
  compare<Eigen::bfloat16, Eigen::bfloat16, 6, ColMajor>({2, 1, 2, 1, 2});
}

TEST(Composed, EmptyTensorsGiveEmptyTensors) {
  const auto table = random_table<double>(4, Shape{}, 1);
  const Eigen::Tensor<double, 3, RowMajor> no_rows(2, 0, 8);
  EXPECT_EQ(composed::rotate(no_rows, table, split_half).dimensions(), no_rows.dimensions());
  const TableView<double> no_entries{};
  const Eigen::Tensor<double, 3, RowMajor> no_features(2, 3, 0);
  EXPECT_EQ(composed::rotate(no_features, no_entries, interleaved).dimensions(),
            no_features.dimensions());
}

TEST(Composed, RefusesWhatRotateRefuses) {
  const auto x = random_tensor<double, 3, RowMajor>(Shape{8, 3, 2}, 1);
  const auto table = random_table<double>(4, Shape{3}, 2);
  EXPECT_EQ(error_of([&] { composed::rotate(x, table, split_half.with_rotary_dims(7)); }),
            "[rope] rotary dims must be even, got 7");
  EXPECT_EQ(
      error_of([&] { composed::rotate(x, random_table<double>(3, Shape{3}, 2), split_half); }),
      "[rope] table width must be 4 (one entry per pair) or 8 (one per rotated element), got 3");
  EXPECT_EQ(
      error_of([&] { composed::rotate(x, random_table<double>(4, Shape{2}, 2), split_half); }),
      "[rope] table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with "
      "outer extents [3, 2], got 2 "
      "(a cache made for Layout::bsnd() instead of Layout::sd() fits this x)");
  Table<double> zero = table;
  zero.cos[5] = zero.sin[5] = 0;
  EXPECT_EQ(
      error_of([&] { composed::rotate(x, zero, split_half, Direction::inverse); }),
      "[rope] the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0");
}

/// Complex products, and conjugate ones for the transpose.
template <class Scalar, int layout>
void compare_complex() {
  for (const Index length : {2, 6, 10, 18, 64, 70}) {
    for (const Shape& outer : {Shape{1, 1}, Shape{1, 5}, Shape{3, 1}, Shape{3, 5}}) {
      const Case c{{length, 0, length}, interleaved, false, Direction::forward};
      SCOPED_TRACE(c.text() + ", table " + outer.text());
      const Shape shape{length, 3, 5};
      const auto x = random_tensor<Scalar, 3, layout>(shape, 1);
      const auto table = random_table<Scalar>(length / 2, outer, 2);
      const Eigen::Tensor<Scalar, 3, layout> expected = rotate(x, table, interleaved);
      Eigen::Tensor<Scalar, 3, layout> actual(x.dimensions());
      const auto complex = composed::complex_table<3, layout>(table.view());
      composed::rotate_complex(actual, x, complex);
      ASSERT_TRUE(within_ulps(expected.data(), actual.data(), pair_magnitudes(x.data(), shape, c),
                              kStockUlps));
    }
  }
}

TEST(ComplexEqualsInterleaved, Float) { compare_complex<float, ColMajor>(); }
TEST(ComplexEqualsInterleaved, DoubleRowMajor) { compare_complex<double, RowMajor>(); }

TEST(ComplexEqualsInterleaved, RefusesOtherShapes) {
  const auto x = random_tensor<float, 3>(Shape{8, 3, 5}, 1);
  const auto message = [&](const Shape& y_shape, Index width, const Shape& outer) {
    Eigen::Tensor<float, 3> y(sizes_of<3, ColMajor>(y_shape));
    y.setConstant(7);
    const Eigen::Tensor<float, 3> before = y;
    const auto table = random_table<float>(width, outer, 2);
    std::string text = error_of([&] {
      composed::rotate_complex(y, x, composed::complex_table<3, ColMajor>(table.view()));
    });
    EXPECT_TRUE(same_bits(before, y));
    return text;
  };
  EXPECT_EQ(message({8, 3, 5}, 4, {1, 1, 2}),
            "[rope] a complex table must fit the tensor's rank, got [1, 1, 2]");
  EXPECT_EQ(
      message({8, 3, 5}, 3, {1, 5}),
      "[rope] a complex table must have half of x's features and equal x or be 1 elsewhere, got 3");
  EXPECT_EQ(
      message({8, 3, 5}, 4, {3, 4}),
      "[rope] a complex table must have half of x's features and equal x or be 1 elsewhere, got 4");
  EXPECT_EQ(message({8, 3, 4}, 4, {1, 5}), "[rope] y must have x's shape, got 4");
}

}  // namespace
}  // namespace eigen_rope::test
