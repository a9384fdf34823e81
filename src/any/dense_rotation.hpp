// SPDX-License-Identifier: Apache-2.0
//
// The rotation of tensors whose elements lie one behind the other, which is what most calls ask
// for.
//
//   x, y     [outer axes, D], dense
//   table    [the same axes or 1, width], dense
//
// Such tensors have no elements that share memory and no axis to look for, so that few questions
// are left. A rotation of one token takes hardly longer than its loop this way. Whatever does not
// fit is answered with "no", and left to the general way with its messages.
// Private to the room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "any/places.hpp"
#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/rows/detail/placed_rotation.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Whether elements lie one behind the other, the last of the shape's axes fastest in a list that
/// begins with the slowest. The number of strides must be right.
inline bool is_dense(const Shape& shape, const Strides& strides, any::Order order) {
  if (strides.size() == 0) return true;
  const FastestFirst extents(shape, order);
  Index stride = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (extents[axis] != 1 && strides[static_cast<std::size_t>(extents.place_of(axis))] != stride)
      return false;
    stride *= extents[axis];
  }
  return true;
}

/// Whether a tensor, or a table, is dense, has elements, and is described as it must be.
template <class Described>
bool is_ordinary(const Described& given) {
  const bool listed =
      given.order == any::Order::slowest_first || given.order == any::Order::fastest_first;
  const auto axes = static_cast<std::size_t>(given.shape.rank());
  return listed && axes != 0 && given.shape.size() != 0 &&
         (given.strides.size() == 0 || given.strides.size() == axes) &&
         is_dense(given.shape, given.strides, given.order);
}

/// Whether both pointers are those of elements in memory.
template <class Scalar>
bool are_elements(const void* a, const void* b) {
  const auto misplaced =
      (reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) % sizeof(Scalar);
  return a != nullptr && b != nullptr && misplaced == 0;
}

/// A call of rotate_to().
struct RotateCall {
  const any::Tensor& y;
  const any::ConstTensor& x;
  const any::Table& table;
  const Pairing& pairing;
  Direction direction;
};

/// Whether rows lie along the fastest axis, because the pairing names it or no other may be meant.
inline bool turns_fastest_axis(const Pairing& pairing, const any::ConstTensor& x) {
  return pairing.axis() ? *pairing.axis() == FastestFirst(x.shape, x.order).place_of(0)
                        : default_axis() == DefaultAxis::fastest;
}

/// Whether everything is dense and has its features on the fastest axis. The inverse is no such
/// call, as it may have to look for zeros in the table.
template <class Scalar, class Entry>
bool is_dense(const RotateCall& call) {
  const auto& [y, x, table, pairing, direction] = call;
  const auto fastest = FastestFirst(table.shape, table.order).place_of(0);
  return x.type == scalar_type<Scalar> && direction != Direction::inverse && lie_alike(y, x) &&
         is_ordinary(x) && turns_fastest_axis(pairing, x) && is_ordinary(table) &&
         table.feature_axis.value_or(fastest) == fastest && are_elements<Scalar>(x.data, y.data) &&
         are_elements<Entry>(table.cos, table.sin);
}

/// Writes the rotation if it is of dense tensors with their features on the fastest axis, and
/// returns whether it is. Stores are the caller's choice.
///
/// - Errors:   eigen_rope::Error as rotate_to() throws it. Where it returns false, nothing is known
///             of the arguments.
template <class Scalar, class Entry>
bool make_dense_rotation(PlacedRotation<Scalar, Entry, Scalar>& rotation, const RotateCall& call) {
  if (!is_dense<Scalar, Entry>(call)) return false;
  const auto& [y, x, table, pairing, direction] = call;
  const FastestFirst extents(x.shape, x.order);
  const FastestFirst entries(table.shape, table.order);
  const int axes = x.shape.rank() - 1;
  std::array<Index, max_rank> shape, strides, table_strides;
  Shape table_outer;
  Index stride = shape[0] = extents[0];
  Index table_stride = entries[0];
  for (int axis = 1; axis <= axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Index rows = entries[axis];
    shape[i] = extents[axis];
    if (rows != 1 && rows != shape[i]) return false;
    strides[i] = stride;
    stride *= shape[i];
    table_strides[i] = rows == 1 ? 0 : table_stride;
    table_stride *= rows;
    table_outer.push_back(rows);
  }
  if (table_stride != table.shape.size()) return false;  // axes that x does not have

  naming_other_axes(
      {shape.data(), axes + 1, entries[0], &table_outer, &pairing, index_order(x.order)},
      [&] { rotation.plan = make_row_plan(shape[0], entries[0], call.pairing, call.direction); });
  const Span span{0, stride - 1};
  const Span table_span{0, table_stride - 1};
  const Stretch written = stretch_of(y.data, sizeof(Scalar), span);
  if ((x.data != y.data && overlap(stretch_of(x.data, sizeof(Scalar), span), written)) ||
      overlap(stretch_of(table.cos, sizeof(Entry), table_span), written) ||
      overlap(stretch_of(table.sin, sizeof(Entry), table_span), written))
    return false;

  auto& block = rotation.block;
  block.x = static_cast<const Scalar*>(x.data);
  block.y = static_cast<Scalar*>(y.data);
  block.cos = static_cast<const Entry*>(table.cos);
  block.sin = static_cast<const Entry*>(table.sin);
  block.features = {1, 1, 1};
  fill_walk(block.rows, axes, shape.data() + 1, strides.data() + 1, strides.data() + 1,
            table_strides.data() + 1);
  return true;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
