// SPDX-License-Identifier: Apache-2.0
//
// The rotation of rows that lie anywhere in memory, as a statement.
//
//   eigen_rope::rotate_to(y_view, x_view, cache, eigen_rope::split_half);
//                       rows of one strided view from those of another
//   eigen_rope::rotate_inplace(view, cache, eigen_rope::split_half);
//                       rows where they lie: q inside a fused QKV buffer
//
// Everything is checked before the first element is written. Without Eigen's Tensor module: for
// Eigen tensors and expressions there are rotate() and rotate_to.hpp, which includes this.
#pragma once

#include <string>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/strided_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope {
namespace detail {

/// Two views of the same rows, or of memory that does not meet.
template <class X, class Y>
void refuse_view_overlap(const StridedView<X>& x, const Strides& x_strides, const StridedView<Y>& y,
                         const Strides& y_strides) {
  const Stretch x_stretch = stretch_of(x, x_strides);
  const Stretch y_stretch = stretch_of(y, y_strides);
  if (!same_rows(x, y) && overlap(x_stretch, y_stretch)) {
    fail("x and the destination must be the same rows or not overlap at all (distance in bytes)",
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y.data) -
                                   reinterpret_cast<std::uintptr_t>(x.data)));
  }
}

template <class TableScalar, class Y>
void refuse_table_overlap(const TableView<TableScalar>& table, const StridedView<Y>& y,
                          const Strides& y_strides) {
  for (const TableScalar* part : {table.cos, table.sin}) {
    if (overlap(stretch_of(part, checked_table_size(table)), stretch_of(y, y_strides))) {
      fail("the destination must not overlap the table");
    }
  }
}

}  // namespace detail

/// y = the rotation of x in the given direction, row by row.
///
/// \param y       of x's shape; its rows may not share elements. Its scalar is x's, or the
///                differentiable one of x and the table
/// \param x       may be y itself (same data, same strides) but must not overlap it otherwise; its
///                rows may share elements (stride 0)
/// \param device  Eigen's DefaultDevice or ThreadPoolDevice; rows are split among its threads, with
///                the same result for any number
///
/// - Errors:   eigen_rope::Error as rotate() and inverse(), for strides that do not fit or lead out
///             of the address space, for null pointers, and for aliasing that cannot work.
template <class Y, class X, class Table>
void rotate_to(const StridedView<Y>& y, const StridedView<X>& x, const Table& table,
               Pairing pairing, Direction direction = Direction::forward,
               const Device& device = Device()) {
  using XScalar = std::remove_const_t<X>;
  const auto& entries = detail::view_of(table);
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  static_assert(std::is_same_v<detail::ResultScalar<XScalar, TableScalar>, Y>,
                "[rope] the destination cannot hold the result's scalar");
  if (x.shape.rank() == 0)
    detail::fail("a strided view must have at least the feature axis, got rank 0");
  if (x.shape != y.shape)
    detail::fail("the destination must have x's shape " + x.shape.text(), y.shape.text());
  const detail::Strides y_strides =
      detail::checked_strides(y.shape, y.strides, detail::SharedElements::refused);
  const detail::Strides x_strides =
      x.strides == y.strides
          ? y_strides
          : detail::checked_strides(x.shape, x.strides, detail::SharedElements::allowed);
  const Shape outer = x.shape.outer();
  const detail::RowPlan plan = detail::make_row_plan(x.shape[0], entries.width, pairing, direction);
  detail::check_table_broadcasts(outer, entries.outer);
  (void)detail::checked_table_size(entries);
  if (direction == Direction::inverse) detail::require_invertible(plan, entries);
  if (x.shape.size() == 0) return;
  if (x.data == nullptr || y.data == nullptr)
    detail::fail("a strided view must have data, got a null pointer");
  detail::refuse_view_overlap(x, x_strides, y, y_strides);
  detail::refuse_table_overlap(entries, y, y_strides);

  detail::Walk walk = detail::make_walk(outer, x_strides, y_strides,
                                        detail::table_strides(entries.width, entries.outer));
  const double bytes_per_row = static_cast<double>(x.shape[0]) * (sizeof(X) + sizeof(Y));
  walk.stores = detail::stores_for(x.data, y.data, static_cast<double>(walk.rows) * bytes_per_row);
  device.for_range(walk.rows, bytes_per_row, [&](Index first, Index last) {
    detail::rotate_walk(plan, walk, static_cast<const XScalar*>(x.data), y.data, entries.cos,
                        entries.sin, first, last);
  });
}

/// Rotates the rows of `view` where they lie. As rotate_to(view, view, ...).
template <class Scalar, class Table>
void rotate_inplace(const StridedView<Scalar>& view, const Table& table, Pairing pairing,
                    Direction direction = Direction::forward, const Device& device = Device()) {
  rotate_to(view, view, table, pairing, direction, device);
}

}  // namespace eigen_rope
