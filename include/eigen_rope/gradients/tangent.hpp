// SPDX-License-Identifier: Apache-2.0
//
// The rotation's derivative in its angles is a rotation by another table: forward mode, and the
// gradient of the gradient.
//
// With angles moving by dt and log m by du (one number per table entry):
//
//   d cos = cos du - sin dt      d sin = sin du + cos dt          tangent_of(table, dt, du)
//   dy    = rotate(dx, table) + rotate(x, tangent)                jvp_to(dy, x, dx, ...)
//
// and, for cotangents v of dx = rotate_backward(g) and w of d angle = gradients(...).angle, with
// the tangent made of dt = w:
//
//   gradient with respect to g        rotate(v, table) + rotate(x, tangent)
//                       jvp_to(dg, x, v, ...)
//   gradient with respect to x        rotate_backward(g, tangent)
//                       rotate_tangent_to(dx, g, tangent, ..., backward)
//   gradient with respect to angles   gradients(v, g).angle - w gradients(x, g).log_magnitude, both
//                                     with GradientsFrom::input
//
// so that any number of derivatives uses the same kernels. Outside the window the derivative is
// that of a copy: dx passes, and the tangent gives 0. The tangents of positions and rates are the
// caller's: dt = dposition rate + position drate.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope {
namespace detail {

/// Of whole numbers there is none.
template <class Tangent>
struct TangentScalar {
  static_assert(!is_whole<Tangent>,
                "[rope] tangents must be floating-point or differentiable numbers, not integers");
};

}  // namespace detail

/// An owned table of any width: what a Cache is to frequencies, this is to tangents. Immutable.
template <class Scalar>
class TangentTable {
 public:
  /// \param table          what the rotation reads, of any width
  /// \param angle          dt in radians, one per entry of `table` in its order; empty for 0
  /// \param log_magnitude  du likewise
  ///
  /// - Errors:   eigen_rope::Error unless each is empty or has one entry per entry of the table,
  ///             and if the table has no data.
  /// - Error:    two products and a sum, rounded to the entries' scalar.
  /// - Cost:     O(entries).
  template <class Tangent>
  TangentTable(const TableView<Scalar>& table, const std::vector<Tangent>& angle,
               const std::vector<Tangent>& log_magnitude)
      : width_(table.width), outer_(table.outer) {
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

  /// Points into this table, which must outlive it.
  TableView<Scalar> view() const { return {cos_.data(), sin_.data(), width_, outer_}; }

 private:
  static void require_size(const std::string& name, std::size_t got, std::size_t size) {
    if (got == 0 || got == size) return;
    detail::fail(name + " must be one per table entry (" + std::to_string(size) + ")",
                 static_cast<std::int64_t>(got));
  }

  Index width_;
  Shape outer_;
  std::vector<Scalar> cos_, sin_;
};

/// From the directions of angles and log magnitudes, one per table entry; no list means 0.
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
  return {view.data == nullptr || shape.size() == 0 ? view.data : view.data + plan.offset, shape,
          view.strides};
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
  const Strides strides = checked_strides(y.shape, y.strides);
  const Strides x_strides = checked_strides(x.shape, x.strides, SharedElements::allowed);
  if (x.shape.size() > 0 && x.data != nullptr && y.data != nullptr) {
    refuse_view_overlap(x, x_strides, y, strides);
    refuse_table_overlap(tangent.view(), y, strides);
  }
  rotate_to(window_of(y, plan), window_of(x, plan), tangent, Pairing(pairing.kind()), direction,
            device);
  const Walk walk = make_walk(y.shape.outer(), strides, strides, Strides{});
  for (Index row = 0; row < walk.rows; ++row) {
    Y* begin = y.data + place_of_row(walk, row).y;
    std::fill(begin, begin + plan.offset, converted<Y>(0.0));
    std::fill(begin + plan.offset + plan.rotary_dims, begin + plan.row_length, converted<Y>(0.0));
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
  const Strides x_strides = checked_strides(x.shape, x.strides, SharedElements::allowed);
  check_table_broadcasts(x.shape.outer(), entries.outer);
  if (x.shape.size() > 0) {
    if (x.data == nullptr) fail("a strided view must have data, got a null pointer");
    const Stretch read = stretch_of(x, x_strides);
    if (dy.shape == x.shape && dy.data != nullptr) {
      const Strides dy_strides = checked_strides(dy.shape, dy.strides);
      if (overlap(read, stretch_of(dy, dy_strides)))
        fail("dy must not overlap x, which is read after dy is written");
      refuse_table_overlap(entries, dy, dy_strides);
    }
  }
  rotate_to(dy, dx, table, pairing, Direction::forward, device);
  if (x.shape.size() == 0) return;

  RowPlan whole = plan;
  whole.offset = 0;
  whole.row_length = plan.rotary_dims;
  const Walk walk = make_walk(x.shape.outer(), x_strides, checked_strides(dy.shape, dy.strides),
                              table_strides(entries.width, entries.outer));
  constexpr RowSteps single{1, 0, 0, 0};
  device.for_range(
      walk.rows, static_cast<double>(plan.row_length) * 3 * sizeof(Y),
      [&](Index first, Index last) {
        std::vector<Y> turned(static_cast<std::size_t>(plan.rotary_dims));
        for (Index row = first; row < last; ++row) {
          const RowPlace at = place_of_row(walk, row);
          rotate_rows(whole, RowBlock<XScalar, Scalar, Y>{x.data + at.x + plan.offset,
                                                          turned.data(), entries.cos + at.table,
                                                          entries.sin + at.table, single, single});
          Y* y = dy.data + at.y + plan.offset;
          for (std::size_t i = 0; i < turned.size(); ++i) y[i] = static_cast<Y>(y[i] + turned[i]);
        }
      });
}

}  // namespace detail

/// y = the rotation of x by a tangent: its derivative in angles and log magnitudes, or that
/// derivative's transpose; 0 outside the window. y and x are each an Eigen::Tensor or TensorMap
/// (tensor_view.hpp) or a StridedView. Arguments as rotate_to(); direction is forward or backward.
///
/// - Errors:   as rotate_to().
/// - Aliasing: overlap as rotate_to(), that of whole rows.
template <class Y, class X, class Scalar>
void rotate_tangent_to(Y&& y, const X& x, const TangentTable<Scalar>& tangent, Pairing pairing,
                       Direction direction = Direction::forward, const Device& device = Device()) {
  detail::rotate_tangent(detail::written_rows_of(std::forward<Y>(y)), detail::rows_of(x), tangent,
                         pairing, direction, device);
}

/// dy = the derivative of rotate(x, table, pairing) along (dx, tangent): a Jacobian-vector product.
///
/// \param dy, x, dx  Eigen::Tensor or TensorMap (tensor_view.hpp) or StridedView, of the same
///                   shape; dy may be dx itself but must not overlap it otherwise, nor x
/// \param table      what the rotation reads, and `tangent` its TangentTable
///
/// - Errors:   eigen_rope::Error as rotate_to().
/// - Error:    that of two rotations and a sum.
/// - Cost:     one pass over x and dx.
template <class Y, class X, class DX, class Table, class Scalar>
void jvp_to(Y&& dy, const X& x, const DX& dx, const Table& table,
            const TangentTable<Scalar>& tangent, Pairing pairing, const Device& device = Device()) {
  detail::jvp(detail::written_rows_of(std::forward<Y>(dy)), detail::rows_of(x), detail::rows_of(dx),
              table, tangent, pairing, device);
}

}  // namespace eigen_rope
