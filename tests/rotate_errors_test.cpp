// SPDX-License-Identifier: Apache-2.0
//
// Every refusal of a rotation, word by word; and that it comes before anything is written or resized.
#include <gtest/gtest.h>

#include <limits>

#include "error_of.hpp"
#include "rope/reference.hpp"
#include "rope/rotate_to.hpp"
#include "rotation_cases.hpp"

namespace rope::test {
namespace {

using Tensor = Eigen::Tensor<float, 3>;

/// The message for x [8, 3, 2], which every way to rotate must give: expression, statement, view and reference.
std::string error_for(const Table<float>& table, Pairing pairing, Direction direction = Direction::forward) {
  const Shape shape{8, 3, 2};
  const Tensor x = random_tensor<float, 3>(shape, 1);

  Tensor y = random_tensor<float, 3>(Shape{2, 5, 1}, 2);
  const Tensor y_before = y;
  const std::string message = error_of([&] { y = rotation(x, table, pairing, direction); });
  EXPECT_TRUE(same_bits(y_before, y)) << "neither resized nor written";

  Tensor z = random_tensor<float, 3>(shape, 3);
  const Tensor z_before = z;
  EXPECT_EQ(error_of([&] { rotate_to(z, x, table, pairing, direction); }), message);
  EXPECT_EQ(error_of([&] { rotate_inplace(z, table, pairing, direction); }), message);
  EXPECT_EQ(error_of([&] { rotate_inplace(StridedView<float>{z.data(), shape, {8, 24}}, table, pairing, direction); }), message);
  EXPECT_EQ(error_of([&] { reference::rotate(x.data(), z.data(), shape, table.view(), pairing, direction); }), message);
  EXPECT_TRUE(same_bits(z_before, z)) << "nothing written";
  return message;
}

Table<float> table_of_width(Index width, const Shape& outer = Shape{3}) { return random_table<float>(width, outer, 4); }

TEST(RotateRefuses, Windows) {
  const auto table = table_of_width(4);
  for (const Direction direction : every_direction) {
    EXPECT_EQ(error_for(table, half.with_offset(-1), direction), "[rope] window offset must not be negative, got -1");
    EXPECT_EQ(error_for(table, half.with_offset(9), direction), "[rope] window offset must be at most the head size 8, got 9");
    EXPECT_EQ(error_for(table, half.with_offset(8), direction), "[rope] rotary dims must be positive, got 0");
    EXPECT_EQ(error_for(table, half.with_rotary_dims(0), direction), "[rope] rotary dims must be positive, got 0");
    EXPECT_EQ(error_for(table, half.with_rotary_dims(-2), direction), "[rope] rotary dims must be positive, got -2");
    EXPECT_EQ(error_for(table, half.with_rotary_dims(7), direction), "[rope] rotary dims must be even, got 7");
    EXPECT_EQ(error_for(table, half.with_offset(3), direction), "[rope] rotary dims must be even, got 5");
    EXPECT_EQ(error_for(table, quarter.with_rotary_dims(6), direction),
              "[rope] rotary dims must be divisible by 4 for quarter pairing, got 6");
    EXPECT_EQ(error_for(table, half.with_rotary_dims(10), direction),
              "[rope] rotary dims must be at most 8 (head size 8 less window offset 0), got 10");
    EXPECT_EQ(error_for(table, interleaved.with_offset(2).with_rotary_dims(8), direction),
              "[rope] rotary dims must be at most 6 (head size 8 less window offset 2), got 8");
  }
}

/// Numbers near the end of their range must not overflow into acceptance.
TEST(RotateRefuses, HugeWindows) {
  constexpr Index largest = std::numeric_limits<Index>::max();
  const auto table = table_of_width(4);
  EXPECT_EQ(error_for(table, half.with_offset(largest)), "[rope] window offset must be at most the head size 8, got 9223372036854775807");
  EXPECT_EQ(error_for(table, half.with_rotary_dims(largest - 1).with_offset(4)),
            "[rope] rotary dims must be at most 4 (head size 8 less window offset 4), got 9223372036854775806");
  EXPECT_EQ(error_for(table, half.with_offset(std::numeric_limits<Index>::min())),
            "[rope] window offset must not be negative, got -9223372036854775808");
}

TEST(RotateRefuses, TableWidths) {
  for (const Index width : {0, 1, 3, 5, 7, 9, 16}) {
    EXPECT_EQ(error_for(table_of_width(width), half),
              "[rope] table width must be 4 (one entry per pair) or 8 (one per rotated element), got " + std::to_string(width));
  }
  EXPECT_EQ(error_for(table_of_width(8), interleaved.with_offset(2)),
            "[rope] table width must be 3 (one entry per pair) or 6 (one per rotated element), got 8");
}

TEST(RotateRefuses, TablesThatDoNotBroadcast) {
  EXPECT_EQ(error_for(table_of_width(4, Shape{2}), half),
            "[rope] table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer extents [3, 2], got 2");
  EXPECT_EQ(error_for(table_of_width(4, Shape{0}), half),
            "[rope] table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer extents [3, 2], got 0");
  EXPECT_EQ(error_for(table_of_width(4, Shape{3, 3}), half),
            "[rope] table must have 1 or 2 on axis 2 (counted outwards from the feature axis) for x with outer extents [3, 2], got 3");
  EXPECT_EQ(error_for(table_of_width(4, Shape{6, 1}), half),
            "[rope] table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer extents [3, 2], got 6");
  const std::string beyond = error_for(table_of_width(4, Shape{3, 2, 4}), half);
  EXPECT_TRUE(beyond.rfind("[rope] table must have 1", 0) == 0) << beyond;
  EXPECT_TRUE(beyond.find("on axis 3 (counted outwards from the feature axis) for x with outer extents [3, 2], got 4") != std::string::npos)
      << beyond;
}

/// m = 0, and a full-width table whose members cancel though neither is 0; anywhere in the table.
TEST(RotateRefuses, InversesThatDoNotExist) {
  const std::string message = "[rope] the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0";
  for (const PairKind kind : every_kind) {
    for (const Index place : {0, 3, 7, 11}) {
      Table<float> table = table_of_width(4);
      table.cos[static_cast<std::size_t>(place)] = table.sin[static_cast<std::size_t>(place)] = 0;
      EXPECT_EQ(error_for(table, Pairing(kind), Direction::inverse), message);
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
      EXPECT_EQ(error_for(table, Pairing(kind), Direction::inverse), message);
      EXPECT_NO_THROW(rope::transpose(Tensor(8, 3, 2), table, Pairing(kind)));
    }
  }
}

/// With m = 0 the forward rotation is 0 and fine.
TEST(RotateRefuses, NothingOfAZeroRotation) {
  Table<float> table = table_of_width(4);
  std::fill(table.cos.begin(), table.cos.end(), 0.f);
  std::fill(table.sin.begin(), table.sin.end(), 0.f);
  const Tensor x = random_tensor<float, 3>(Shape{8, 3, 2}, 1);
  const Tensor y = rotate(x, table, half);
  for (Index i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], 0.f);
}

TEST(RotateRefuses, TablesOfTwoShapes) {
  const Eigen::Tensor<float, 2> cos(4, 3);
  const Eigen::Tensor<float, 2> sin(4, 2);
  EXPECT_EQ(error_of([&] { (void)table_of(cos, sin); }), "[rope] cos and sin must have the same shape, got [4, 3] and [4, 2]");
  using RowMajor = Eigen::Tensor<float, 2, Eigen::RowMajor>;
  const Eigen::TensorMap<const RowMajor> cos_map(cos.data(), 3, 4);
  const Eigen::TensorMap<const RowMajor> sin_map(sin.data(), 2, 4);
  EXPECT_EQ(error_of([&] { (void)table_of(cos_map, sin_map); }), "[rope] cos and sin must have the same shape, got [4, 3] and [4, 2]");
}

/// The features of a table's tensor are where x's are: first in ColMajor, last in RowMajor.
TEST(TableOf, ReadsTensorsOfEitherLayout) {
  const auto table = table_of_width(4, Shape{3, 1});
  const Tensor x = random_tensor<float, 3>(Shape{8, 3, 2}, 1);
  const Tensor expected = rotate(x, table, half);
  Eigen::Tensor<float, 3> cos(4, 3, 1), sin(4, 3, 1);
  std::copy(table.cos.begin(), table.cos.end(), cos.data());
  std::copy(table.sin.begin(), table.sin.end(), sin.data());
  const Tensor by_tensors = rotate(x, table_of(cos, sin), half);
  EXPECT_TRUE(same_bits(expected, by_tensors));
  using RowMajor = Eigen::TensorMap<const Eigen::Tensor<float, 2, Eigen::RowMajor>>;
  const Tensor by_maps = rotate(x, table_of(RowMajor(cos.data(), 3, 4), RowMajor(sin.data(), 3, 4)), half);
  EXPECT_TRUE(same_bits(expected, by_maps));
}

std::string error_for_view(const Shape& shape, const std::vector<Index>& strides) {
  const auto table = table_of_width(4, Shape{});
  std::vector<float> buffer = random_values<float>(200, 1);
  const std::vector<float> before = buffer;
  const std::string message = error_of([&] { rotate_inplace(StridedView<float>{buffer.data() + 100, shape, strides}, table, half); });
  EXPECT_TRUE(same_bits(before.data(), buffer.data(), 200));
  return message;
}

TEST(RotateRefuses, Views) {
  constexpr Index largest = std::numeric_limits<Index>::max();
  EXPECT_EQ(error_for_view(Shape{}, {}), "[rope] a strided view must have at least the feature axis, got rank 0");
  EXPECT_EQ(error_for_view(Shape{8, 3, 2}, {8}), "[rope] a strided view must have one stride for each of its 2 outer axes, got 1");
  EXPECT_EQ(error_for_view(Shape{8}, {8}), "[rope] a strided view must have one stride for each of its 0 outer axes, got 1");
  EXPECT_EQ(error_for_view(Shape{8, 3}, {7}), "[rope] strides must step over the 8 elements inside them, or rows share elements, got 7");
  EXPECT_EQ(error_for_view(Shape{8, 3}, {-7}), "[rope] strides must step over the 8 elements inside them, or rows share elements, got 7");
  EXPECT_EQ(error_for_view(Shape{8, 3}, {0}), "[rope] strides must step over the 8 elements inside them, or rows share elements, got 0");
  EXPECT_EQ(error_for_view(Shape{8, 3, 2}, {8, 16}),
            "[rope] strides must step over the 24 elements inside them, or rows share elements, got 16");
  EXPECT_EQ(error_for_view(Shape{8, 3, 2}, {8, 8}),
            "[rope] strides must step over the 16 elements inside them, or rows share elements, got 8");
  EXPECT_EQ(error_for_view(Shape{8, 3}, {std::numeric_limits<Index>::min()}), "[rope] strides must fit 63 bits, got -9223372036854775808");
  EXPECT_EQ(error_for_view(Shape{8, 3}, {largest}),
            "[rope] the span of a strided view must fit a 64-bit count, got 9223372036854775807 x 2");
  EXPECT_EQ(error_for_view(Shape{8, 2}, {largest}),
            "[rope] the span of a strided view must fit 60 bits, got stride 9223372036854775807 over 2 rows");
}

TEST(RotateRefuses, ViewsWithoutData) {
  const auto table = table_of_width(4, Shape{});
  EXPECT_EQ(error_of([&] {
              rotate_inplace(StridedView<float>{nullptr, Shape{8, 3}, {8}}, table, half);
            }),
            "[rope] a strided view must have data, got a null pointer");
}

/// An error in the middle of a larger expression comes when the expression is written down.
TEST(RotateRefuses, BeforeEvaluation) {
  const auto table = table_of_width(5);
  const Tensor x = random_tensor<float, 3>(Shape{8, 3, 2}, 1);
  Tensor y = random_tensor<float, 3>(Shape{8, 3, 2}, 2);
  const Tensor before = y;
  EXPECT_EQ(error_of([&] { y = y + rotate(x, table, half) * 2.f; }),
            "[rope] table width must be 4 (one entry per pair) or 8 (one per rotated element), got 5");
  EXPECT_TRUE(same_bits(before, y));
  EXPECT_THROW((void)inverse(x, table, half), Error);
}

}  // namespace
}  // namespace rope::test
