// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a dense tensor into a dense tensor of its shape, whichever axis holds the
// features.
//
//   rotation.rows(first, last)    rows first..last-1, of as many as the tensor has
//
// make_dense_rotation() stores past the caches where x and y together are too large for them.
#pragma once

#include <array>

#include "eigen_rope/rotation/detail/node.hpp"
#include "eigen_rope/rows/detail/placed_rotation.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The rows of a dense tensor.
template <int rank>
struct DenseRows {
  OuterAxes<rank> extents;  ///< Outside the feature axis, fastest first.
  OuterAxes<rank> strides;
  Index step;  ///< The distance of neighbours in a row.
};

template <int layout, class Dimensions,
          int rank = static_cast<int>(Eigen::internal::array_size<Dimensions>::value)>
DenseRows<rank> dense_rows(const Dimensions& dimensions, int place) {
  DenseRows<rank> rows{outer_axes_of<layout>(dimensions, place), {}, 1};
  std::array<Index, static_cast<std::size_t>(rank)> strides{};  // of all axes
  auto stride = std::size_t{1};  // unsigned: where an extent is 0 others may be anything
  for (int axis = 0; axis < rank; ++axis) {
    strides[static_cast<std::size_t>(axis)] = static_cast<Index>(stride);
    stride *= static_cast<std::size_t>(axis_of<layout>(dimensions, axis));
  }
  const auto features = static_cast<std::size_t>(place);
  rows.step = strides[features];
  for (std::size_t outer = 0; outer + 1 < strides.size(); ++outer)
    rows.strides[outer] = strides[outer < features ? outer : outer + 1];
  return rows;
}

/// Read and written for each row.
template <class XScalar, class YScalar>
double bytes_of_row(Index row_length) {
  return static_cast<double>(row_length) * (sizeof(XScalar) + sizeof(YScalar));
}

template <int layout, class XScalar, class TableScalar, class YScalar, class Dimensions, int rank>
PlacedRotation<XScalar, TableScalar, YScalar> make_dense_rotation(
    const NodeParameters<TableScalar, rank>& parameters, const Dimensions& dimensions,
    const XScalar* x, YScalar* y) {
  const DenseRows<rank> rows = dense_rows<layout>(dimensions, parameters.place);
  const Index* extents = rows.extents.data();
  const Index* strides = rows.strides.data();
  const Index* of_table = parameters.table_strides.data();
  PlacedRotation<XScalar, TableScalar, YScalar> rotation;
  rotation.plan = parameters.plan;
  auto& block = rotation.block;
  block.x = x;
  block.y = y;
  block.cos = parameters.cos;
  block.sin = parameters.sin;
  block.features = {rows.step, rows.step, parameters.entry_step};
  fill_walk_of(block, rank - 1, extents, strides, strides, of_table);
  const double bytes = static_cast<double>(block.rows.rows) *
                       bytes_of_row<XScalar, YScalar>(parameters.plan.row_length);
  block.rows.stores = stores_for(x, y, bytes);
  return rotation;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
