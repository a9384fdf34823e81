// SPDX-License-Identifier: Apache-2.0
//
// The rotation of rows that lie in memory in any order, which expressions and strided views share.
//
//   rotation.rows(first, last)    rows first..last-1 of the walk
//
// Rows whose elements lie next to each other are rotated one by one (walk.hpp), others side by side
// (lanes.hpp) or through memory of their own (crossing.hpp). The callers check everything, share
// rows among threads, and say how to store. For the scalars that have kernels the library has
// rotate_placed_rows() compiled.
#pragma once

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/crossing.hpp"
#include "eigen_rope/rows/detail/lanes.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class XScalar, class TableScalar, class YScalar>
struct PlacedRotation;

template <class XScalar, class TableScalar, class YScalar>
void rotate_placed_rows(const PlacedRotation<XScalar, TableScalar, YScalar>& rotation, Index first,
                        Index last);

template <class XScalar, class TableScalar, class YScalar>
struct PlacedRotation {
  RowPlan plan;
  LaneBlock<XScalar, TableScalar, YScalar> block;  ///< With the walk that fill_walk_of() writes.

  void rows(Index first, Index last) const { rotate_placed_rows(*this, first, last); }
};

template <class XScalar, class TableScalar, class YScalar>
void rotate_placed_rows(const PlacedRotation<XScalar, TableScalar, YScalar>& rotation, Index first,
                        Index last) {
  const auto& [plan, block] = rotation;
  if (block.features.follow_each_other()) {
    rotate_walk(plan, block.rows, block.x, block.y, block.cos, block.sin, first, last);
  } else {
    rotate_apart_rows(plan, block, first, last);
  }
}

extern template EIGEN_ROPE_API void rotate_placed_rows(const PlacedRotation<float, float, float>&,
                                                       Index, Index);
extern template EIGEN_ROPE_API void rotate_placed_rows(
    const PlacedRotation<double, double, double>&, Index, Index);
extern template EIGEN_ROPE_API void rotate_placed_rows(
    const PlacedRotation<Eigen::half, float, Eigen::half>&, Index, Index);
extern template EIGEN_ROPE_API void rotate_placed_rows(
    const PlacedRotation<Eigen::half, Eigen::half, Eigen::half>&, Index, Index);
extern template EIGEN_ROPE_API void rotate_placed_rows(
    const PlacedRotation<Eigen::bfloat16, float, Eigen::bfloat16>&, Index, Index);
extern template EIGEN_ROPE_API void rotate_placed_rows(
    const PlacedRotation<Eigen::bfloat16, Eigen::bfloat16, Eigen::bfloat16>&, Index, Index);

/// Writes the walk of a block, whose features say in which order its rows are visited.
template <class Block>
void fill_walk_of(Block& block, int axes, const Index* extents, const Index* x, const Index* y,
                  const Index* table) {
  const auto fill = block.features.follow_each_other() ? &fill_walk : &fill_lane_walk;
  fill(block.rows, axes, extents, x, y, table);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
