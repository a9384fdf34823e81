// SPDX-License-Identifier: Apache-2.0
//
// Rotating rows whose elements lie next to each other in one of x and y, while neighbouring rows
// lie next to each other in the other: from one order of axes into another in one step.
//
//   features.x == 1 and inner.y == 1, or inner.x == 1 and features.y == 1
//
// float, double, half and bfloat16 go to kernels compiled once in the library. The bits are those
// of rows.hpp.
#pragma once

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/lanes.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Two levels of rows, as in RowBlock; the entries of a row lie next to each other.
template <class T>
struct CrossBlock {
  const T* x;
  T* y;
  const Widened<T>* cos;
  const Widened<T>* sin;
  FeatureSteps features;
  RowSteps inner;
  RowSteps outer;
  Stores stores = Stores::cached;
};

// Compiled once, with the instructions of the machine it runs on.
EIGEN_ROPE_API void cross_rows(const RowPlan& plan, const CrossBlock<float>& block);
EIGEN_ROPE_API void cross_rows(const RowPlan& plan, const CrossBlock<double>& block);
EIGEN_ROPE_API void cross_rows(const RowPlan& plan, const CrossBlock<Eigen::half>& block);
EIGEN_ROPE_API void cross_rows(const RowPlan& plan, const CrossBlock<Eigen::bfloat16>& block);

/// In plain C++.
template <class T>
void cross_rows_plainly(const RowPlan& plan, const CrossBlock<T>& block) {
  Walk rows{{}, 2, block.inner.count * block.outer.count, Stores::cached};
  rows.levels[0] = block.inner;
  rows.levels[1] = block.outer;
  rotate_lanes_plainly(
      plan, LaneBlock<T, Widened<T>>{block.x, block.y, block.cos, block.sin, block.features, rows});
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
