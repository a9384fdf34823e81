// SPDX-License-Identifier: Apache-2.0
//
// One element of a rotation, for nodes evaluated coefficient by coefficient: the reference for all faster ways.
//
//   y_A = c_A x_a - s_A x_b   or   y_B = c_B x_b + s_B x_a,   whichever the element is; what lies outside the window is copied
//
// Any scalar; x is anything with coeff(index). Not for rows: see rows.hpp.
#pragma once

#include "rope/detail/plan.hpp"
#include "rope/detail/row_search.hpp"
#include "rope/detail/rows.hpp"
#include "rope/detail/scalars.hpp"

namespace rope::detail {

/// The pairing by which results lie in their row: for interleaved_to_half one or the other, depending on the direction.
inline PairKind written_kind(const RowPlan& plan) {
  if (!plan.permutes()) return plan.kind;
  return plan.direction == Direction::forward ? PairKind::half : PairKind::interleaved;
}

/// All a coefficient needs besides x.
template <class TableScalar>
struct CoefficientPlan {
  RowPlan row;
  const TableScalar* cos = nullptr;
  const TableScalar* sin = nullptr;
  RowSearch search;
};

/// The result at linear `index`.
template <class Scalar, class XScalar, class TableScalar, class X>
Scalar rotated_coefficient(const CoefficientPlan<TableScalar>& plan, const X& x, Index index) {
  using C = ComputeScalar<XScalar, TableScalar>;
  const RowPlan& row = plan.row;
  const Index slot = plan.search.place_in_row(index) - row.offset;
  if (slot < 0 || slot >= row.rotary_dims) return converted<Scalar>(x.coeff(index));
  const bool forward = row.direction == Direction::forward;
  const SlotOwner owner = slot_owner(written_kind(row), slot, row.rotary_dims);
  const PairSlots slots = pair_slots(row.kind, owner.pair, row.rotary_dims);
  const Index window = index - slot;
  const Index table = plan.search.place_in_table(index);
  const Index table_a = table + (row.full_width ? slots.A : owner.pair);
  const Index table_b = table + (row.full_width ? slots.B : owner.pair);
  const C a = converted<C>(x.coeff(window + (forward ? slots.a : slots.A)));
  const C b = converted<C>(x.coeff(window + (forward ? slots.b : slots.B)));
  const C cos_a = converted<C>(plan.cos[table_a]);
  const C cos_b = converted<C>(plan.cos[table_b]);
  const C sin_a = converted<C>(plan.sin[table_a]);
  const C sin_b = converted<C>(plan.sin[table_b]);
  C out_a, out_b;
  rotate_pair<XScalar, C>(row.direction, a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  // Not a conditional expression: differentiable scalars may have expression types of their own.
  if (owner.second) return static_cast<Scalar>(out_b);
  return static_cast<Scalar>(out_a);
}

}  // namespace rope::detail
