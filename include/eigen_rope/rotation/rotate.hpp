// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a tensor as a lazy Eigen expression: forward, backward and inverse.
//
//   y = eigen_rope::rotate(x, cache, eigen_rope::split_half)
//   g = eigen_rope::rotate_backward(dy, cache, eigen_rope::split_half)    dL/dx, where dy is dL/dy
//   x = eigen_rope::rotate_inverse(y, cache, eigen_rope::split_half)      the x that gave y
//
//   y_A = c_A x_a - s_A x_b     y_B = c_B x_b + s_B x_a
//
// x is any Eigen Tensor expression of rank 1 to 8. Its feature axis is the fastest (the first in
// ColMajor, the last in RowMajor) unless Pairing::along() names another. The result has x's shape.
// Elements outside the pairing's window are copied bit for bit. How a table broadcasts is described
// in rows/table.hpp.
//
// A direct assignment (`y = rotate(x, ...)`, also to `y.device(pool)`) runs the compiled row kernel
// straight into y. Inside a larger expression the kernel writes either the rows of each block that
// Eigen evaluates, or the whole result once into a temporary of the device. All ways give the same
// bits.
#pragma once

#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/evaluator.hpp"
#include "eigen_rope/rotation/detail/slice.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Returns the rotation of `x` as a lazy Eigen expression.
///
/// Every pair of elements of a row turns by the angle that the table holds for the row's token:
///
///     y_A = c_A x_a - s_A x_b     y_B = c_B x_b + s_B x_a
///
/// The pairing reads a pair from the slots (a, b) and writes it to the slots (A, B). c and s are
/// the table's entries, m cos t and m sin t with the attention factor m; a table of half width has
/// one entry for both members of a pair. The rotation is computed when the expression is assigned,
/// so assign it to a tensor and not to `auto`.
///
/// \code{.cpp}
/// y = er::rotate(q, cache, er::split_half);                // computed here
/// y = er::rotate(q, cache, er::split_half) * 0.125f;       // inside a larger expression
/// y.device(pool) = er::rotate(q, cache, er::interleaved);  // on the threads of a device
/// \endcode
///
/// \param x        an expression of shape [D, ...], the feature axis fastest unless the pairing
///                 names it; its scalar is float, double, long double, Eigen::half,
///                 Eigen::bfloat16 or a differentiable one
/// \param table    a Cache, a TableView or anything else with a view(); must outlive the
///                 evaluation. Its scalar may differ from x's: the arithmetic is done in the wider
///                 of the two, at least float, and rounded to x's scalar once
/// \param pairing  which elements form a pair, the window of each row that is rotated, and the axis
///                 of x that rows lie along
///
/// - Errors:   eigen_rope::Error if the window does not fit D, if the table does not fit x, if a
///             table or TensorMap with elements has no data, or if EIGEN_ROPE_KERNEL_TARGET or
///             EIGEN_ROPE_STREAM_BYTES holds no valid value. It is thrown when the expression is
///             made.
/// - Aliasing: a statement is right wherever it is right with the rotation left out:
///             `x = rotate(x, ...)`, `x = rotate(x, ...) * 2`, `x += rotate(x, ...)` and the same
///             slice on both sides are; `x = rotate(x, ...).shuffle(...)` is not. Where the
///             rotation is the whole right-hand side and the destination is memory in one piece, a
///             destination that overlaps the table, or overlaps x without being x, throws
///             eigen_rope::Error. So does a select or a concatenation that has written to the x of
///             the rotation inside it before the rotation was made, which can happen beyond the
///             caches. A destination that owns the table's memory and is resized
///             (`cos = rotate(x, table_of(cos, sin), ...)`) gives WRONG results and cannot be
///             detected.
/// - Threads:  the expression has no mutable state.
/// - Error:    at most 1.5 ulp of the pair's magnitude m sqrt(x_a^2 + x_b^2), beside the table's
///             own error.
/// - Cost:     one pass over x.
///
/// \see rotate_to(), rotate_inplace(), \ref idea "The idea in pictures",
/// \ref pitfalls "Pitfalls"
template <class X, class Table>
auto rotate(const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& x, const Table& table,
            Pairing pairing) {
  return detail::make_node(static_cast<const X&>(x), detail::view_of(table), pairing,
                           Direction::forward);
}

/// Returns the gradient with respect to x, given the gradient `g` with respect to rotate(x).
///
/// This is the transposed rotation of g, as a lazy Eigen expression:
///
///     dx_a = c_A g_A + s_B g_B     dx_b = c_B g_B - s_A g_A
///
/// With an attention factor m it is not the inverse: rotate_backward(rotate(x)) = m^2 x. Errors,
/// aliasing, threads, error bound and cost are those of rotate().
///
/// \code{.cpp}
/// dx = er::rotate_backward(dy, cache, er::split_half);  // dL/dx, where dy is dL/dy
/// \endcode
///
/// \param g        an expression of the shape of rotate(x)
/// \param table    the table that x was rotated with
/// \param pairing  the pairing that x was rotated with
///
/// \see gradients(), which also returns the gradients of angles, magnitudes and the table;
/// \ref gradients "Gradients"
template <class X, class Table>
auto rotate_backward(const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& g, const Table& table,
                     Pairing pairing) {
  return detail::make_node(static_cast<const X&>(g), detail::view_of(table), pairing,
                           Direction::backward);
}

/// Returns the x that gave `y` = rotate(x), as a lazy Eigen expression.
///
/// It solves the equations of rotate() for x, with the table's entries as they are stored:
///
///     x_a = (c_B y_A + s_A y_B) / d     x_b = (c_A y_B - s_B y_A) / d
///     d = c_A c_B + s_A s_B             m^2 for a table of Cache
///
/// It exists for every attention factor m != 0, and equals rotate_backward() where m is 1, rounding
/// aside. Aliasing and threads are those of rotate().
///
/// \code{.cpp}
/// y = er::rotate(x, cache, er::split_half);
/// x = er::rotate_inverse(y, cache, er::split_half);  // x again, rounding aside
/// \endcode
///
/// \param y        an expression of the shape of rotate(x)
/// \param table    the table that x was rotated with
/// \param pairing  the pairing that x was rotated with
///
/// - Errors:   eigen_rope::Error under the conditions of rotate(), and if d is 0 anywhere in the
///             table.
/// - Error:    with a table of half width at most 4.5 ulp of the pair's magnitude
///             sqrt(y_A^2 + y_B^2) / m, beside the table's own error.
/// - Cost:     one pass over y, and before it one over the table to look for d = 0, unless a Cache
///             knows that its d is not 0.
///
/// \see \ref pitfalls "Pitfalls"
template <class X, class Table>
auto rotate_inverse(const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& y, const Table& table,
                    Pairing pairing) {
  const auto& entries = detail::view_of(table);
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  static_assert(detail::can_be_tested<detail::Widened<TableScalar>>(),
                "[rope] the inverse must know the value of the table's scalar: give its namespace "
                "a function eigen_rope_passive(const S&)");
  return detail::make_node(static_cast<const X&>(y), entries, pairing, Direction::inverse);
}

/// Makes a table from two tensors, the cosines and the sines, without copying them.
///
/// The tensors have the same shape and must outlive the view. Their feature axis is the fastest
/// one, whichever axis of x has its features. It has one entry per pair (half width) or one per
/// rotated element, in the order of the elements of y (full width). Hugging Face's cos and sin have
/// the form cat(f, f), which as a full-width table is right for split-half pairs only;
/// Cache::from_halves() turns them into a table for every pairing.
///
/// \code{.cpp}
/// Eigen::Tensor<float, 3> cos(D / 2, 1, tokens), sin(D / 2, 1, tokens);
/// cos.setConstant(0.6f);
/// sin.setConstant(0.8f);
/// y = er::rotate(x, er::table_of(cos, sin), er::split_half);
/// \endcode
///
/// \param cos  [width, ...], each outer axis with x's extent or 1; with m already in it
/// \param sin  of the shape of cos
///
/// - Errors:   eigen_rope::Error if the shapes of cos and sin differ.
/// - Cost:     O(1); nothing is read.
///
/// \see TableView, Cache::from_halves(), \ref pitfalls "Pitfalls"
template <class Scalar, int rank, int options, class TensorIndex>
TableView<Scalar> table_of(const Eigen::Tensor<Scalar, rank, options, TensorIndex>& cos,
                           const Eigen::Tensor<Scalar, rank, options, TensorIndex>& sin) {
  return detail::table_of_raw<detail::layout_of<options>>(cos, sin);
}

/// Makes a table from two maps, the cosines and the sines, which may be memory that is not Eigen's.
///
/// Shapes, lifetime, errors and cost are those of table_of() for tensors: the memory, not the map
/// objects, must outlive the view.
///
/// \code{.cpp}
/// std::vector<float> cosines(D / 2 * tokens, 0.6f), sines(D / 2 * tokens, 0.8f);
/// using Map = Eigen::TensorMap<const Eigen::Tensor<float, 3>>;
/// y = er::rotate(x,
///                er::table_of(Map(cosines.data(), D / 2, 1, tokens),
///                             Map(sines.data(), D / 2, 1, tokens)),
///                er::split_half);
/// \endcode
template <class Plain>
auto table_of(const Eigen::TensorMap<Plain>& cos, const Eigen::TensorMap<Plain>& sin) {
  return detail::table_of_raw<Eigen::TensorMap<Plain>::Layout>(cos, sin);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
