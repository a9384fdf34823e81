// SPDX-License-Identifier: Apache-2.0
//
// The definition, in plain loops: what every other implementation is compared with.
//
//   for every row, every pair k of the window, with input slots (a, b) and output slots (A, B):
//       y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a        everything else is copied
//
// On raw arrays whose feature axis is fastest; x and y dense and of the same shape, not
// overlapping. One loop per axis would hide that rows are all alike, so the outer axes are counted
// through by one index. Readable first: it is the baseline, not the product.
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

namespace reference {

/// y = the rotation of x. `shape` counts from the feature axis outwards. Arithmetic as
/// eigen_rope::rotate's: in the wider of the two scalars, at least float, rounded to x's scalar
/// once.
///
/// - Errors:   eigen_rope::Error as eigen_rope::rotate does, and for null pointers.
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

}  // namespace reference
}  // namespace eigen_rope
