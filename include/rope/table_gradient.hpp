// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a loss with respect to the table of a rotation.
//
// With y = rotate(x), g the gradient with respect to y, and pair (a, b) -> (A, B):
//
//   full width   dcos_A = sum g_A x_a     dsin_A = -sum g_A x_b        half width   dcos = sum (g_A x_a + g_B x_b)
//                dcos_B = sum g_B x_b     dsin_B =  sum g_B x_a                     dsin = sum (g_B x_a - g_A x_b)
//
// summed over every axis the table broadcasts along. x and g are x-shaped views, rows anywhere; the result has the table's shape. Not the
// gradient with respect to x (that is transpose()), and not that of the parameters the table was made from.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "rope/detail/determinant.hpp"
#include "rope/detail/overlap.hpp"
#include "rope/detail/rounding.hpp"
#include "rope/detail/walk.hpp"
#include "rope/device.hpp"
#include "rope/pairing.hpp"
#include "rope/strided_view.hpp"
#include "rope/table.hpp"

namespace rope {

/// Where a table's gradient goes: dense arrays of the table's shape, `width` fastest. They must not overlap each other, x or g.
template <class Scalar>
struct TableGradient {
  Scalar* cos = nullptr;
  Scalar* sin = nullptr;
  Index width = 0;
  /// Extents outside the feature axis, fastest first; each is x's or 1.
  Shape outer{};
};

namespace detail {

/// A sum of products. 16- and 32-bit terms are exact products summed in double; double terms are summed with their rounding errors
/// (Neumaier 1974); anything else in its own arithmetic.
template <class C, bool floating = std::is_floating_point_v<C>>
class ProductSum {
 public:
  void add(const C& a, const C& b) { sum_ = sum_ + a * b; }
  void subtract(const C& a, const C& b) { sum_ = sum_ - a * b; }
  const C& value() const { return sum_; }

 private:
  C sum_ = C(0);
};

template <>
class ProductSum<float, true> {
 public:
  void add(float a, float b) { sum_ += static_cast<double>(a) * static_cast<double>(b); }
  void subtract(float a, float b) { sum_ -= static_cast<double>(a) * static_cast<double>(b); }
  double value() const { return sum_; }

 private:
  double sum_ = 0;
};

template <class C>
class ProductSum<C, true> {
 public:
  void add(C a, C b) { add(a * b); }
  void subtract(C a, C b) { add(-(a * b)); }
  C value() const { return sum_ + rest_; }

 private:
  void add(C term) {
    const C sum = sum_ + term;
    using std::abs;
    rest_ += abs(sum_) >= abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }

  C sum_ = 0;
  C rest_ = 0;
};

/// The sum as the gradient's scalar, rounded once.
template <class Scalar, class Sum>
Scalar rounded_sum(const Sum& sum) {
  if constexpr (is_16_bit<Scalar> && std::is_same_v<Sum, double>) {
    return round_once<Scalar>(DoubleDouble(sum));
  } else {
    return static_cast<Scalar>(sum);
  }
}

/// Adds one row's products to the sums of its table row.
template <class C, class X, class G>
void add_row(const Runs& runs, const X* x, const G* g, ProductSum<C>* cos, ProductSum<C>* sin) {
  for (const Run& run : runs) {
    for (Index k = 0; k < run.count; ++k) {
      const C a = static_cast<C>(x[run.in_a + k * run.in_step]);
      const C b = static_cast<C>(x[run.in_b + k * run.in_step]);
      const C g_a = static_cast<C>(g[run.out_a + k * run.out_step]);
      const C g_b = static_cast<C>(g[run.out_b + k * run.out_step]);
      const Index table_a = run.table_a + k * run.table_step;
      const Index table_b = run.table_b + k * run.table_step;
      cos[table_a].add(g_a, a);
      cos[table_b].add(g_b, b);
      sin[table_a].subtract(g_a, b);
      sin[table_b].add(g_b, a);
    }
  }
}

}  // namespace detail

/// Overwrites `gradient` with dL/dcos and dL/dsin of the forward rotation of x.
///
/// \param gradient  arrays of the table's shape; its scalar is any plain one, or that of x and g
/// \param x, g      of the same shape; rows may share elements
/// \param device    table rows are split among threads; each is summed by one, in memory order, so the bits do not depend on the number
/// \throws rope::Error as rotate() for windows and shapes that do not fit, and for null or overlapping arrays
///
/// Error: float and 16-bit operands at most half an ulp of the result's scalar + n 2^-53 of the sum of the n terms' magnitudes; double
/// operands an ulp + n^2 2^-106 of it and the rounding of each product. Complexity: one pass over x and g.
template <class Scalar, class X, class G>
void table_gradient(const TableGradient<Scalar>& gradient, const StridedView<X>& x, const StridedView<G>& g, Pairing pairing,
                    const Device& device = Device()) {
  using C = detail::ComputeScalar<std::remove_const_t<X>, std::remove_const_t<G>>;
  if (x.shape.rank() == 0) detail::fail("a strided view must have at least the feature axis, got rank 0");
  if (x.shape != g.shape) detail::fail("g must have x's shape " + x.shape.text(), g.shape.text());
  const detail::Strides x_strides = detail::checked_strides(x.shape, x.strides, detail::SharedElements::allowed);
  const detail::Strides g_strides = detail::checked_strides(g.shape, g.strides, detail::SharedElements::allowed);
  const Shape outer = x.shape.outer();
  const detail::RowPlan plan = detail::make_row_plan(x.shape[0], gradient.width, pairing, Direction::forward);
  detail::check_table_broadcasts(outer, gradient.outer);
  const Index size = detail::checked_product("the number of entries in the table", gradient.width, gradient.outer.size());
  if (size == 0) return;
  if (gradient.cos == nullptr || gradient.sin == nullptr) detail::fail("the table's gradient must have data, got a null pointer");
  const detail::Span nothing{0, -1};
  const bool empty = x.shape.size() == 0;
  if (!empty && (x.data == nullptr || g.data == nullptr)) detail::fail("a strided view must have data, got a null pointer");
  const detail::Span x_span = empty ? nothing : detail::span_of(x.shape, x_strides);
  const detail::Span g_span = empty ? nothing : detail::span_of(g.shape, g_strides);
  const auto bytes = [](Index count, std::size_t element) { return static_cast<std::size_t>(count) * element; };
  for (const Scalar* part : {gradient.cos, gradient.sin}) {
    if (detail::overlap(part, bytes(size, sizeof(Scalar)), x.data + x_span.first, bytes(x_span.last - x_span.first + 1, sizeof(X))) ||
        detail::overlap(part, bytes(size, sizeof(Scalar)), g.data + g_span.first, bytes(g_span.last - g_span.first + 1, sizeof(G)))) {
      detail::fail("the table's gradient must not overlap x or g");
    }
  }
  if (detail::overlap(gradient.cos, bytes(size, sizeof(Scalar)), gradient.sin, bytes(size, sizeof(Scalar)))) {
    detail::fail("the gradients of cos and sin must not overlap");
  }

  // Two walks: over the table's rows, and over the rows of x that share one.
  Shape kept;
  Shape summed;
  for (int axis = 0; axis < outer.rank(); ++axis) {
    const bool broadcast = gradient.outer[axis] == 1;
    kept.push_back(broadcast ? 1 : outer[axis]);
    summed.push_back(broadcast ? outer[axis] : 1);
  }
  const detail::Walk rows = detail::make_walk(kept, x_strides, g_strides, detail::table_strides(gradient.width, gradient.outer));
  const detail::Walk sharing = detail::make_walk(summed, x_strides, g_strides, detail::Strides{});
  const detail::Runs runs = detail::runs_of(plan);
  const double bytes_per_row = static_cast<double>(x.shape[0] * sharing.rows) * (sizeof(X) + sizeof(G));
  device.for_range(rows.rows, bytes_per_row, [&](Index first, Index last) {
    const auto width = static_cast<std::size_t>(gradient.width);
    std::vector<detail::ProductSum<C>> cos(width);
    std::vector<detail::ProductSum<C>> sin(width);
    for (Index row = first; row < last; ++row) {
      const detail::RowPlace at = detail::place_of_row(rows, row);
      std::fill(cos.begin(), cos.end(), detail::ProductSum<C>());
      std::fill(sin.begin(), sin.end(), detail::ProductSum<C>());
      for (Index i = 0; i < sharing.rows; ++i) {
        const detail::RowPlace within = detail::place_of_row(sharing, i);
        detail::add_row<C>(runs, x.data + at.x + within.x + plan.offset, g.data + at.y + within.y + plan.offset, cos.data(), sin.data());
      }
      for (std::size_t k = 0; k < width; ++k) {
        gradient.cos[at.table + static_cast<Index>(k)] = detail::rounded_sum<Scalar>(cos[k].value());
        gradient.sin[at.table + static_cast<Index>(k)] = detail::rounded_sum<Scalar>(sin[k].value());
      }
    }
  });
}

}  // namespace rope
