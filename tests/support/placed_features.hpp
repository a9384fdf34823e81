// SPDX-License-Identifier: Apache-2.0
//
// Tensors [features, heads, tokens, batches] with the features on any axis: where the rotations of
// autodiff tests find them.
#pragma once

#include <algorithm>
#include <vector>

#include "eigen_rope/choices/layout.hpp"
#include "support/axis_cases.hpp"
#include "support/closed_form.hpp"

namespace eigen_rope::test::autodiff {

using closed_form::Extents;

/// The order of a ColMajor tensor with the features behind `axis` of the other axes.
inline Layout layout_of(int axis) {
  using Role = AxisRole;
  switch (axis) {
    case 1: return {Role::other, Role::feature, Role::token, Role::batch};
    case 2: return {Role::other, Role::token, Role::feature, Role::batch};
    case 3: return {Role::other, Role::token, Role::batch, Role::feature};
    default: return Layout::bsnd();
  }
}

/// Moves the features of [features, heads, tokens, batches] to an axis, and back. Of a RowMajor
/// tensor these are [batches, tokens, heads, features], so both have the same order in memory.
template <int layout = Eigen::ColMajor>
AlongAxis<4, layout> moved_features(const Extents& e, int axis) {
  std::vector<Index> others{e.heads, e.tokens, e.batches};
  if (layout == static_cast<int>(Eigen::RowMajor)) std::reverse(others.begin(), others.end());
  others.insert(others.begin() + axis, e.features);
  return {Eigen::DSizes<Eigen::Index, 4>(others[0], others[1], others[2], others[3]), axis};
}

template <class S, int layout = Eigen::ColMajor>
Eigen::Tensor<S, 4, layout> tensor_of(const Extents& e, const std::vector<S>& values, int axis) {
  Eigen::Tensor<S, 4, layout> tensor(
      sizes_of<4, layout>(Shape{e.features, e.heads, e.tokens, e.batches}));
  std::copy(values.begin(), values.end(), tensor.data());
  return moved_features<layout>(e, axis).from_front(tensor);
}

/// Of [features, heads, tokens, batches].
template <class S, int layout>
std::vector<S> values_in_front(const Extents& e, const Eigen::Tensor<S, 4, layout>& tensor,
                               int axis) {
  const Eigen::Tensor<S, 4, layout> front = moved_features<layout>(e, axis).to_front(tensor);
  return std::vector<S>(front.data(), front.data() + front.size());
}

/// That names the axis of a ColMajor tensor, but for the fastest one.
inline Pairing pairing_of(const Extents& e, int axis) {
  const Pairing pairing = Pairing(e.kind).with_offset(e.offset).with_rotary_dims(e.dims);
  return axis == 0 ? pairing : pairing.along(axis);
}

}  // namespace eigen_rope::test::autodiff
