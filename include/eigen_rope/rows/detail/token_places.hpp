// SPDX-License-Identifier: Apache-2.0
//
// Where tokens lie whose places are listed: rows of a table by position id, slots of a paged cache.
//
// The axes of a view behind its features and heads count tokens, or slots, the fastest one first,
// and a number along all of them leads to an offset in elements.
#pragma once

#include <array>
#include <cstddef>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/numbers/strides.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/index_list.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// How many axes of a view of tokens do not count them: features and heads.
inline constexpr int axes_of_token = 2;

/// The number of tokens of a view.
///
/// - Errors:   eigen_rope::Error if it has no axis that counts them, or if they cannot be counted.
EIGEN_ROPE_API Index tokens_of(const Shape& shape);

/// The axes that count tokens, merged where they advance evenly.
class TokenAxes {
 public:
  /// Of a view that is not empty, with checked strides.
  TokenAxes(const Shape& shape, const Strides& strides) {
    for (int axis = axes_of_token; axis < shape.rank(); ++axis) {
      const Index stride = strides[static_cast<std::size_t>(axis - 1)];
      if (shape[axis] == 1) continue;
      if (count_ > 0) {
        Axis& previous = axes_[count_ - 1];
        if (stride == previous.stride * previous.extent) {
          previous.extent *= shape[axis];
          continue;
        }
      }
      axes_[count_++] = {shape[axis], stride};
    }
  }

  /// Where a token lies, in elements from the first.
  Index place(Index token) const {
    if (count_ == 1) return token * axes_[0].stride;
    Index place = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      place += token % axes_[i].extent * axes_[i].stride;
      token /= axes_[i].extent;
    }
    return place;
  }

 private:
  struct Axis {
    Index extent;
    Index stride;
  };
  std::array<Axis, max_rank> axes_;
  std::size_t count_ = 0;
};

/// Throws eigen_rope::Error unless there is one slot for each token, each of them -1 or a number
/// below `slots_there` that no other token has.
EIGEN_ROPE_API void check_slots(const IndexList& slots, Index tokens, Index slots_there);

/// Throws eigen_rope::Error unless there is one number for each token, each below `rows`; or none,
/// and as many rows as tokens, or one row.
EIGEN_ROPE_API void check_table_rows(const IndexList& ids, Index tokens, Index rows);

/// The bytes that a view touches, and the axes along which it does so.
struct Footprint {
  struct Axis {
    std::size_t bytes;  ///< The distance of neighbours.
    Index extent;       ///< More than 1.
  };
  Stretch stretch;
  std::array<Axis, max_rank> axes;
  std::size_t count = 0;

  /// The first elements follow each other, or lie `feature_stride` apart.
  Footprint(const Stretch& touched, const Shape& shape, const Strides& strides,
            Index feature_stride, std::size_t element);
};

template <class Scalar>
Footprint footprint_of(const StridedView<Scalar>& view) {
  return {stretch_of(view), view.shape, view.strides, view.feature_stride, sizeof(Scalar)};
}

/// Whether two views may share a byte. It finds views apart that lie side by side within the same
/// stride, as q and k do in the rows of a fused buffer.
EIGEN_ROPE_API bool may_share(const Footprint& a, const Footprint& b);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
