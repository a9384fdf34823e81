// SPDX-License-Identifier: Apache-2.0
//
// The definition of the rotation in plain loops, with which every other implementation is compared.
//
//   for every row, every pair k of the window, with input slots (a, b) and output slots (A, B):
//       y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a        everything else is copied
//
// It works on raw arrays, with the features on any axis. x and y are dense, of the same shape, and
// do not overlap. All rows are treated alike, so one index counts through all outer axes. The loops
// are written to be read, not to be fast.
#pragma once

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/detail/feature_view.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

/// The row of the table that belongs to row `row` of x.
inline Index row_of_table(Index row, const Shape& x, const Shape& table_outer) {
  Index result = 0;
  Index stride = 1;
  for (int axis = 1; axis < x.rank(); ++axis) {
    const Index coordinate = row % x[axis];
    row /= x[axis];
    if (table_outer[axis - 1] != 1) result += coordinate * stride;
    stride *= table_outer[axis - 1];
  }
  return result;
}

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI

namespace eigen_rope::EIGEN_ROPE_ABI::reference {

/// Rotates the array `x` into the array `y` in plain loops.
///
///     y_A = c_A x_a - s_A x_b     y_B = c_B x_b + s_B x_a
///
/// The arithmetic is that of eigen_rope::rotate(): it is done in the wider of the two scalars, at
/// least float, and rounded to x's scalar once.
/// \code{.cpp}
/// const er::Shape shape{D, heads, tokens, batch};
/// er::reference::rotate(x.data(), y.data(), shape, cache.view(), er::split_half);
/// \endcode
///
/// \param x          shape.size() elements, the fastest axis of `shape` fastest
/// \param y          as many elements, which are written
/// \param shape      the extents of x and y, the fastest axis first; it holds the features unless
///                   the pairing names another axis
/// \param table      cosines and sines; each outer axis is x's, or 1 and broadcast
/// \param pairing    which elements form a pair, and the rotated window
/// \param direction  forward, backward (the gradient) or inverse
///
/// - Errors:   eigen_rope::Error if the window does not fit D, if the table does not fit x, if the
///             direction is inverse and the table cannot be inverted, or for null pointers.
/// - Aliasing: x and y must not overlap; an overlap is not detected.
/// - Threads:  everything runs on the calling thread.
/// - Cost:     one pass over x.
/// \see eigen_rope::rotate(), \ref idea "The idea in pictures"
template <class XScalar, class TableScalar, class YScalar>
void rotate(const XScalar* x, YScalar* y, const Shape& shape, const TableView<TableScalar>& table,
            Pairing pairing, Direction direction = Direction::forward) {
  using C = detail::ComputeScalar<XScalar, TableScalar>;
  const int place = detail::feature_place(pairing, shape.rank(), detail::IndexOrder::fastest_first);
  const Shape moved = detail::features_first(shape, place);
  const Index D = moved[0];
  const detail::RowPlan plan = detail::make_row_plan(D, table.width, pairing, direction);
  const Index dims = plan.rotary_dims;
  detail::check_table_broadcasts(moved.outer(), table.outer);
  (void)detail::checked_table_size(table);
  if (direction == Direction::inverse) detail::require_invertible(plan, table);
  if (shape.size() != 0 && (x == nullptr || y == nullptr))
    detail::fail("x and y must have data, got a null pointer");
  const bool full_width = table.width == dims;

  // Where an element of a row lies: rows inside the feature axis are neighbours.
  const detail::EntryPlaces elements(D, moved.outer(), place);
  const detail::EntryPlaces entries(table);
  const Index rows = shape.size() / (D == 0 ? 1 : D);
  for (Index row = 0; row < rows; ++row) {
    const auto at = [&](Index d) { return elements.at(row, d); };
    for (Index d = 0; d < D; ++d) y[at(d)] = detail::converted<YScalar>(x[at(d)]);

    const Index table_row = detail::row_of_table(row, moved, table.outer);
    for (Index k = 0; k < dims / 2; ++k) {
      PairSlots slot = pair_slots(pairing.kind(), k, dims);
      const Index entry_A = entries.at(table_row, full_width ? slot.A : k);
      const Index entry_B = entries.at(table_row, full_width ? slot.B : k);
      const C cos_A = detail::converted<C>(table.cos[entry_A]);
      const C cos_B = detail::converted<C>(table.cos[entry_B]);
      const C sin_A = detail::converted<C>(table.sin[entry_A]);
      const C sin_B = detail::converted<C>(table.sin[entry_B]);
      for (Index* member : {&slot.a, &slot.b, &slot.A, &slot.B})
        *member = at(pairing.offset() + *member);
      const XScalar* window = x;
      YScalar* result = y;
      if (direction == Direction::forward) {
        const C a = detail::converted<C>(window[slot.a]);
        const C b = detail::converted<C>(window[slot.b]);
        result[slot.A] =
            static_cast<YScalar>(detail::sum_of_products<XScalar, C>(cos_A, a, -sin_A, b));
        result[slot.B] =
            static_cast<YScalar>(detail::sum_of_products<XScalar, C>(cos_B, b, sin_B, a));
        continue;
      }
      const C A = detail::converted<C>(window[slot.A]);
      const C B = detail::converted<C>(window[slot.B]);
      if (direction == Direction::backward) {
        result[slot.a] =
            static_cast<YScalar>(detail::sum_of_products<XScalar, C>(cos_A, A, sin_B, B));
        result[slot.b] =
            static_cast<YScalar>(detail::sum_of_products<XScalar, C>(cos_B, B, -sin_A, A));
      } else {
        const C determinant = detail::rounded_sum_of_products(cos_A, cos_B, sin_A, sin_B);
        result[slot.a] = static_cast<YScalar>(
            detail::sum_of_products<XScalar, C>(cos_B / determinant, A, sin_A / determinant, B));
        result[slot.b] = static_cast<YScalar>(
            detail::sum_of_products<XScalar, C>(cos_A / determinant, B, -sin_B / determinant, A));
      }
    }
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::reference
