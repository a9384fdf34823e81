// SPDX-License-Identifier: Apache-2.0
//
// Every instruction set that this machine has and the kernels were compiled for gives the
// reference's bits.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/only_target.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// Rows that take one pass of registers, several, or more than a tile, with and without tails.
std::vector<Case> cases_of_kernels() {
  std::vector<Case> cases = cases_of(every_row);
  constexpr std::array<Row, 6> wide{{{96, 0, 96},
                                     {256, 0, 256},
                                     {272, 16, 256},
                                     {512, 0, 512},
                                     {1100, 0, 1100},
                                     {4104, 4, 4100}}};
  for (const Case& c : cases_of(wide)) cases.push_back(c);
  return cases;
}

/// x of [length, 3, 2], in and out of place, with tables that vary on every choice of outer axes.
template <class Scalar, class TableScalar>
void compare_every_target() {
  using Tensor3 = Eigen::Tensor<Scalar, 3>;
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    std::uint64_t seed = 1;
    for (const Case& c : cases_of_kernels()) {
      const Shape shape{c.row.length, 3, 2};
      const Tensor3 x = random_tensor<Scalar, 3>(shape, ++seed);
      for (const unsigned mask : {0U, 1U, 2U, 3U}) {
        SCOPED_TRACE(target + ": " + c.text() + ", table varies on outer axes " +
                     std::to_string(mask));
        const auto table =
            random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), mask), ++seed);
        Tensor3 expected(x.dimensions());
        reference::rotate(x.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
        const Tensor3 y = rotation(x, table, c.pairing, c.direction);
        ASSERT_TRUE(same_rotation(expected.data(), y.data(), x.data(), shape, c));
        Tensor3 in_place = x;
        rotate_inplace(in_place, table, c.pairing, c.direction);
        ASSERT_TRUE(same_bits(y, in_place));
      }
    }
  }
}

TEST(RotateTargets, Float) { compare_every_target<float, float>(); }
TEST(RotateTargets, Double) { compare_every_target<double, double>(); }
TEST(RotateTargets, Half) { compare_every_target<Eigen::half, float>(); }
TEST(RotateTargets, Bfloat16) { compare_every_target<Eigen::bfloat16, float>(); }
TEST(RotateTargets, HalfWithHalfTable) { compare_every_target<Eigen::half, Eigen::half>(); }
TEST(RotateTargets, Bfloat16WithBfloat16Table) {
  compare_every_target<Eigen::bfloat16, Eigen::bfloat16>();
}
TEST(RotateTargets, FloatWithBfloat16Table) { compare_every_target<float, Eigen::bfloat16>(); }

/// More rows than a tile holds, with one table row each, shared by the next axis (heads outside
/// tokens) or not.
template <class Scalar>
void compare_tiles() {
  using Tensor3 = Eigen::Tensor<Scalar, 3>;
  constexpr std::array<Row, 3> tile_rows{{{128, 0, 128}, {80, 8, 32}, {70, 0, 70}}};
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    std::uint64_t seed = 100;
    for (const Case& c : cases_of(tile_rows)) {
      const Shape shape{c.row.length, 75, 3};
      const Tensor3 x = random_tensor<Scalar, 3>(shape, ++seed);
      for (const unsigned mask : {1U, 2U, 3U}) {
        SCOPED_TRACE(target + ": " + c.text() + ", table varies on outer axes " +
                     std::to_string(mask));
        const auto table = random_table<detail::Widened<Scalar>>(
            c.width(), broadcast_outer(shape.outer(), mask), ++seed);
        Tensor3 expected(x.dimensions());
        reference::rotate(x.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
        ASSERT_TRUE(same_rotation(expected.data(),
                                  Tensor3(rotation(x, table, c.pairing, c.direction)).data(),
                                  x.data(), shape, c));
      }
    }
  }
}

TEST(RotateTargets, TilesOfFloat) { compare_tiles<float>(); }
TEST(RotateTargets, TilesOfHalf) { compare_tiles<Eigen::half>(); }
TEST(RotateTargets, TilesOfBfloat16) { compare_tiles<Eigen::bfloat16>(); }

/// Stores past the cache write the same, wherever the destination begins.
template <class Scalar>
void compare_streaming() {
  set_streaming_threshold(0);
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    std::uint64_t seed = 200;
    for (const Case& c : cases_of_kernels()) {
      const Shape shape{c.row.length, 3, 2};
      const std::vector<Scalar> x = random_values<Scalar>(shape.size(), ++seed);
      for (const unsigned mask : {1U, 2U}) {
        const auto table = random_table<detail::Widened<Scalar>>(
            c.width(), broadcast_outer(shape.outer(), mask), ++seed);
        std::vector<Scalar> expected(x.size());
        reference::rotate(x.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, sizeof(Scalar)}) {
          SCOPED_TRACE(target + ": " + c.text() + ", " + std::to_string(bytes) +
                       " bytes from a cache line");
          const std::size_t begin = bytes / sizeof(Scalar);
          detail::AlignedVector<Scalar> y(begin + x.size() + 1, Scalar(77));
          const std::vector<Index> strides{c.row.length, 3 * c.row.length};
          rotate_to(StridedView<Scalar>{y.data() + begin, shape, strides},
                    StridedView<const Scalar>{x.data(), shape, strides}, table, c.pairing,
                    c.direction);
          ASSERT_TRUE(same_rotation(expected.data(), y.data() + begin, x.data(), shape, c));
          ASSERT_TRUE(same_number(y.back(), Scalar(77)));
        }
      }
    }
  }
  reset_streaming_threshold();
}

TEST(RotateTargets, StreamingFloat) { compare_streaming<float>(); }
TEST(RotateTargets, StreamingDouble) { compare_streaming<double>(); }
TEST(RotateTargets, StreamingHalf) { compare_streaming<Eigen::half>(); }
TEST(RotateTargets, StreamingBfloat16) { compare_streaming<Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::test
