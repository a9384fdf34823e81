// SPDX-License-Identifier: Apache-2.0
//
// The pass behind jvp_to(), once its arguments are checked.
//
//   dy = rotate(dx, table) + rotate(x, tangent)
//
// Floats are rotated and added in one loop where there is one (kernels/detail/jvp_rows.hpp).
// Otherwise a few rows are rotated twice into memory that stays in the first-level cache, and then
// added. Both give the same bits: each rotation is rounded to dy's scalar, and then the sum is.
#pragma once

#include <algorithm>
#include <type_traits>

#include "eigen_rope/kernels/detail/add_rows.hpp"
#include "eigen_rope/kernels/detail/jvp_rows.hpp"
#include "eigen_rope/kernels/detail/pair_sums.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The walks' y is dy's place, and their plans differ at most in the width of their tables.
template <class X, class DX, class Y, class TableScalar, class TangentScalar>
struct CheckedJvp {
  const X* x;
  const DX* dx;
  Y* dy;
  RowPlan plan_of_x;
  RowPlan plan_of_dx;
  Walk of_x;
  Walk of_dx;
  TableView<TableScalar> table;
  TableView<TangentScalar> tangent;
  /// Whether every row of dy ends where the next begins.
  bool dense;

  bool in_place() const { return static_cast<const void*>(dx) == static_cast<const void*>(dy); }
};

/// Rows go together that have about so many bytes: both of their rotations, x and dx then fit in
/// the first-level cache.
inline constexpr Index jvp_chunk_bytes = Index{4} * 1024;

/// Rotates `count` rows of the walk from `row` on to dense rows at `to`.
template <class X, class TableScalar, class Y>
void rotate_densely(const RowPlan& plan, const Walk& walk, const X* x,
                    const TableView<TableScalar>& table, Index row, Index count, Y* to) {
  RowSteps steps = first_level(walk);
  steps.y = plan.row_length;
  for (Index done = 0; done < count; done += steps.count) {
    const RowPlace at = place_of_row(walk, row + done);
    steps.count = (std::min)(count - done, even_rows(walk, row + done));
    constexpr RowSteps single{1, 0, 0, 0};
    rotate_rows(plan, RowBlock<X, TableScalar, Y>{x + at.x, to + done * plan.row_length,
                                                  table.cos + at.table, table.sin + at.table, steps,
                                                  single});
  }
}

/// Two rotations one after the other, and their sum.
template <class Y>
class SeparateRotations {
 public:
  explicit SeparateRotations(Stores stores) : stores_(stores) {}

  /// Returns how many rows from `row` on it has made.
  template <class Jvp>
  Index operator()(const Jvp& jvp, Index row, Index last) const {
    const RowPlan& plan = jvp.plan_of_dx;
    RowPlan window = jvp.plan_of_x;
    window.offset = 0;
    window.row_length = window.rotary_dims;
    const Index most =
        std::max<Index>(1, jvp_chunk_bytes / (plan.row_length * static_cast<Index>(sizeof(Y))));
    const Index count = (std::min)(most, last - row);
    Scratch<Y> moved(count * plan.row_length);
    Scratch<Y> turned(count * plan.rotary_dims);
    rotate_densely(plan, jvp.of_dx, jvp.dx, jvp.table, row, count, moved.data());
    rotate_densely(window, jvp.of_x, jvp.x + plan.offset, jvp.tangent, row, count, turned.data());
    const Index joined = jvp.dense && plan.rotary_dims == plan.row_length ? count : 1;
    for (Index i = 0; i < count; i += joined) {
      const Y* from = moved.data() + i * plan.row_length;
      Y* y = jvp.dy + place_of_row(jvp.of_dx, row + i).y;
      if (!jvp.in_place()) copy_outside_window(plan, from, y);
      add_rows(from + plan.offset, turned.data() + i * plan.rotary_dims, y + plan.offset,
               joined * plan.rotary_dims, stores_);
    }
    return count;
  }

 private:
  Stores stores_;
};

/// How many rows from `row` on share a row of the table and advance evenly.
inline Index rows_of_one_table_row(const Walk& walk, Index row) {
  return first_level(walk).table != 0 ? 1 : even_rows(walk, row);
}

/// Both rotations in one loop. Returns how many rows from `row` on it has made, or 0 where there is
/// no such loop.
template <class X, class DX, class Y, class TableScalar, class TangentScalar>
Index add_rotations_at([[maybe_unused]] const CheckedJvp<X, DX, Y, TableScalar, TangentScalar>& jvp,
                       [[maybe_unused]] Stores stores, [[maybe_unused]] Index row,
                       [[maybe_unused]] Index last) {
  if constexpr (may_add_rotations<X, DX, Y, TableScalar, TangentScalar>) {
    if (jvp.plan_of_x.full_width != jvp.plan_of_dx.full_width) return 0;
    const Index count = (std::min)(
        {last - row, rows_of_one_table_row(jvp.of_x, row), rows_of_one_table_row(jvp.of_dx, row)});
    const RowPlan& plan = jvp.plan_of_dx;
    const RowPlace x = place_of_row(jvp.of_x, row);
    const RowPlace dx = place_of_row(jvp.of_dx, row);
    const RowSteps steps = first_level(jvp.of_dx);
    JvpRows rows{};
    rows.x = jvp.x + x.x + plan.offset;
    rows.dx = jvp.dx + dx.x + plan.offset;
    rows.dy = jvp.dy + dx.y + plan.offset;
    rows.count = count;
    rows.x_step = first_level(jvp.of_x).x;
    rows.dx_step = steps.x;
    rows.dy_step = steps.y;
    rows.cos = jvp.table.cos + dx.table;
    rows.sin = jvp.table.sin + dx.table;
    rows.tangent_cos = jvp.tangent.cos + x.table;
    rows.tangent_sin = jvp.tangent.sin + x.table;
    rows.stores = stores;
    if (!add_rotations(plan, rows)) return 0;
    if (plan.rotary_dims == plan.row_length || jvp.in_place()) return count;
    for (Index i = 0; i < count; ++i)
      copy_outside_window(plan, jvp.dx + dx.x + i * steps.x, jvp.dy + dx.y + i * steps.y);
    return count;
  } else {
    return 0;
  }
}

template <class X, class DX, class Y, class TableScalar, class TangentScalar>
void run_jvp(const CheckedJvp<X, DX, Y, TableScalar, TangentScalar>& jvp, const Device& device) {
  const double bytes_per_row = static_cast<double>(jvp.plan_of_dx.row_length) * 3 * sizeof(Y);
  const Stores stores =
      stores_for(jvp.dx, jvp.dy, static_cast<double>(jvp.of_dx.rows) * bytes_per_row);
  device.for_range(jvp.of_dx.rows, bytes_per_row, [&](Index first, Index last) {
    const SeparateRotations<Y> rotate_separately(stores);
    for (Index row = first; row < last;) {
      const Index together = add_rotations_at(jvp, stores, row, last);
      row += together > 0 ? together : rotate_separately(jvp, row, last);
    }
    if (stores == Stores::streaming) flush_streamed_rows();
  });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
