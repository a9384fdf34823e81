// SPDX-License-Identifier: Apache-2.0
//
// What a rotation reads of its table: every determinant before an inverse, and tensors of either
// layout.
#include <gtest/gtest.h>

#include "eigen_rope/rotation/rotate.hpp"
#include "support/error_of.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_table_tests {
namespace {

using Tensor = Eigen::Tensor<float, 3>;

Table<float> table_of_width(Index width, const Shape& outer = Shape{3}) {
  return random_table<float>(width, outer, 4);
}

/// m = 0, and a full-width table whose members cancel though neither is 0; anywhere in the table.
TEST(RotateTable, NoInverseExistsWhereADeterminantIsZero) {
  const Tensor x = random_tensor<float, 3>(Shape{8, 3, 2}, 1);
  const std::string message =
      "[rope] the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0";
  for (const PairKind kind : every_kind) {
    for (const Index place : {0, 3, 7, 11}) {
      Table<float> table = table_of_width(4);
      table.cos[static_cast<std::size_t>(place)] = table.sin[static_cast<std::size_t>(place)] = 0;
      EXPECT_EQ(error_of([&] { (void)rotate_inverse(x, table, Pairing(kind)); }), message);
    }
    for (Index k = 0; k < 4; ++k) {
      // 0.5 * 2 - 1 * 1 = 0 for pair k of the last row.
      Table<float> table = table_of_width(8);
      const Members m = members_of(kind, k, 8);
      const auto a = static_cast<std::size_t>(16 + m.A);
      const auto b = static_cast<std::size_t>(16 + m.B);
      table.cos[a] = 0.5;
      table.cos[b] = 2;
      table.sin[a] = 1;
      table.sin[b] = -1;
      EXPECT_EQ(error_of([&] { (void)rotate_inverse(x, table, Pairing(kind)); }), message);
      EXPECT_NO_THROW(rotate_backward(x, table, Pairing(kind)));
    }
  }
}

/// With m = 0 the forward rotation is 0 and fine.
TEST(RotateTable, AZeroRotationGivesZeros) {
  Table<float> table = table_of_width(4);
  std::fill(table.cos.begin(), table.cos.end(), 0.f);
  std::fill(table.sin.begin(), table.sin.end(), 0.f);
  const Tensor x = random_tensor<float, 3>(Shape{8, 3, 2}, 1);
  const Tensor y = rotate(x, table, split_half);
  for (Index i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], 0.f);
}

/// The features of a table's tensor are where x's are: first in ColMajor, last in RowMajor.
TEST(RotateTable, TensorsOfEitherLayoutAreRead) {
  const auto table = table_of_width(4, Shape{3, 1});
  const Tensor x = random_tensor<float, 3>(Shape{8, 3, 2}, 1);
  const Tensor expected = rotate(x, table, split_half);
  Eigen::Tensor<float, 3> cos(4, 3, 1), sin(4, 3, 1);
  std::copy(table.cos.begin(), table.cos.end(), cos.data());
  std::copy(table.sin.begin(), table.sin.end(), sin.data());
  const Tensor by_tensors = rotate(x, table_of(cos, sin), split_half);
  EXPECT_TRUE(same_bits(expected, by_tensors));
  using RowMajor = Eigen::TensorMap<const Eigen::Tensor<float, 2, Eigen::RowMajor>>;
  const Tensor by_maps =
      rotate(x, table_of(RowMajor(cos.data(), 3, 4), RowMajor(sin.data(), 3, 4)), split_half);
  EXPECT_TRUE(same_bits(expected, by_maps));
}

}  // namespace
}  // namespace eigen_rope::test::rotate_table_tests
