// SPDX-License-Identifier: Apache-2.0
//
// The rotation as one lazy Eigen Tensor expression.
//
//   y = eigen_rope::rotate(x, cache, eigen_rope::split_half)
//   g = eigen_rope::rotate_backward(dy, cache, eigen_rope::split_half)    dL/dx, where dy is dL/dy
//   x = eigen_rope::rotate_inverse(y, cache, eigen_rope::split_half)      the x that gave y
//
//   y_A = c_A x_a - s_A x_b     y_B = c_B x_b + s_B x_a
//
// x is any Eigen Tensor expression of rank 1 to 8 with the feature axis fastest: last in RowMajor,
// first in ColMajor. The result has x's shape. The table broadcasts as table.hpp says. What is
// outside the pairing's window is copied bit for bit.
//
// Assigned directly (`y = rotate(x, ...)`, also `.device(pool) =`), the compiled row kernel writes
// straight into y. Inside a larger expression it writes the rows of each block that Eigen
// evaluates, or the whole result into one temporary of the device where Eigen asks for anything
// else than blocks of rows (reductions, contractions, shuffles). All ways give the same bits. Not
// here: tables, checks of aliasing that Eigen hides (rotate_to), strided views (rotate_inplace).
#pragma once

#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/evaluator.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope {

/// The rotation of `x`, lazily.
///
/// \param x        expression of shape [D, ...]; float, double, long double, Eigen::half,
///                 Eigen::bfloat16 or a differentiable scalar
/// \param table    a Cache, a TableView or anything else with a view(); must outlive the
///                 evaluation. Its scalar may differ from x's: the arithmetic is done in the wider
///                 of the two, at least float, and rounded to x's scalar once
/// \param pairing  which elements form a pair, and the rotated window
///
/// - Errors:   eigen_rope::Error if the window does not fit D, the table does not fit x, or a table
///             or TensorMap with elements has no data.
/// - Aliasing: a statement is right wherever it is right with the rotation left out:
///             `x = rotate(x, ...)`, `x = rotate(x, ...) * 2`, `x += rotate(x, ...)`, the same
///             slice on both sides; not `x = rotate(x, ...).shuffle(...)`. Where the rotation is
///             the whole right-hand side and the destination is memory in one piece, one that
///             overlaps x otherwise, or the table, throws. A destination that owns the table's
///             memory and is resized (`cos = rotate(x, table_of(cos, sin), ...)`) is WRONG and
///             cannot be detected.
/// - Threads:  the expression has no mutable state.
/// - Error:    at most 1.5 ulp of the pair's magnitude max(|y_A|, |y_B|, ...) beyond the table's
///             own, where magnitude is sqrt(a^2 + b^2) m.
/// - Cost:     one pass over x.
template <class X, class Table>
auto rotate(const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& x, const Table& table,
            Pairing pairing) {
  return detail::make_node(static_cast<const X&>(x), detail::view_of(table), pairing,
                           Direction::forward);
}

/// The transpose applied to `g`: the gradient of a loss with respect to x where g is its gradient
/// with respect to rotate(x). rotate_backward(rotate(x)) = m^2 x. As rotate() otherwise.
template <class X, class Table>
auto rotate_backward(const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& g, const Table& table,
                     Pairing pairing) {
  return detail::make_node(static_cast<const X&>(g), detail::view_of(table), pairing,
                           Direction::backward);
}

/// The true inverse: rotate_inverse(rotate(x)) = x for every m != 0. Divides by c_A c_B + s_A s_B
/// (m^2 for tables of Cache). As rotate() otherwise.
///
/// - Errors:   eigen_rope::Error also if that is 0 anywhere in the table.
/// - Cost:     one pass over the table to see that.
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

/// cos and sin given as two tensors of the same shape, read in place: they must outlive the view. A
/// tensor's layout says which axis is the feature axis, as for x. Tensors of full width have one
/// entry per rotated element, in the elements' order; those of Hugging Face's form, cat(f, f), are
/// for Cache::from_halves(table_of(cos, sin)), which the pairing does not matter to.
template <class Scalar, int rank, int options, class TensorIndex>
TableView<Scalar> table_of(const Eigen::Tensor<Scalar, rank, options, TensorIndex>& cos,
                           const Eigen::Tensor<Scalar, rank, options, TensorIndex>& sin) {
  return detail::table_of_raw<detail::layout_of<options>>(cos, sin);
}

/// The same for memory that is not Eigen's.
template <class Plain>
auto table_of(const Eigen::TensorMap<Plain>& cos, const Eigen::TensorMap<Plain>& sin) {
  return detail::table_of_raw<Eigen::TensorMap<Plain>::Layout>(cos, sin);
}

}  // namespace eigen_rope
