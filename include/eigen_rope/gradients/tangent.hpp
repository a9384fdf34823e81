// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of a rotation along a direction (forward mode), and the gradient of the gradient.
//
// The derivative of a rotation in its angles is a rotation by another table, the tangent. Where
// each entry's angle moves by dt and its log m by du:
//
//   tangent_of(table, dt, du):  d cos = cos du - sin dt     d sin = sin du + cos dt
//   jvp_to(dy, x, dx, ...):     dy = rotate(dx, table) + rotate(x, tangent)
//
// Positions that move by dp and rates that move by dr give dt = rate dp + position dr. Outside the
// window a rotation is a copy, so there dx passes unchanged and the tangent gives 0.
//
// The gradient of the gradient needs no further functions. A second loss may depend on the results
// of a backward pass, dx = rotate_backward(g) and d angle = gradients(x, g).angle. Let v and w be
// its gradients with respect to these two, and make the tangent with dt = w. The gradients of the
// second loss are then, with GradientsFrom::input throughout:
//
//   with respect to g:       rotate(v, table) + rotate(x, tangent), by jvp_to(of_g, x, v, ...)
//   with respect to x:       rotate_tangent_to(of_x, g, tangent, pairing, Direction::backward)
//   with respect to angles:  gradients(v, g).angle - w gradients(x, g).log_magnitude
//
// Derivatives of any order are made from these functions in the same way.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/gradients/detail/jvp.hpp"
#include "eigen_rope/gradients/detail/jvp_apart.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

/// Of whole numbers there is none.
template <class Tangent>
struct TangentScalar {
  static_assert(!is_whole<Tangent>,
                "[rope] tangents must be floating-point or differentiable numbers, not integers");
};

}  // namespace detail

/// A table of the derivatives of cos and sin along a direction, which owns its memory.
///
/// tangent_of() makes one. rotate_tangent_to() and jvp_to() read it.
///
/// \code{.cpp}
/// const std::vector<double> dt(D / 2 * tokens, 1.0);  // every angle moves alike
/// const er::TangentTable<float> tangent = er::tangent_of(cache, dt);
/// \endcode
///
/// - Threads:  immutable once it is made, so any number of threads may read it.
///
/// \see tangent_of(), \ref gradients "Gradients"
template <class Scalar>
class TangentTable {
 public:
  /// Makes the tangent of `table` along the direction in which angles move by dt and logarithms of
  /// magnitudes by du.
  ///
  ///     d cos = cos du - sin dt     d sin = sin du + cos dt
  ///
  /// \param table          what the rotation reads, of any width
  /// \param angle          dt in radians, one per entry of `table` in its order; empty for 0
  /// \param log_magnitude  du, one per entry of `table` in its order; empty for 0
  ///
  /// - Errors:   eigen_rope::Error unless each is empty or has one entry per entry of the table,
  ///             and if the table has no data.
  /// - Error:    two products and a sum, rounded to the entries' scalar.
  /// - Cost:     O(entries).
  template <class Tangent>
  TangentTable(const TableView<Scalar>& table, const std::vector<Tangent>& angle,
               const std::vector<Tangent>& log_magnitude)
      : width_(table.width), outer_(table.outer), feature_axis_(table.feature_axis) {
    static_assert(sizeof(detail::TangentScalar<Tangent>) != 0);
    const auto size = static_cast<std::size_t>(detail::checked_table_size(table));
    require_size("angle tangents", angle.size(), size);
    require_size("log magnitude tangents", log_magnitude.size(), size);
    cos_.resize(size);
    sin_.resize(size);
    using C = detail::ComputeScalar<Scalar, Tangent>;
    for (std::size_t i = 0; i < size; ++i) {
      const C c = detail::converted<C>(table.cos[i]);
      const C s = detail::converted<C>(table.sin[i]);
      const C dt = angle.empty() ? detail::converted<C>(0.0) : detail::converted<C>(angle[i]);
      const C du = log_magnitude.empty() ? detail::converted<C>(0.0)
                                         : detail::converted<C>(log_magnitude[i]);
      const C dcos = detail::rounded_sum_of_products<C>(c, du, -s, dt);
      const C dsin = detail::rounded_sum_of_products<C>(s, du, c, dt);
      cos_[i] = detail::converted<Scalar>(dcos);
      sin_[i] = detail::converted<Scalar>(dsin);
    }
  }

  /// Returns the derivatives of cos and sin as a table that points into this object, which must
  /// outlive it.
  TableView<Scalar> view() const {
    return {cos_.data(), sin_.data(), width_, outer_, detail::Determinants::unknown, feature_axis_};
  }

 private:
  static void require_size(const std::string& name, std::size_t got, std::size_t size) {
    if (got == 0 || got == size) return;
    detail::fail(name + " must be one per table entry (" + std::to_string(size) + ")",
                 static_cast<std::int64_t>(got));
  }

  Index width_;
  Shape outer_;
  int feature_axis_;
  std::vector<Scalar> cos_, sin_;
};

/// Makes the tangent of a table along a direction of its angles and magnitudes.
///
///     d cos = cos du - sin dt     d sin = sin du + cos dt
///
/// \code{.cpp}
/// std::vector<double> dt;  // all positions move by 1, so that each angle moves by its rate
/// for (er::Index token = 0; token < tokens; ++token) {
///   for (const er::DoubleDouble& rate : frequencies.rates()) {
///     dt.push_back(static_cast<double>(rate));
///   }
/// }
/// const auto tangent = er::tangent_of(cache, dt);
/// \endcode
///
/// \param table          what the rotation reads: a Cache, or anything else with a view()
/// \param angle          dt in radians, one per entry of the table in its order; empty for 0
/// \param log_magnitude  du, one per entry of the table in its order; empty for 0
/// \returns              a TangentTable with the table's scalar, width and extents
///
/// Errors, accuracy and cost are those of TangentTable's constructor.
///
/// \see jvp_to(), rotate_tangent_to(), \ref gradients "Gradients"
template <class Table, class Tangent>
auto tangent_of(const Table& table, const std::vector<Tangent>& angle,
                const std::vector<Tangent>& log_magnitude = {}) {
  static_assert(sizeof(detail::TangentScalar<Tangent>) != 0);
  using Scalar = std::remove_const_t<std::remove_pointer_t<decltype(detail::view_of(table).cos)>>;
  return TangentTable<Scalar>(detail::view_of(table), angle, log_magnitude);
}

namespace detail {

/// The windows of a view's rows.
template <class Scalar>
StridedView<Scalar> window_of(const StridedView<Scalar>& view, const RowPlan& plan) {
  Shape shape{plan.rotary_dims};
  for (int axis = 1; axis < view.shape.rank(); ++axis) shape.push_back(view.shape[axis]);
  const bool has_elements = view.data != nullptr && shape.size() != 0;
  return {has_elements ? view.data + plan.offset * view.feature_stride : view.data, shape,
          view.strides, view.feature_stride};
}

template <class X, class TableScalar>
RowPlan window_plan(const StridedView<X>& x, const TableView<TableScalar>& table, Pairing pairing) {
  if (x.shape.rank() == 0) fail("a strided view must have at least the feature axis, got rank 0");
  return make_row_plan(x.shape[0], table.width, pairing, Direction::forward);
}

template <class Y, class X, class Scalar>
void rotate_tangent(const StridedView<Y>& y, const StridedView<X>& x,
                    const TangentTable<Scalar>& tangent, Pairing pairing, Direction direction,
                    const Device& device) {
  if (direction == Direction::inverse)
    fail("a tangent has no inverse: direction must be forward or backward, got inverse");
  const RowPlan plan = window_plan(x, tangent.view(), pairing);
  if (x.shape != y.shape)
    fail("the destination must have x's shape " + x.shape.text(), y.shape.text());
  // Of whole rows: what is outside the windows is written too.
  check_strides(y);
  check_strides(x, SharedElements::allowed);
  if (x.shape.size() > 0 && x.data != nullptr && y.data != nullptr) {
    refuse_view_overlap(x, y);
    refuse_table_overlap(tangent.view(), checked_table_size(tangent.view()), y);
  }
  rotate_to(window_of(y, plan), window_of(x, plan), tangent, Pairing(pairing.kind()), direction,
            device);
  if (y.shape.size() == 0) return;
  const Walk walk = make_walk(y.shape.outer(), y.strides, y.strides, Strides{});
  for (Index row = 0; row < walk.rows; ++row) {
    Y* begin = y.data + place_of_row(walk, row).y;
    for_each_outside(plan, [&](Index d) { begin[d * y.feature_stride] = converted<Y>(0.0); });
  }
}

template <class Y, class X, class DX, class Table, class Scalar>
void jvp(const StridedView<Y>& dy, const StridedView<X>& x, const StridedView<DX>& dx,
         const Table& table, const TangentTable<Scalar>& tangent, Pairing pairing,
         const Device& device) {
  using XScalar = std::remove_const_t<X>;
  const auto& entries = tangent.view();
  const RowPlan plan = window_plan(x, entries, pairing);
  if (x.shape != dx.shape) fail("dx must have x's shape " + x.shape.text(), dx.shape.text());
  check_strides(x, SharedElements::allowed);
  check_table_broadcasts(x.shape.outer(), entries.outer,
                         features_behind(x.feature_stride == 1 ? 0 : 1),
                         features_behind(entries.feature_axis));
  if (x.shape.size() > 0) {
    if (x.data == nullptr) fail("a strided view must have data, got a null pointer");
    const Stretch read = stretch_of(x);
    if (dy.shape == x.shape && dy.data != nullptr) {
      check_strides(dy);
      if (overlap(read, stretch_of(dy)))
        fail("dy must not overlap x, which is read after dy is written");
      refuse_table_overlap(entries, checked_table_size(entries), dy);
    }
  }
  using DXScalar = std::remove_const_t<DX>;
  const auto& turning = view_of(table);
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(turning.cos)>>;
  static_assert(std::is_same_v<ResultScalar<DXScalar, TableScalar>, Y>,
                "[rope] the destination cannot hold the result's scalar");
  PlacedRotation<DXScalar, TableScalar, Y> of_dx;
  check_rotation(of_dx, dy, dx, turning, pairing, Direction::forward);
  if (x.shape.size() == 0) return;

  const Shape outer = x.shape.outer();
  const TableSteps of_tangent = table_steps(entries.width, entries.outer, entries.feature_axis);
  if (!of_dx.block.features.follow_each_other() || x.feature_stride != 1 || of_tangent.entry != 1) {
    return run_jvp_apart(
        ApartJvp<XScalar, DXScalar, Y, TableScalar, Scalar>{
            {x.data, x.strides, x.feature_stride},
            {dx.data, dx.strides, dx.feature_stride},
            {dy.data, dy.strides, dy.feature_stride},
            plan,
            of_dx.plan,
            outer,
            turning,
            entries},
        device);
  }
  const Walk of_x = make_walk(outer, x.strides, dy.strides, of_tangent.outer);
  run_jvp(
      CheckedJvp<XScalar, DXScalar, Y, TableScalar, Scalar>{
          x.data, dx.data, dy.data, plan, of_dx.plan, of_x, of_dx.block.rows, turning, entries,
          dy.strides == dense_strides(plan.row_length, outer)},
      device);
}

}  // namespace detail

/// Writes the rotation of x by a tangent to y: the derivative of rotate(x) in angles and
/// magnitudes, or its transpose.
///
///     y_A = dc_A x_a - ds_A x_b     y_B = dc_B x_b + ds_B x_a
///
/// That is the forward direction; backward gives the transpose. Outside the window y becomes 0.
///
/// \code{.cpp}
/// const std::vector<double> dt(D / 2 * tokens, 1.0);
/// const auto tangent = er::tangent_of(cache, dt);
/// er::rotate_tangent_to(dy, x, tangent, er::split_half);  // dy when every angle moves by dt
/// er::rotate_tangent_to(dx, dy, tangent, er::split_half, er::Direction::backward);
/// \endcode
///
/// y and x are each an Eigen::Tensor or TensorMap (tensor_view.hpp) or a StridedView.
///
/// \param y          of x's shape; its rows may not share elements
/// \param x          may be y itself; its rows may share elements
/// \param tangent    the tangent of what the rotation reads
/// \param pairing    the pairing of the rotation, with its window
/// \param direction  forward or backward
/// \param device     rows are split among its threads, with the same result for any number
///
/// - Errors:   eigen_rope::Error where rotate_to() throws it, and for Direction::inverse.
/// - Aliasing: that of rotate_to(), and what lies outside the window counts as well.
/// - Cost:     one pass over x.
///
/// \see jvp_to(), \ref gradients "Gradients"
template <class Y, class X, class Scalar>
void rotate_tangent_to(Y&& y, const X& x, const TangentTable<Scalar>& tangent, Pairing pairing,
                       Direction direction = Direction::forward, const Device& device = Device()) {
  const TableView<Scalar> entries = tangent.view();
  detail::along_feature_axis(x, entries.width, entries.outer, pairing, [&] {
    detail::rotate_tangent(detail::written_rows_of(std::forward<Y>(y), pairing),
                           detail::rows_of(x, pairing), tangent, pairing, direction, device);
  });
}

/// Writes the derivative of rotate(x, table, pairing) along a direction of x and the table to dy,
/// which is a Jacobian-vector product.
///
///     dy = rotate(dx, table) + rotate(x, tangent)
///
/// \code{.cpp}
/// const std::vector<double> dt(D / 2 * tokens, 1.0);  // every angle moves alike
/// er::jvp_to(dy, x, dx, cache, er::tangent_of(cache, dt), er::split_half);
/// \endcode
///
/// \param dy, x, dx  Eigen::Tensor or TensorMap (tensor_view.hpp) or StridedView, of the same
///                   shape; x is where the derivative is taken, dx the direction of x
/// \param table      what the rotation reads
/// \param tangent    the tangent of that table, along the table's direction
/// \param pairing    the pairing of the rotation, with its window
/// \param device     rows are split among its threads, with the same result for any number
///
/// - Errors:   eigen_rope::Error where rotate_to() throws it, and for overlap.
/// - Aliasing: dy may be dx itself but must not overlap it otherwise, nor x or either table.
/// - Error:    that of two rotations and a sum.
/// - Cost:     one pass over x and dx.
///
/// \see rotate_tangent_to(), \ref gradients "Gradients"
template <class Y, class X, class DX, class Table, class Scalar>
void jvp_to(Y&& dy, const X& x, const DX& dx, const Table& table,
            const TangentTable<Scalar>& tangent, Pairing pairing, const Device& device = Device()) {
  const TableView<Scalar> entries = tangent.view();
  detail::along_feature_axis(x, entries.width, entries.outer, pairing, [&] {
    detail::jvp(detail::written_rows_of(std::forward<Y>(dy), pairing), detail::rows_of(x, pairing),
                detail::rows_of(dx, pairing), table, tangent, pairing, device);
  });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
