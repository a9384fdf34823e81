// SPDX-License-Identifier: Apache-2.0
//
// eigen_rope::rotate_to and direct assignment check what Eigen does not: shapes, and memory that x,
// the table and the destination share. What is refused has written nothing.
#include "eigen_rope/rotation/rotate_to.hpp"

#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_to_tests {
namespace {

using Tensor = Eigen::Tensor<float, 2>;
using Map = Eigen::TensorMap<Tensor>;
using ConstMap = Eigen::TensorMap<const Tensor>;

constexpr std::array<Row, 3> rows{{{18, 0, 18}, {37, 5, 32}, {64, 0, 64}}};

TEST(RotateTo, EqualsAssignment) {
  for (const Case& c : cases_of(rows)) {
    SCOPED_TRACE(c.text());
    const Tensor x = random_tensor<float, 2>(Shape{c.row.length, 5}, 1);
    const auto table = random_table<float>(c.width(), Shape{5}, 2);
    const Tensor expected = rotation(x, table, c.pairing, c.direction);
    Tensor y(x.dimensions());
    rotate_to(y, x, table, c.pairing, c.direction);
    EXPECT_TRUE(same_bits(expected, y));
    Tensor mapped(x.dimensions());
    rotate_to(Map(mapped.data(), mapped.dimensions()), ConstMap(x.data(), x.dimensions()), table,
              c.pairing, c.direction);
    EXPECT_TRUE(same_bits(expected, mapped));

    const Tensor scaled = x * 2.f;
    const Tensor expected_of_scaled = rotation(scaled, table, c.pairing, c.direction);
    rotate_to(y, x * 2.f, table, c.pairing, c.direction);
    EXPECT_TRUE(same_bits(expected_of_scaled, y));
  }
}

TEST(RotateTo, ForwardIsTheDefault) {
  const Tensor x = random_tensor<float, 2>(Shape{8, 3}, 1);
  const auto table = random_table<float>(4, Shape{3}, 2);
  const Tensor expected = rotate(x, table, split_half);
  Tensor y(x.dimensions());
  rotate_to(y, x, table, split_half);
  EXPECT_TRUE(same_bits(expected, y));
  Tensor in_place = x;
  rotate_inplace(in_place, table, split_half);
  EXPECT_TRUE(same_bits(expected, in_place));
}

TEST(RotateTo, RefusesAnotherShape) {
  const Tensor x = random_tensor<float, 2>(Shape{8, 3}, 1);
  const auto table = random_table<float>(4, Shape{3}, 2);
  for (const auto& [shape, text] : {std::pair<Shape, const char*>{{8, 2}, "[8, 2]"},
                                    {{8, 4}, "[8, 4]"},
                                    {{6, 3}, "[6, 3]"},
                                    {{3, 8}, "[3, 8]"},
                                    {{0, 0}, "[0, 0]"}}) {
    Tensor y = random_tensor<float, 2>(shape, 3);
    const Tensor before = y;
    EXPECT_EQ(error_of([&] { rotate_to(y, x, table, split_half); }),
              std::string("[rope] the destination must have x's shape [8, 3], got ") + text);
    EXPECT_TRUE(same_bits(before, y));
  }
}

/// One buffer, and in it x, and a destination at every distance that shares memory with x.
TEST(RotateTo, RefusesPartialOverlap) {
  constexpr Index size = 8 * 3;
  for (const Case& c : cases_of(std::array<Row, 1>{{{8, 0, 8}}})) {
    const auto table = random_table<float>(c.width(), Shape{3}, 1);
    for (const Index distance :
         {-size, -size + 1, Index{-8}, Index{-1}, Index{1}, Index{3}, Index{8}, size - 1, size}) {
      SCOPED_TRACE(c.text() + ", " + std::to_string(distance) + " elements apart");
      std::vector<float> buffer = random_values<float>(3 * size, 2);
      const std::vector<float> before = buffer;
      const ConstMap x(buffer.data() + size, 8, 3);
      Map y(buffer.data() + size + distance, 8, 3);
      const Tensor x_before = x;
      if (std::abs(distance) == size) {
        const Tensor expected = rotation(x_before, table, c.pairing, c.direction);
        rotate_to(y, x, table, c.pairing, c.direction);
        ASSERT_TRUE(same_bits(expected.data(), y.data(), size));
        continue;
      }
      const std::string message =
          "[rope] x and the destination must be the same memory or not overlap at all (distance in "
          "bytes), got " +
          std::to_string(4 * distance);
      EXPECT_EQ(error_of([&] { rotate_to(y, x, table, c.pairing, c.direction); }), message);
      ASSERT_TRUE(same_bits(before.data(), buffer.data(), 3 * size));
      EXPECT_EQ(error_of([&] { y = rotation(x, table, c.pairing, c.direction); }), message)
          << "by assignment";
      ASSERT_TRUE(same_bits(before.data(), buffer.data(), 3 * size));
    }
  }
}

/// A slice of tokens has raw data, on either side.
TEST(RotateTo, RefusesPartialOverlapOfSlices) {
  using Sizes = Eigen::DSizes<Eigen::Index, 2>;
  Tensor x = random_tensor<float, 2>(Shape{8, 5}, 1);
  const Tensor before = x;
  const auto table = random_table<float>(4, Shape{}, 2);
  EXPECT_EQ(error_of([&] {
              x.slice(Sizes(0, 1), Sizes(8, 3)) =
                  rotate(x.slice(Sizes(0, 0), Sizes(8, 3)), table, split_half);
            }),
            "[rope] x and the destination must be the same memory or not overlap at all (distance "
            "in bytes), got 32");
  EXPECT_TRUE(same_bits(before, x));
  x.slice(Sizes(0, 1), Sizes(8, 3)) = rotate(x.slice(Sizes(0, 1), Sizes(8, 3)), table, split_half);
  const Tensor all = rotate(before, table, split_half);
  Tensor expected = before;
  for (Index i = 8; i < 4 * 8; ++i) expected.data()[i] = all.data()[i];
  EXPECT_TRUE(same_bits(expected, x)) << "the same slice is in place";
}

/// The destination begins inside cos, ends inside it, or lies in sin; statement and assignment.
TEST(RotateTo, RefusesADestinationInTheTable) {
  const std::string message = "[rope] the destination must not overlap the table";
  constexpr Index entries = 4 * 3;
  constexpr Index size = 8 * 3;
  const Tensor x = random_tensor<float, 2>(Shape{8, 3}, 1);
  // [free | cos | sin | free]
  std::vector<float> buffer = random_values<float>(2 * size + 2 * entries, 2, 0.5, 1);
  const std::vector<float> before = buffer;
  const TableView<float> table{buffer.data() + size, buffer.data() + size + entries, 4, Shape{3}};
  for (const Index start :
       {Index{1}, size / 2, size, size + 1, size + entries, size + 2 * entries - 1}) {
    SCOPED_TRACE(start);
    Map y(buffer.data() + start, 8, 3);
    EXPECT_EQ(error_of([&] { rotate_to(y, x, table, split_half); }), message);
    EXPECT_EQ(error_of([&] { y = rotate(x, table, split_half); }), message);
    EXPECT_EQ(error_of([&] { y = rotate(x * 2.f, table, split_half); }), message);
    EXPECT_EQ(error_of([&] {
                rotate_inplace(StridedView<float>{y.data(), Shape{8, 3}, {8}}, table, split_half);
              }),
              message);
    ASSERT_TRUE(same_bits(before.data(), buffer.data(), static_cast<Index>(buffer.size())));
  }
  Map in_front(buffer.data(), 8, 3);
  Map behind(buffer.data() + size + 2 * entries, 8, 3);
  const Tensor expected = rotate(x, table, split_half);
  rotate_to(in_front, x, table, split_half);
  rotate_to(behind, x, table, split_half);
  EXPECT_TRUE(same_bits(expected.data(), in_front.data(), size));
  EXPECT_TRUE(same_bits(expected.data(), behind.data(), size));
}

/// A view backwards from behind the table reaches into it.
TEST(RotateTo, RefusesABackwardViewIntoTheTable) {
  std::vector<float> buffer = random_values<float>(8 + 8 * 3, 1, 0.5, 1);
  const std::vector<float> before = buffer;
  const TableView<float> table{buffer.data(), buffer.data() + 4, 4, Shape{}};
  EXPECT_EQ(error_of([&] {
              rotate_inplace(StridedView<float>{buffer.data() + 24, Shape{8, 4}, {-8}}, table,
                             split_half);
            }),
            "[rope] the destination must not overlap the table");
  EXPECT_TRUE(same_bits(before.data(), buffer.data(), static_cast<Index>(buffer.size())));
  rotate_inplace(StridedView<float>{buffer.data() + 24, Shape{8, 3}, {-8}}, table, split_half);
  EXPECT_FALSE(same_bits(before.data(), buffer.data(), static_cast<Index>(buffer.size())));
  EXPECT_TRUE(same_bits(before.data(), buffer.data(), 8));
}

}  // namespace
}  // namespace eigen_rope::test::rotate_to_tests
