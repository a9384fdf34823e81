// SPDX-License-Identifier: Apache-2.0
//
// The rotation as a statement, with the checks that Eigen's assignment leaves out.
//
//   eigen_rope::rotate_to(y, x, cache, eigen_rope::split_half);      y = rotate(x)
//   eigen_rope::rotate_inplace(y, cache, eigen_rope::split_half);    y = rotate(y)
//
// Shapes and overlap are checked, in release builds too. Eigen's `y.device(d) = expression` neither
// resizes nor checks y. Everything is refused before the first element is written. Not lazy, and
// not needed where `y = rotate(x, ...)` does. For rows inside a larger buffer see
// rotate_strided.hpp.
#pragma once

#include <string>

#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"

namespace eigen_rope {

/// y = the rotation of x in the given direction.
///
/// \param y       Eigen::Tensor or TensorMap of x's shape; it is not resized
/// \param x       any expression, as for rotate(). If it has raw data, y may be that data but must
///                not overlap it otherwise. An expression without raw data that reads y's memory
///                cannot be recognised
/// \param device  DefaultDevice or ThreadPoolDevice
///
/// - Errors:   eigen_rope::Error as rotate() and inverse(), for other shapes, for a y without data,
///             and for aliasing that cannot work.
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

/// A whole Eigen::Tensor or TensorMap where it lies.
template <class Y, class Table, class Device = Eigen::DefaultDevice>
void rotate_inplace(Eigen::TensorBase<Y, Eigen::WriteAccessors>& y, const Table& table,
                    Pairing pairing, Direction direction = Direction::forward,
                    const Device& device = Device()) {
  rotate_to(static_cast<Y&>(y), static_cast<const Y&>(y), table, pairing, direction, device);
}

}  // namespace eigen_rope
