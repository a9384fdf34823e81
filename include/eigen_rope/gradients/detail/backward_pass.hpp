// SPDX-License-Identifier: Apache-2.0
//
// What a backward pass reads and writes, checked.
//
// u is the rotation's input x or its output y, g the gradient with respect to y, and dx that with
// respect to x. All have their features in front (rows/detail/feature_view.hpp). The table's rows
// and the rows of x that share one are two ways through the outer axes: TableRowShapes.
#pragma once

#include <string>

#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/gradients/gradient_options.hpp"
#include "eigen_rope/kernels/detail/pair_sums.hpp"
#include "eigen_rope/numbers/detail/function_ref.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/strided_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class U, class G>
struct BackwardPass {
  RowPlan plan;  // forward
  GradientsFrom from;
  const U* u;
  const G* g;
  /// nullptr if dx is not wanted.
  G* dx;
  Strides u_strides, g_strides, dx_strides;
  /// The distances of neighbours in a row.
  Index u_step = 1, g_step = 1, dx_step = 1;
  Shape outer;

  bool is_of_rows() const { return u_step == 1 && g_step == 1 && dx_step == 1; }
};

/// What becomes of the sums over a row of the table, which counts along the table's outer axes,
/// fastest first. Called once for each row, from any thread.
template <class U, class G>
using FinishRow = FunctionRef<void(Index row, const PairSums<ComputeScalar<U, G>>& sums)>;

/// What messages call u.
inline std::string name_of_u(GradientsFrom from) {
  return from == GradientsFrom::input ? "x" : "y";
}

template <class G, class U>
void refuse_overlap_of_dx(const StridedView<G>& dx, const std::string& name,
                          const StridedView<U>& other) {
  if (!same_rows(dx, other) && overlap(stretch_of(dx), stretch_of(other))) {
    fail("dx must be the same rows as " + name + " or not overlap them");
  }
}

/// Checks shapes, strides and overlap. dx is a null pointer where it is not wanted.
template <class U, class G>
BackwardPass<std::remove_const_t<U>, std::remove_const_t<G>> make_backward_pass(
    GradientsFrom from, const StridedView<U>& u, const StridedView<G>& g,
    const StridedView<std::remove_const_t<G>>* dx, Index table_width, const Shape& table_outer,
    const Pairing& pairing, int table_feature_axis) {
  BackwardPass<std::remove_const_t<U>, std::remove_const_t<G>> pass;
  if (u.shape.rank() == 0) fail("a strided view must have at least the feature axis, got rank 0");
  if (u.shape != g.shape)
    fail("g must have " + name_of_u(from) + "'s shape " + u.shape.text(), g.shape.text());
  pass.from = from;
  check_strides(u, SharedElements::allowed);
  check_strides(g, SharedElements::allowed);
  pass.outer = u.shape.outer();
  pass.plan = make_row_plan(u.shape[0], table_width, pairing, Direction::forward);
  check_table_broadcasts(pass.outer, table_outer, features_behind(u.feature_stride == 1 ? 0 : 1),
                         features_behind(table_feature_axis));
  check_feature_axis(table_outer, table_feature_axis);
  pass.u = u.data;
  pass.g = g.data;
  pass.dx = nullptr;
  const bool empty = u.shape.size() == 0;
  if (!empty && (u.data == nullptr || g.data == nullptr))
    fail("a strided view must have data, got a null pointer");
  if (!empty) {
    pass.u_strides = u.strides;
    pass.g_strides = g.strides;
  }
  pass.u_step = u.feature_stride;
  pass.g_step = g.feature_stride;
  (void)stretch_of(u);
  (void)stretch_of(g);
  if (dx == nullptr) return pass;
  if (dx->shape != u.shape)
    fail("dx must have " + name_of_u(from) + "'s shape " + u.shape.text(), dx->shape.text());
  check_strides(*dx, SharedElements::refused);
  if (empty) return pass;
  pass.dx_strides = dx->strides;
  pass.dx_step = dx->feature_stride;
  if (dx->data == nullptr) fail("a strided view must have data, got a null pointer");
  (void)stretch_of(*dx);
  refuse_overlap_of_dx(*dx, name_of_u(from), u);
  refuse_overlap_of_dx(*dx, "g", g);
  pass.dx = dx->data;
  return pass;
}

/// The extents of the outer axes along which table rows differ, and of those along which rows share
/// one; 1 for the other axes.
struct TableRowShapes {
  Shape kept;
  Shape summed;

  TableRowShapes(const Shape& outer, const Shape& table_outer) {
    for (int axis = 0; axis < outer.rank(); ++axis) {
      const bool broadcast = table_outer[axis] == 1;
      kept.push_back(broadcast ? 1 : outer[axis]);
      summed.push_back(broadcast ? outer[axis] : 1);
    }
  }
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
