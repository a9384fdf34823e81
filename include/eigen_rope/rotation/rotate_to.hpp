// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a tensor as a statement, with the checks that Eigen's assignment leaves out.
//
//   eigen_rope::rotate_to(y, x, cache, eigen_rope::split_half);      y = rotate(x)
//   eigen_rope::rotate_inplace(y, cache, eigen_rope::split_half);    y = rotate(y)
//
// Both check shapes and overlap, in release builds too, before they write the first element.
// Eigen's `y.device(d) = expression` neither resizes y nor checks its shape. Where a plain
// `y = rotate(x, ...)` is enough, these functions are not needed. Both also take slices and chips,
// through the views of piece_view.hpp. The functions for rows inside a larger buffer are in
// rotate_strided.hpp.
#pragma once

#include <string>

#include "eigen_rope/rotation/piece_view.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

inline void check_destination(const Shape& x, const Shape& y, const void* data) {
  if (x != y) fail("the destination must have x's shape " + x.text(), y.text());
  if (data == nullptr && y.size() != 0) fail("the destination must have data, got a null pointer");
}

}  // namespace detail

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
/// \param y          an Eigen::Tensor, TensorFixedSize or TensorMap of x's shape, or a slice or
/// chip
///                   of one; it is not resized
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
/// - Aliasing: if x has raw data or is a slice or chip, y may be that same data; any other overlap
///             with it, or with the table, throws. Any other expression that reads y's memory
///             cannot be recognised.
/// - Cost:     one pass over x, and for the inverse what rotate_inverse() adds.
///
/// \see \ref pitfalls "Pitfalls"
template <class Y, class X, class Table, class Device = Eigen::DefaultDevice>
void rotate_to(Y&& y, const Eigen::TensorBase<X, Eigen::ReadOnlyAccessors>& x, const Table& table,
               Pairing pairing, Direction direction = Direction::forward,
               const Device& device = Device()) {
  using To = std::decay_t<Y>;
  constexpr bool has_piece = detail::is_piece<To> || detail::is_piece<X>;
  if constexpr (has_piece && detail::is_memory<To> && detail::is_memory<X>) {
    detail::rotate_pieces(y, static_cast<const X&>(x), table, pairing, direction, device);
  } else {
    const auto node =
        detail::make_node(static_cast<const X&>(x), detail::view_of(table), pairing, direction);
    using Node = std::remove_const_t<decltype(node)>;
    const Eigen::TensorEvaluator<const Node, Eigen::DefaultDevice> evaluator(
        node, Eigen::DefaultDevice());
    constexpr int layout = Eigen::internal::traits<Node>::Layout;
    const Shape x_shape = detail::shape_of<layout>(evaluator.dimensions());
    if constexpr (detail::is_piece<To>) {
      const auto to = detail::written_rows_of(y);
      detail::check_destination(x_shape, to.shape, to.data);
    } else {
      detail::check_destination(x_shape, detail::shape_of<layout>(y.dimensions()), y.data());
    }
    y.device(device) = node;
  }
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
