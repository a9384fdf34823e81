// SPDX-License-Identifier: Apache-2.0
//
// Eigen's Tensor module, wherever this version of Eigen keeps it, and the small things all our headers need of it.
#pragma once

#if __has_include(<unsupported/Eigen/Tensor>)
#include <unsupported/Eigen/Tensor>
#else
#include <unsupported/Eigen/CXX11/Tensor>
#endif

#include "rope/shape.hpp"

namespace rope::detail {

/// Extents of an Eigen tensor with the feature axis first, whatever its layout.
template <int layout, class Dimensions>
Shape shape_of(const Dimensions& dimensions) {
  constexpr int rank = static_cast<int>(Eigen::internal::array_size<Dimensions>::value);
  static_assert(rank >= 1, "[rope] x must have at least the feature axis");
  static_assert(rank <= max_rank, "[rope] x must have at most rope::max_rank axes");
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) {
    shape.push_back(static_cast<Index>(dimensions[layout == static_cast<int>(Eigen::ColMajor) ? axis : rank - 1 - axis]));
  }
  return shape;
}

#ifdef EIGEN_USE_THREADS
/// What Eigen's scheduler is told of one row; `bytes` is what it reads and writes together. As in rope::Device.
inline Eigen::TensorOpCost row_cost(double bytes) { return Eigen::TensorOpCost(bytes / 2, bytes / 2, bytes / 16); }
#endif

}  // namespace rope::detail
