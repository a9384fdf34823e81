// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a tensor as a statement, with the checks that Eigen's assignment leaves out.
//
//   eigen_rope::rotate_to(y, x, cache, eigen_rope::split_half);      y = rotate(x)
//   eigen_rope::rotate_inplace(y, cache, eigen_rope::split_half);    y = rotate(y)
//
// Both check shapes and overlap, in release builds too, before they write the first element.
// Eigen's `y.device(d) = expression` neither resizes y nor checks its shape. Where a plain
// `y = rotate(x, ...)` is enough, these functions are not needed. The functions for rows inside a
// larger buffer are in rotate_strided.hpp.
#pragma once

#include <string>

#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"

namespace eigen_rope {

/// Rotates `x` in the given direction and writes the result to `y`.
///
///     y = rotate(x), rotate_backward(x) or rotate_inverse(x)
///
/// The error bound is that of the function that the direction names.
///
/// \code{.cpp}
/// er::rotate_to(y, q, cache, er::split_half);
/// er::rotate_to(dx, dy, cache, er::split_half, er::Direction::backward, pool);
/// \endcode
///
/// \param y          an Eigen::Tensor or TensorMap of x's shape; it is not resized
/// \param x          any expression, as for rotate()
/// \param table      a Cache, a TableView or anything else with a view()
/// \param pairing    which elements form a pair, and the window of each row that is rotated
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     an Eigen::DefaultDevice or ThreadPoolDevice; the result is the same for any
///                   number of threads
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of rotate() and
///             for the inverse of rotate_inverse(), if y does not have x's shape, if y has elements
///             and no data, or if memory overlaps as below.
/// - Aliasing: if x has raw data, y may be that same data; any other overlap with it, or with the
///             table, throws. An expression without raw data that reads y's memory cannot be
///             recognised.
/// - Cost:     one pass over x, and for the inverse what rotate_inverse() adds.
///
/// \see \ref pitfalls "Pitfalls"
template <class Y, class X, class Table, class Device = Eigen::DefaultDevice>
void rotate_to(Y&& y, const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& x, const Table& table,
               Pairing pairing, Direction direction = Direction::forward,
               const Device& device = Device()) {
  const auto node =
      detail::make_node(static_cast<const X&>(x), detail::view_of(table), pairing, direction);
  using Node = std::remove_const_t<decltype(node)>;
  const Eigen::TensorEvaluator<const Node, Eigen::DefaultDevice> evaluator(node,
                                                                           Eigen::DefaultDevice());
  constexpr int layout = Eigen::internal::traits<Node>::Layout;
  const Shape x_shape = detail::shape_of<layout>(evaluator.dimensions());
  const Shape y_shape = detail::shape_of<layout>(y.dimensions());
  if (x_shape != y_shape)
    detail::fail("the destination must have x's shape " + x_shape.text(), y_shape.text());
  if (y.data() == nullptr && y_shape.size() != 0)
    detail::fail("the destination must have data, got a null pointer");
  y.device(device) = node;
}

/// Rotates a whole Eigen::Tensor or TensorMap in place.
///
/// Errors, error bound and cost are those of rotate_to(y, y, ...).
///
/// \code{.cpp}
/// er::rotate_inplace(q, cache, er::split_half);
/// er::rotate_inplace(dy, cache, er::split_half, er::Direction::backward, pool);  // now dL/dx
/// \endcode
///
/// \param y          [D, ...], read and overwritten
/// \param table      a Cache, a TableView or anything else with a view(); must not overlap y
/// \param pairing    which elements form a pair, and the window of each row that is rotated
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     an Eigen::DefaultDevice or ThreadPoolDevice
template <class Y, class Table, class Device = Eigen::DefaultDevice>
void rotate_inplace(Eigen::TensorBase<Y, Eigen::WriteAccessors>& y, const Table& table,
                    Pairing pairing, Direction direction = Direction::forward,
                    const Device& device = Device()) {
  rotate_to(static_cast<Y&>(y), static_cast<const Y&>(y), table, pairing, direction, device);
}

}  // namespace eigen_rope
