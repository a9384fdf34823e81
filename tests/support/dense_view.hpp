// SPDX-License-Identifier: Apache-2.0
//
// An array as a strided view of a dense tensor.
#pragma once

#include <vector>

#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::test {

template <class Scalar>
StridedView<Scalar> dense(Scalar* data, const Shape& shape) {
  StridedView<Scalar> view{data, shape, {}};
  Index stride = shape[0];
  for (int axis = 1; axis < shape.rank(); ++axis) {
    view.strides.push_back(stride);
    stride *= shape[axis];
  }
  return view;
}

template <class Scalar>
StridedView<Scalar> dense(std::vector<Scalar>& data, const Shape& shape) {
  return dense(data.data(), shape);
}

template <class Scalar>
StridedView<const Scalar> dense(const std::vector<Scalar>& data, const Shape& shape) {
  return dense(data.data(), shape);
}

}  // namespace eigen_rope::test
