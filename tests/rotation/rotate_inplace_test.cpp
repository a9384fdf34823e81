// SPDX-License-Identifier: Apache-2.0
//
// Rotation where x lies: `x = rotate(x)`, whole tensors, and strided views into larger ones, which
// leave everything around them alone.
#include <gtest/gtest.h>

#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_inplace_tests {
namespace {

using Eigen::ColMajor;
using Eigen::RowMajor;

constexpr std::array<Row, 8> rows{{{2, 0, 2},
                                   {10, 0, 10},
                                   {64, 0, 64},
                                   {70, 0, 70},
                                   {80, 8, 32},
                                   {37, 5, 32},
                                   {12, 3, 8},
                                   {128, 0, 128}}};

/// `x = rotate(x)` and rotate_inplace(x) against `y = rotate(x)`.
template <class XScalar, class TableScalar, int layout>
void compare_in_place() {
  using Tensor = Eigen::Tensor<XScalar, 3, layout>;
  std::uint64_t seed = 1;
  for (const Case& c : cases_of(rows)) {
    const Tensor x = random_tensor<XScalar, 3, layout>(Shape{c.row.length, 5, 4}, ++seed);
    for (const unsigned mask : {0U, 1U, 2U, 3U}) {
      SCOPED_TRACE(c.text() + ", table varies on outer axes " + std::to_string(mask));
      const auto table =
          random_table<TableScalar>(c.width(), broadcast_outer(Shape{5, 4}, mask), ++seed);
      const Tensor expected = rotation(x, table, c.pairing, c.direction);
      Tensor assigned = x;
      assigned = rotation(assigned, table, c.pairing, c.direction);
      ASSERT_TRUE(same_bits(expected, assigned));
      Tensor in_place = x;
      rotate_inplace(in_place, table, c.pairing, c.direction);
      ASSERT_TRUE(same_bits(expected, in_place));
      Tensor to_itself = x;
      const Eigen::TensorMap<const Tensor> same_memory(to_itself.data(), to_itself.dimensions());
      rotate_to(to_itself, same_memory, table, c.pairing, c.direction);
      ASSERT_TRUE(same_bits(expected, to_itself));
    }
  }
}

TEST(RotateInPlace, Float) { compare_in_place<float, float, ColMajor>(); }
TEST(RotateInPlace, DoubleRowMajor) { compare_in_place<double, double, RowMajor>(); }
TEST(RotateInPlace, HalfWithFloatTable) { compare_in_place<Eigen::half, float, ColMajor>(); }
TEST(RotateInPlace, LongDouble) { compare_in_place<long double, long double, ColMajor>(); }

/// A view's rows gathered, rotated as a dense tensor and put back: what rotate_inplace must do to
/// the buffer and nothing more.
template <class Scalar, class AnyTable>
std::vector<Scalar> expected_buffer(const std::vector<Scalar>& buffer, Index start,
                                    const Shape& shape, const std::vector<Index>& strides,
                                    const AnyTable& table, const Case& c) {
  const Shape padded{shape[0], shape[1], shape[2], shape[3]};
  Eigen::Tensor<Scalar, 4> dense(sizes_of<4, ColMajor>(padded));
  const auto place = [&](Index row) {
    Index at = start;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      at += row % padded[static_cast<int>(axis) + 1] * strides[axis];
      row /= padded[static_cast<int>(axis) + 1];
    }
    return static_cast<std::size_t>(at);
  };
  const Index row_count = dense.size() / shape[0];
  for (Index row = 0; row < row_count; ++row) {
    for (Index d = 0; d < shape[0]; ++d)
      dense.data()[row * shape[0] + d] = buffer[place(row) + static_cast<std::size_t>(d)];
  }
  const Eigen::Tensor<Scalar, 4> rotated = rotation(dense, table, c.pairing, c.direction);
  std::vector<Scalar> result = buffer;
  for (Index row = 0; row < row_count; ++row) {
    for (Index d = 0; d < shape[0]; ++d)
      result[place(row) + static_cast<std::size_t>(d)] = rotated.data()[row * shape[0] + d];
  }
  return result;
}

template <class Scalar, class TableScalar>
void compare_view(Index buffer_size, Index start, const Shape& outer,
                  const std::vector<Index>& strides, const std::vector<Row>& some_rows) {
  std::uint64_t seed = 100;
  for (const Case& c : cases_of(some_rows)) {
    const Shape shape = with_row(c.row.length, outer);
    for (unsigned mask = 0; mask < 1U << outer.rank(); ++mask) {
      SCOPED_TRACE(c.text() + ", table varies on outer axes " + std::to_string(mask));
      const auto table = random_table<TableScalar>(c.width(), broadcast_outer(outer, mask), ++seed);
      std::vector<Scalar> buffer = random_values<Scalar>(buffer_size, ++seed);
      const std::vector<Scalar> expected = expected_buffer(buffer, start, shape, strides, table, c);
      rotate_inplace(StridedView<Scalar>{buffer.data() + start, shape, strides}, table, c.pairing,
                     c.direction);
      ASSERT_TRUE(same_bits(expected.data(), buffer.data(), buffer_size));
    }
  }
}

/// q, then k, in a fused buffer [D, heads + 2 kv_heads, S, B]: v, and what is not rotated at the
/// time, stay as they are.
TEST(RotateStridedView, FusedQkv) {
  constexpr Index heads = 6, kv_heads = 2, all = heads + 2 * kv_heads, tokens = 5, batches = 3;
  for (const Index D : {64, 10}) {
    const std::vector<Index> strides{D, D * all, D * all * tokens};
    const Index size = D * all * tokens * batches;
    const std::vector<Row> whole{{D, 0, D}};
    compare_view<float, float>(size, 0, {heads, tokens, batches}, strides, whole);
    compare_view<float, float>(size, heads * D, {kv_heads, tokens, batches}, strides, whole);
    compare_view<Eigen::half, float>(size, 0, {heads, tokens, batches}, strides, whole);
  }
}

/// Axes in another order than memory has them: a [D, H, S] tensor seen as [D, S, H].
TEST(RotateStridedView, PermutedAxes) {
  const std::vector<Row> some{{18, 0, 18}, {37, 5, 32}};
  for (const Row& row : some) {
    compare_view<float, float>(row.length * 4 * 7, 0, {7, 4}, {row.length * 4, row.length}, {row});
    compare_view<double, double>(row.length * 4 * 7 * 2, 0, {2, 7, 4},
                                 {row.length * 28, row.length * 4, row.length}, {row});
  }
}

/// From the last token to the first, and both axes backwards.
TEST(RotateStridedView, NegativeStrides) {
  const Index D = 20;
  compare_view<float, float>(D * 3 * 6, D * 3 * 5, {3, 6}, {D, -D * 3}, {{D, 0, D}});
  compare_view<float, float>(D * 3 * 6, D * (3 * 6 - 1), {3, 6}, {-D, -D * 3}, {{D, 0, D}});
  compare_view<float, float>(D * 3 * 6, D * 2, {3, 6}, {-D, D * 3}, {{D, 0, D}});
}

/// Every other token, rows with gaps, and axes of one element, whose strides do not matter.
TEST(RotateStridedView, GapsAndAxesOfOne) {
  const Index D = 16;
  compare_view<float, float>((D + 5) * 3 * 8, 0, {3, 4}, {D + 5, (D + 5) * 6}, {{D, 0, D}});
  compare_view<float, float>(D * 4, 0, {1, 4}, {0, D}, {{D, 0, D}});
  compare_view<float, float>(D * 4, 0, {4, 1}, {D, 3}, {{D, 0, D}});
  compare_view<float, float>(D, 0, {}, {}, {{D, 0, D}});
}

TEST(RotateStridedView, EmptyViewsNeedNoData) {
  const auto table = random_table<float>(4, Shape{}, 1);
  rotate_inplace(StridedView<float>{nullptr, Shape{8, 0}, {8}}, table, eigen_rope::split_half);
  rotate_inplace(StridedView<float>{nullptr, Shape{8, 3, 0}, {8, 0}}, table,
                 eigen_rope::split_half);
  const TableView<float> no_entries{};
  rotate_inplace(StridedView<float>{nullptr, Shape{0, 3}, {0}}, no_entries, eigen_rope::split_half);
  float untouched = 5;
  rotate_inplace(StridedView<float>{&untouched, Shape{8, 0}, {8}}, table, eigen_rope::split_half);
  EXPECT_EQ(untouched, 5);
}

}  // namespace
}  // namespace eigen_rope::test::rotate_inplace_tests
