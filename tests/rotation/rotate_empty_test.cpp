// SPDX-License-Identifier: Apache-2.0
//
// Tensors without elements, whichever axis is 0: every way to rotate does nothing, and gives a
// result of the same shape.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/error_of.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// Nothing to read or write; `table` fits.
template <class Scalar, int layout>
void expect_nothing(const Shape& shape, const Table<Scalar>& table) {
  using Tensor = Eigen::Tensor<Scalar, 3, layout>;
  const Tensor x(sizes_of<3, layout>(shape));
  for (const PairKind kind : every_kind) {
    for (const Direction direction : every_direction) {
      const Pairing pairing(kind);
      const Tensor direct = rotation(x, table, pairing, direction);
      EXPECT_EQ(direct.dimensions(), x.dimensions());
      const Tensor nested = rotation(x, table, pairing, direction) * Scalar(2) + x;
      EXPECT_EQ(nested.dimensions(), x.dimensions());
      const Tensor of_expression = rotation(x * Scalar(2), table, pairing, direction);
      EXPECT_EQ(of_expression.dimensions(), x.dimensions());
      // A tensor that had elements loses them.
      Tensor y = random_tensor<Scalar, 3, layout>(Shape{4, 2, 2}, 1);
      y = rotation(x, table, pairing, direction);
      EXPECT_EQ(y.dimensions(), x.dimensions());
      rotate_to(y, x, table, pairing, direction);
      rotate_inplace(y, table, pairing, direction);
      Scalar untouched(5);
      reference::rotate(&untouched, &untouched, shape, table.view(), pairing, direction);
      rotate_inplace(StridedView<Scalar>{&untouched, shape, {shape[0], shape[0] * shape[1]}}, table,
                     pairing, direction);
      EXPECT_EQ(untouched, Scalar(5));
    }
  }
}

template <class Scalar, int layout>
void expect_nothing_anywhere() {
  for (const Shape& shape : {Shape{8, 0, 3}, Shape{8, 3, 0}, Shape{8, 0, 0}, Shape{0, 3, 2},
                             Shape{0, 0, 3}, Shape{0, 0, 0}}) {
    for (unsigned mask = 0; mask < 4; ++mask) {
      SCOPED_TRACE(shape.text() + ", table varies on outer axes " + std::to_string(mask));
      expect_nothing<Scalar, layout>(
          shape, random_table<Scalar>(shape[0] / 2, broadcast_outer(shape.outer(), mask), 2));
      expect_nothing<Scalar, layout>(
          shape, random_table<Scalar>(shape[0], broadcast_outer(shape.outer(), mask), 2));
    }
  }
}

TEST(RotateEmpty, Float) { expect_nothing_anywhere<float, Eigen::ColMajor>(); }
TEST(RotateEmpty, DoubleRowMajor) { expect_nothing_anywhere<double, Eigen::RowMajor>(); }
TEST(RotateEmpty, Half) { expect_nothing_anywhere<Eigen::half, Eigen::ColMajor>(); }

/// Rows without elements have no pairs, so there are no two widths to offer.
TEST(RotateEmpty, WithoutFeaturesNoTableOfSomeFits) {
  const Eigen::Tensor<float, 3> x(0, 2, 3);
  const Table<float> table = random_table<float>(4, Shape{1, 3}, 2);
  EXPECT_EQ(error_of([&] { (void)eigen_rope::rotate(x, table, eigen_rope::split_half); }),
            "[rope] table width must be 0 for an x without features (head size 0), got 4");
}

}  // namespace
}  // namespace eigen_rope::test
