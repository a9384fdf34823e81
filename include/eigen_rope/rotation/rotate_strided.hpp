// SPDX-License-Identifier: Apache-2.0
//
// The rotation of rows that lie anywhere in memory.
//
//   eigen_rope::rotate_to(y_view, x_view, cache, eigen_rope::split_half);
//                       from the rows of one strided view to those of another
//   eigen_rope::rotate_inplace(view, cache, eigen_rope::split_half);
//                       in place, such as q inside a fused QKV buffer
//
// Everything is checked before the first element is written. This header does not need Eigen's
// Tensor module. The functions for Eigen tensors and expressions are in rotate.hpp and
// rotate_to.hpp, which includes this header.
#pragma once

#include <array>
#include <string>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/detail/feature_view.hpp"
#include "eigen_rope/rows/detail/placed_rotation.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/strided_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

/// Throws eigen_rope::Error unless x and the destination y have features, one shape, and strides
/// that lead to elements of their own for each row of y.
template <class Y, class X>
void check_extents_and_strides(const StridedView<Y>& y, const StridedView<X>& x) {
  if (x.shape.rank() == 0) fail("a strided view must have at least the feature axis, got rank 0");
  const bool one_view = is_one_view(x, y);
  if (!one_view && x.shape != y.shape)
    fail("the destination must have x's shape " + x.shape.text(), y.shape.text());
  check_strides(y, SharedElements::refused);
  if (!one_view && !same_strides(x, y)) check_strides(x, SharedElements::allowed);
}

/// Throws eigen_rope::Error unless both views are of the same rows or do not overlap.
template <class X, class Y>
void refuse_view_overlap(const StridedView<X>& x, const StridedView<Y>& y) {
  if (is_one_view(x, y) || same_rows(x, y)) return;
  if (overlap(stretch_of(x), stretch_of(y))) {
    fail("x and the destination must be the same rows or not overlap at all (distance in bytes)",
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y.data) -
                                   reinterpret_cast<std::uintptr_t>(x.data)));
  }
}

/// The table has `table_size` entries of either kind.
template <class TableScalar, class Y>
void refuse_table_overlap(const TableView<TableScalar>& table, Index table_size,
                          const StridedView<Y>& y) {
  const Stretch y_stretch = stretch_of(y);
  for (const TableScalar* part : {table.cos, table.sin}) {
    if (overlap(stretch_of(part, table_size), y_stretch))
      fail("the destination must not overlap the table");
  }
}

/// Throws where rotate_to() does. The features are on axis 0. Without anything to rotate the walk
/// has no rows, and stores are the caller's choice. Written where the caller has it: a rotation of
/// one token takes no longer than copying it would.
template <class Y, class X, class TableScalar>
void check_rotation(PlacedRotation<std::remove_const_t<X>, TableScalar, Y>& rotation,
                    const StridedView<Y>& y, const StridedView<X>& x,
                    const TableView<TableScalar>& table, const Pairing& pairing,
                    Direction direction) {
  check_extents_and_strides(y, x);
  const bool rows_in_pieces = x.feature_stride != 1 || y.feature_stride != 1;
  rotation.plan = make_row_plan(x.shape[0], table.width, pairing, direction);
  const int outer_axes = x.shape.rank() - 1;
  const Index* const outer = x.shape.begin() + 1;
  std::array<Index, max_rank> table_steps;
  const Index entry_step =
      table_strides(table.width, table.outer, table.feature_axis, outer_axes, table_steps.data());
  check_table_broadcasts(outer_axes, outer, table.outer, features_behind(rows_in_pieces ? 1 : 0),
                         features_behind(table.feature_axis));
  const Index table_size = checked_table_size(table);
  if (direction == Direction::inverse) require_invertible(rotation.plan, table);
  if (!rows_in_pieces) require_entries_in_rows(entry_step, outer_axes, outer, table.outer);
  auto& block = rotation.block;
  block.rows.rows = 0;
  if (x.shape.size() == 0) return;
  if (x.data == nullptr || y.data == nullptr)
    fail("a strided view must have data, got a null pointer");
  refuse_view_overlap(x, y);
  refuse_table_overlap(table, table_size, y);
  block.x = x.data;
  block.y = y.data;
  block.cos = table.cos;
  block.sin = table.sin;
  block.features = {x.feature_stride, y.feature_stride, entry_step};
  fill_walk_of(block, outer_axes, outer, x.strides.begin(), y.strides.begin(), table_steps.data());
}

/// Bytes count so often where x and y have different orders of axes. Columns come from memory and
/// go there more slowly than rows, and what is overwritten unread saves more.
inline constexpr double weight_of_crossing = 4;

/// Rotates all rows of a rotation that has been checked, and chooses its stores.
template <class XScalar, class TableScalar, class YScalar>
void rotate_placed(PlacedRotation<XScalar, TableScalar, YScalar>& rotation, const Device& device) {
  auto& block = rotation.block;
  Walk& walk = block.rows;
  if (walk.rows == 0) return;
  const double bytes_per_row =
      static_cast<double>(rotation.plan.row_length) * (sizeof(XScalar) + sizeof(YScalar));
  const bool crosses = (block.features.x == 1) != (block.features.y == 1);
  walk.stores = stores_for(
      block.x, block.y,
      static_cast<double>(walk.rows) * bytes_per_row * (crosses ? weight_of_crossing : 1));
  device.for_range(walk.rows, bytes_per_row,
                   [&](Index first, Index last) { rotation.rows(first, last); });
}

/// rotate_to() of views that have been told from their class; `order` is that in which the pairing
/// counts their axes.
template <class Y, class X, class TableScalar>
void rotate_views(const StridedView<Y>& y, const StridedView<X>& x,
                  const TableView<TableScalar>& table, const Pairing& pairing, Direction direction,
                  const Device& device, IndexOrder order) {
  PlacedRotation<std::remove_const_t<X>, TableScalar, Y> rotation;
  naming_other_axes(axis_context(x.shape, table.width, table.outer, pairing, order), [&] {
    if (!pairing.axis()) return check_rotation(rotation, y, x, table, pairing, direction);
    check_rotation(rotation, features_first(y, pairing, order), features_first(x, pairing, order),
                   table, pairing, direction);
  });
  rotate_placed(rotation, device);
}

}  // namespace detail

/// Rotates the rows of the strided view `x` and writes them to those of `y`.
///
/// Row (i_1, i_2, ...) of y is the rotation of row (i_1, i_2, ...) of x, so that a rotation may
/// also change the order of the axes in memory. The error bound is that of rotate(),
/// rotate_backward() or rotate_inverse(), as the direction says.
///
/// \code{.cpp}
/// // From [D, heads, tokens] to [D, tokens, heads]:
/// std::vector<float> in(D * heads * tokens), out(D * heads * tokens);
/// er::StridedView<const float> from{in.data(), {D, heads, tokens}, {D, heads * D}};
/// er::StridedView<float> to{out.data(), {D, heads, tokens}, {tokens * D, D}};
/// er::rotate_to(to, from, cache, er::split_half, er::Direction::forward, pool);
/// \endcode
///
/// \param y          of x's shape; its rows may not share elements. Its scalar is x's, or the
///                   differentiable one of x and the table
/// \param x          the rows to rotate; they may share elements (a stride of 0)
/// \param table      a Cache, a TableView or anything else with a view()
/// \param pairing    which elements form a pair, and the window of each row that is rotated
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     Eigen's DefaultDevice or ThreadPoolDevice, or a Device; rows are split among
///                   its threads, with the same result for any number of them
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of rotate() and
///             for the inverse of rotate_inverse(), if the shapes differ or have no axis, if there
///             is not one stride for each outer axis, if strides lead out of the address space or
///             the span does not fit 60 bits, if rows of y share elements, if a view with elements
///             has no data, or if memory overlaps as below.
/// - Aliasing: y may be x itself (same data, same strides). Any other overlap with x, or with the
///             table, throws. All memory between a view's first and last element counts, so two
///             views whose rows interleave are refused even if they share no element.
/// - Cost:     one pass over x, and for the inverse what rotate_inverse() adds.
///
/// \see StridedView, strided_view(), \ref cookbook "Cookbook"
template <class Y, class X, class Table>
void rotate_to(const StridedView<Y>& y, const StridedView<X>& x, const Table& table,
               Pairing pairing, Direction direction = Direction::forward,
               const Device& device = Device()) {
  using XScalar = std::remove_const_t<X>;
  const auto& entries = detail::view_of(table);
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  static_assert(std::is_same_v<detail::ResultScalar<XScalar, TableScalar>, Y>,
                "[rope] the destination cannot hold the result's scalar");
  detail::rotate_views(y, x, entries, pairing, direction, device,
                       detail::IndexOrder::fastest_first);
}

/// Rotates the rows of a strided view in place.
///
/// Parameters, errors, error bound and cost are those of rotate_to(view, view, ...).
///
/// \code{.cpp}
/// // The queries of a fused buffer [D, heads of q, k and v, tokens]:
/// std::vector<float> qkv(D * 3 * heads * tokens);
/// er::StridedView<float> rows{qkv.data(), {D, heads, tokens}, {D, 3 * heads * D}};
/// er::rotate_inplace(rows, cache, er::split_half);
/// \endcode
template <class Scalar, class Table>
void rotate_inplace(const StridedView<Scalar>& view, const Table& table, Pairing pairing,
                    Direction direction = Direction::forward, const Device& device = Device()) {
  rotate_to(view, view, table, pairing, direction, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
