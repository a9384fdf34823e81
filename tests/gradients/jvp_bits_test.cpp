// SPDX-License-Identifier: Apache-2.0
//
// The bits of jvp_to() on every kernel, through the cache and past it: those of two rotations, each
// rounded, and their rounded sum; for rows that share a row of the table and rows that do not, on
// cache lines and beside them, out of place and in place.
#include <gtest/gtest.h>

#include <algorithm>

#include "eigen_rope/gradients/tangent.hpp"
#include "support/bits.hpp"
#include "support/dense_view.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::jvp_bits_tests {
namespace {

struct JvpCase {
  Shape shape;
  Shape table_outer;
  Pairing pairing;
};

/// Heads of whole vectors and others; one row of the table for all heads, for each row, for all.
std::vector<JvpCase> cases() {
  std::vector<JvpCase> result;
  for (const Pairing& pairing : {split_half, interleaved, interleaved_to_split_half}) {
    result.push_back({{128, 11, 3}, {1, 3}, pairing});
    result.push_back({{64, 5, 3}, {5, 3}, pairing});
    result.push_back({{256, 9, 2}, {1, 1}, pairing});
    result.push_back({{32, 1, 7}, {1, 7}, pairing});
    result.push_back({{80, 3, 4}, {1, 4}, pairing});
    result.push_back({{34, 3, 2}, {1, 2}, pairing});
    result.push_back({{96, 3, 4}, {1, 4}, pairing.with_rotary_dims(64)});
    result.push_back({{96, 3, 4}, {3, 1}, pairing.with_offset(16).with_rotary_dims(64)});
  }
  return result;
}

template <class Scalar, class TableScalar>
void expect_the_bits_of_two_rotations(const JvpCase& one, bool full_width) {
  const Index dims = one.pairing.rotary_dims(one.shape[0]);
  const Index width = full_width ? dims : dims / 2;
  const Index size = one.shape.size();
  const auto x = random_values<Scalar>(size, 1);
  const auto dx = random_values<Scalar>(size, 2);
  const auto table = random_table<TableScalar>(width, one.table_outer, 3);
  const auto tangent = tangent_of(table, random_values<double>(width * one.table_outer.size(), 4));
  std::vector<Scalar> expected(static_cast<std::size_t>(size));
  std::vector<Scalar> turned(static_cast<std::size_t>(size));
  rotate_to(dense(expected, one.shape), dense(dx, one.shape), table, one.pairing);
  rotate_to(dense(turned, one.shape), dense(x, one.shape), tangent, one.pairing);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Index in_row = static_cast<Index>(i) % one.shape[0] - one.pairing.offset();
    if (in_row >= 0 && in_row < dims) expected[i] = static_cast<Scalar>(expected[i] + turned[i]);
  }
  const auto bits = bits_of(expected.data(), size);
  for (const std::size_t begin : {0U, 1U, 4U}) {
    std::vector<Scalar> room(static_cast<std::size_t>(size) + 72, static_cast<Scalar>(7));
    const auto address = reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(Scalar);
    Scalar* const dy = room.data() + (32 - address % 32) + begin;
    on_every_path([&](Path) {
      std::fill(room.begin(), room.end(), static_cast<Scalar>(7));
      jvp_to(dense(dy, one.shape), dense(x, one.shape), dense(dx, one.shape), table, tangent,
             one.pairing);
      EXPECT_EQ(bits_of(dy, size), bits) << one.shape.text() << " from element " << begin;
      EXPECT_EQ(static_cast<float>(dy[-1]), 7);
      EXPECT_EQ(static_cast<float>(dy[size]), 7);
      std::copy(dx.begin(), dx.end(), dy);
      jvp_to(dense(dy, one.shape), dense(x, one.shape), dense(dy, one.shape), table, tangent,
             one.pairing);
      EXPECT_EQ(bits_of(dy, size), bits) << one.shape.text() << " in place";
    });
  }
}

TEST(JvpBits, AreThoseOfTwoRotationsAndASum) {
  for (const JvpCase& one : cases()) {
    for (const bool full_width : {false, true}) {
      expect_the_bits_of_two_rotations<float, float>(one, full_width);
      expect_the_bits_of_two_rotations<double, double>(one, full_width);
      expect_the_bits_of_two_rotations<Eigen::half, float>(one, full_width);
    }
  }
}

/// Heads outside tokens: the rows that share a row of the table do not follow each other.
TEST(JvpBits, HoldForHeadsOutsideTokens) {
  const Shape shape{128, 6, 5};  // tokens, heads
  const auto x = random_values<float>(shape.size(), 1);
  const auto dx = random_values<float>(shape.size(), 2);
  const auto table = random_table<float>(64, Shape{6, 1}, 3);
  const auto tangent = tangent_of(table, random_values<double>(64 * 6, 4));
  std::vector<float> expected(x.size()), turned(x.size()), dy(x.size());
  rotate_to(dense(expected, shape), dense(dx, shape), table, split_half);
  rotate_to(dense(turned, shape), dense(x, shape), tangent, split_half);
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] += turned[i];
  const auto bits = bits_of(expected.data(), shape.size());
  // The same memory with heads as the inner axis.
  const std::vector<Index> strides{6 * 128, 128};
  const auto view = [&](auto* data) {
    return StridedView<std::remove_pointer_t<decltype(data)>>{data, Shape{128, 5, 6}, strides};
  };
  const auto by_token = TableView<float>{table.view().cos, table.view().sin, 64, Shape{1, 6}};
  const TangentTable<float> tangent_by_token(by_token, random_values<double>(64 * 6, 4), {});
  on_every_path([&](Path) {
    std::fill(dy.begin(), dy.end(), 7.0F);
    jvp_to(dense(dy, shape), dense(x, shape), dense(dx, shape), table, tangent, split_half);
    EXPECT_EQ(bits_of(dy.data(), shape.size()), bits);
    std::fill(dy.begin(), dy.end(), 7.0F);
    jvp_to(view(dy.data()), view(x.data()), view(dx.data()), by_token, tangent_by_token,
           split_half);
    EXPECT_EQ(bits_of(dy.data(), shape.size()), bits);
  });
}

}  // namespace
}  // namespace eigen_rope::test::jvp_bits_tests
