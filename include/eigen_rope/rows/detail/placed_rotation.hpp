// SPDX-License-Identifier: Apache-2.0
//
// The rotation of rows that lie in memory in any order, which expressions and strided views share.
//
//   rotation.rows(first, last)    rows first..last-1 of the walk
//
// Rows whose elements lie next to each other are rotated one by one (walk.hpp), others side by side
// (lanes.hpp) or through memory of their own (crossing.hpp). The callers check everything, share
// rows among threads, and say how to store.
#pragma once

#include "eigen_rope/rows/detail/crossing.hpp"
#include "eigen_rope/rows/detail/lanes.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class XScalar, class TableScalar, class YScalar>
struct PlacedRotation {
  RowPlan plan;
  LaneBlock<XScalar, TableScalar, YScalar> block;  ///< Its walk is of make_walk_for().

  void rows(Index first, Index last) const {
    if (block.features.follow_each_other()) {
      rotate_walk(plan, block.rows, block.x, block.y, block.cos, block.sin, first, last);
    } else {
      rotate_apart_rows(plan, block, first, last);
    }
  }
};

/// In which order rows with such features are visited.
inline Walk make_walk_for(const FeatureSteps& features, int axes, const Index* extents,
                          const Index* x, const Index* y, const Index* table) {
  return features.follow_each_other() ? make_walk(axes, extents, x, y, table)
                                      : make_lane_walk(axes, extents, x, y, table);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
