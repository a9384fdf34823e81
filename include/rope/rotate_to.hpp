// SPDX-License-Identifier: Apache-2.0
//
// The rotation as a statement, with the checks that Eigen's assignment leaves out.
//
//   rope::rotate_to(y, x, cache, rope::half);                 y = rotate(x): shapes and overlap are checked, in release builds too
//   rope::rotate_inplace(view, cache, rope::half);            rows of a strided view, where they lie
//
// Eigen's `y.device(d) = expression` neither resizes nor checks y, and cannot write through a slice to raw rows. Everything is refused
// before the first element is written. Not lazy, and not needed where `y = rotate(x, ...)` does.
#pragma once

#include <string>

#include "rope/detail/overlap.hpp"
#include "rope/rotate.hpp"
#include "rope/strided_view.hpp"

namespace rope {

/// y = the rotation of x in the given direction.
///
/// \param y       Eigen::Tensor or TensorMap of x's shape; it is not resized
/// \param x       any expression, as for rotate(). If it has raw data, y may be that data but must not overlap it otherwise. An
///                expression without raw data that reads y's memory cannot be recognised
/// \param device  DefaultDevice or ThreadPoolDevice
/// \throws rope::Error as rotate() and inverse(), for other shapes, and for aliasing that cannot work
template <class Y, class X, class Table, class Device = Eigen::DefaultDevice>
void rotate_to(Y&& y, const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& x, const Table& table, Pairing pairing,
               Direction direction = Direction::forward, const Device& device = Device()) {
  const auto node = detail::make_node(static_cast<const X&>(x), table.view(), pairing, direction);
  using Node = std::remove_const_t<decltype(node)>;
  const Eigen::TensorEvaluator<const Node, Eigen::DefaultDevice> evaluator(node, Eigen::DefaultDevice());
  constexpr int layout = Eigen::internal::traits<Node>::Layout;
  const Shape x_shape = detail::shape_of<layout>(evaluator.dimensions());
  const Shape y_shape = detail::shape_of<layout>(y.dimensions());
  if (x_shape != y_shape) detail::fail("the destination must have x's shape " + x_shape.text(), y_shape.text());
  y.device(device) = node;
}

/// Rotates the rows of `view` where they lie. Serial on DefaultDevice; rows are split among the threads of a ThreadPoolDevice.
///
/// \throws rope::Error as rotate() and inverse(), if rows of the view share elements, or if the view overlaps the table
template <class Scalar, class Table, class Device = Eigen::DefaultDevice>
void rotate_inplace(const StridedView<Scalar>& view, const Table& table, Pairing pairing, Direction direction = Direction::forward,
                    const Device& device = Device()) {
  const auto& entries = table.view();
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  static_assert(std::is_same_v<detail::ResultScalar<Scalar, TableScalar>, Scalar>, "[rope] the view cannot hold the result's scalar");
  if (view.shape.rank() == 0) detail::fail("a strided view must have at least the feature axis, got rank 0");
  const detail::Strides strides = detail::checked_strides(view.shape, view.strides);
  const Shape outer = view.shape.outer();
  const detail::RowPlan plan = detail::make_row_plan(view.shape[0], entries.width, pairing, direction);
  detail::check_table_broadcasts(outer, entries.outer);
  if (direction == Direction::inverse) detail::require_invertible(plan, entries);
  if (view.shape.size() == 0) return;
  if (view.data == nullptr) detail::fail("a strided view must have data, got a null pointer");
  const detail::Span span = detail::span_of(view.shape, strides);
  const Index table_size = entries.width * entries.outer.size();
  for (const TableScalar* part : {entries.cos, entries.sin}) {
    detail::refuse_table_overlap(part, table_size, view.data + span.first, span.last - span.first + 1);
  }

  const detail::Walk walk = detail::make_walk(outer, strides, strides, detail::table_strides(entries.width, entries.outer));
  const double bytes_per_row = 2.0 * static_cast<double>(view.shape[0]) * sizeof(Scalar);
  detail::for_range(device, walk.rows, bytes_per_row, [&](Index first, Index last) {
    detail::rotate_walk(plan, walk, static_cast<const Scalar*>(view.data), view.data, entries.cos, entries.sin, first, last);
  });
}

/// A whole Eigen::Tensor or TensorMap where it lies.
template <class Y, class Table, class Device = Eigen::DefaultDevice>
void rotate_inplace(Eigen::TensorBase<Y, Eigen::WriteAccessors>& y, const Table& table, Pairing pairing,
                    Direction direction = Direction::forward, const Device& device = Device()) {
  rotate_to(static_cast<Y&>(y), static_cast<const Y&>(y), table, pairing, direction, device);
}

}  // namespace rope
