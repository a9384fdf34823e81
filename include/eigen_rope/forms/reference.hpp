// SPDX-License-Identifier: Apache-2.0
//
// The definition of the rotation in plain loops, with which every other implementation is compared.
//
//   for every row, every pair k of the window, with input slots (a, b) and output slots (A, B):
//       y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a        everything else is copied
//
// It works on raw arrays whose feature axis is the fastest. x and y are dense, of the same shape,
// and do not overlap. All rows are treated alike, so one index counts through all outer axes. The
// loops are written to be read, not to be fast.
#pragma once

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope {
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
}  // namespace eigen_rope

namespace eigen_rope::reference {

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
/// \param x          shape.size() elements, the feature axis fastest
/// \param y          as many elements, which are written
/// \param shape      the extents of x and y, from the feature axis outwards
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
  const Index D = shape[0];
  const detail::RowPlan plan = detail::make_row_plan(D, table.width, pairing, direction);
  const Index dims = plan.rotary_dims;
  detail::check_table_broadcasts(shape.outer(), table.outer);
  (void)detail::checked_table_size(table);
  if (direction == Direction::inverse) detail::require_invertible(plan, table);
  if (shape.size() != 0 && (x == nullptr || y == nullptr))
    detail::fail("x and y must have data, got a null pointer");
  const bool full_width = table.width == dims;

  const Index rows = shape.size() / (D == 0 ? 1 : D);
  for (Index row = 0; row < rows; ++row) {
    const XScalar* in = x + row * D;
    YScalar* out = y + row * D;
    for (Index d = 0; d < D; ++d) out[d] = detail::converted<YScalar>(in[d]);

    const TableScalar* cos =
        table.cos + detail::row_of_table(row, shape, table.outer) * table.width;
    const TableScalar* sin =
        table.sin + detail::row_of_table(row, shape, table.outer) * table.width;
    for (Index k = 0; k < dims / 2; ++k) {
      const PairSlots slot = pair_slots(pairing.kind(), k, dims);
      const C cos_A = detail::converted<C>(cos[full_width ? slot.A : k]);
      const C cos_B = detail::converted<C>(cos[full_width ? slot.B : k]);
      const C sin_A = detail::converted<C>(sin[full_width ? slot.A : k]);
      const C sin_B = detail::converted<C>(sin[full_width ? slot.B : k]);
      const XScalar* window = in + pairing.offset();
      YScalar* result = out + pairing.offset();
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

}  // namespace eigen_rope::reference
