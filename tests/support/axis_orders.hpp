// SPDX-License-Identifier: Apache-2.0
//
// One rotation of a tensor in every order of its axes in memory in which the features are not the
// fastest: through views with gaps, and as an expression over a dense tensor.
#pragma once

#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/axis_cases.hpp"
#include "support/reordered.hpp"

namespace eigen_rope::test {

/// How many answers rotate_in_every_order() gives: three for each of rank! - (rank - 1)! orders.
template <int rank>
inline constexpr std::size_t answers_in_every_order = 0;
template <>
inline constexpr std::size_t answers_in_every_order<3> = 3 * 4;
template <>
inline constexpr std::size_t answers_in_every_order<4> = 3 * 18;

/// The rotation of a ColMajor tensor whose indices are the axes in the order of `order`, by a table
/// in that order.
template <int rank, class Scalar, class Entry>
std::vector<Scalar> rotated_expression(const std::vector<Scalar>& x, const Shape& shape,
                                       const std::vector<int>& order,
                                       const PlacedTable<Entry>& table, Pairing pairing,
                                       Direction direction) {
  Shape sizes;
  const Shape all_of_table = with_row(table.width, table.outer);
  PlacedTable<Entry> in_order = table;
  in_order.cos = Reordered<Entry>(table.cos, all_of_table, order).values();
  in_order.sin = Reordered<Entry>(table.sin, all_of_table, order).values();
  in_order.outer = Shape{};
  for (int place = 0; place < rank; ++place) {
    const int axis = order[static_cast<std::size_t>(place)];
    sizes.push_back(shape[axis]);
    if (axis == 0) {
      in_order.feature_axis = place;
    } else {
      in_order.outer.push_back(all_of_table[axis]);
    }
  }
  Reordered<Scalar> memory(x, shape, order);
  const Eigen::TensorMap<Eigen::Tensor<Scalar, rank>> tensor(
      memory.view().data, sizes_of<rank, Eigen::ColMajor>(sizes));
  const Eigen::Tensor<Scalar, rank> y =
      rotation(tensor, in_order, pairing.along(in_order.feature_axis), direction);
  std::copy(y.data(), y.data() + y.size(), memory.view().data);
  return memory.dense();
}

/// Calls see(y) with the rotation of x, both dense with the features in front:
/// answers_in_every_order times. Rows of the table have their entries next to each other, and so
/// has x.
template <int rank, class Scalar, class Entry, class See>
void rotate_in_every_order(const std::vector<Scalar>& x, const Shape& shape,
                           const PlacedTable<Entry>& table, Pairing pairing, Direction direction,
                           const See& see) {
  constexpr Index gap = 3;
  std::vector<int> usual(rank);
  std::iota(usual.begin(), usual.end(), 0);
  int turn = 0;
  for (const std::vector<int>& order : orders_with_slower_features(rank)) {
    SCOPED_TRACE(testing::Message()
                 << "axes in memory, fastest first: " << testing::PrintToString(order));
    const PlacedTable<Entry> placed = table.with_features_behind(turn++ % rank);
    Reordered<Scalar> there(x, shape, order, gap);
    Reordered<Scalar> here(std::vector<Scalar>(x.size()), shape, usual, gap);
    rotate_to(here.view(), there.view(), placed, pairing, direction);
    ASSERT_TRUE(same_bits(x.data(), there.dense().data(), shape.size())) << "x was changed";
    see(here.dense());
    rotate_inplace(there.view(), placed, pairing, direction);
    see(there.dense());
    ASSERT_EQ(here.damaged() + there.damaged(), 0U);
    see(rotated_expression<rank>(x, shape, order, table, pairing, direction));
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace eigen_rope::test
