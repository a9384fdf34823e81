// SPDX-License-Identifier: Apache-2.0
//
// Eigen's Tensor module, wherever this version of Eigen keeps it, and the small things all our
// headers need of it.
#pragma once

#if __has_include(<unsupported/Eigen/Tensor>)
#include <unsupported/Eigen/Tensor>
#else
#include <unsupported/Eigen/CXX11/Tensor>
#endif

#include <array>
#include <cstddef>

#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/feature_axis.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The number of an axis, as the type that an array of extents counts with: std::array's is
/// unsigned, that of Eigen's fixed sizes is not.
struct AxisNumber {
  int value;
  // NOLINTNEXTLINE(google-explicit-constructor): any integral type of Eigen's
  constexpr operator std::size_t() const { return static_cast<std::size_t>(value); }
  // NOLINTNEXTLINE(google-explicit-constructor): likewise
  constexpr operator std::ptrdiff_t() const { return static_cast<std::ptrdiff_t>(value); }
};

/// The layout among the options of an Eigen tensor.
template <int options>
inline constexpr int layout_of = (options & Eigen::RowMajor) != 0 ? Eigen::RowMajor
                                                                  : Eigen::ColMajor;

/// In which order the indices of such a tensor count its axes.
template <int layout>
inline constexpr IndexOrder order_of_layout = layout == static_cast<int>(Eigen::ColMajor)
                                                  ? IndexOrder::fastest_first
                                                  : IndexOrder::slowest_first;

/// Extents of an Eigen tensor with the fastest axis first, whatever its layout.
template <int layout, class Dimensions,
          int rank = static_cast<int>(Eigen::internal::array_size<Dimensions>::value)>
std::array<Index, static_cast<std::size_t>(rank)> extents_of(const Dimensions& dimensions) {
  static_assert(rank >= 1, "[rope] x must have at least the feature axis");
  static_assert(rank <= max_rank, "[rope] x must have at most eigen_rope::max_rank axes");
  std::array<Index, static_cast<std::size_t>(rank)> extents;
  for (int axis = 0; axis < rank; ++axis) {
    extents[static_cast<std::size_t>(axis)] = static_cast<Index>(dimensions[AxisNumber{
        layout == static_cast<int>(Eigen::ColMajor) ? axis : rank - 1 - axis}]);
  }
  return extents;
}

template <int layout, class Dimensions>
void append_extents(const Dimensions& dimensions, Shape& shape) {
  for (const Index extent : extents_of<layout>(dimensions)) shape.push_back(extent);
}
template <int layout, class Dimensions>
Shape shape_of(const Dimensions& dimensions) {
  Shape shape;
  append_extents<layout>(dimensions, shape);
  return shape;
}

/// All of them but the one at `place`, fastest first; of strides likewise.
template <int layout, class Dimensions,
          int rank = static_cast<int>(Eigen::internal::array_size<Dimensions>::value)>
OuterAxes<rank> outer_axes_of(const Dimensions& dimensions, int place = 0) {
  OuterAxes<rank> outer{};
  for (int axis = 0; axis + 1 < rank; ++axis) {
    const int from = place == 0 || axis >= place ? axis + 1 : axis;
    outer[static_cast<std::size_t>(axis)] = static_cast<Index>(dimensions[AxisNumber{
        layout == static_cast<int>(Eigen::ColMajor) ? from : rank - 1 - from}]);
  }
  return outer;
}

/// The one at `place`.
template <int layout, class Dimensions,
          int rank = static_cast<int>(Eigen::internal::array_size<Dimensions>::value)>
Index axis_of(const Dimensions& dimensions, int place) {
  return static_cast<Index>(dimensions[AxisNumber{
      layout == static_cast<int>(Eigen::ColMajor) ? place : rank - 1 - place}]);
}

#ifdef EIGEN_USE_THREADS
/// What Eigen's scheduler is told of one row; `bytes` is what it reads and writes together. As in
/// eigen_rope::Device.
inline Eigen::TensorOpCost row_cost(double bytes) {
  return Eigen::TensorOpCost(bytes / 2, bytes / 2, bytes / 16);
}
#endif

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
