// SPDX-License-Identifier: Apache-2.0
//
// Rows that lie anywhere in memory: q inside a fused QKV buffer, a permuted tensor, every other
// token.
//
// Element (d, i_1, i_2, ...) lies at
//
//   data[d * feature_stride + i_1 * strides[0] + i_2 * strides[1] + ...]
//
// with strides in elements. Eigen offers no raw pointer for such a piece of a tensor, since its
// slice is an expression, so the functions of rotate_strided.hpp take this view. It does not own
// its memory.
#pragma once

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/numbers/strides.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope {

/// A view of rows that lie at regular distances in memory, which it does not own.
///
///     element (d, i_1, ...) = data[d * feature_stride + i_1 * strides[0] + ...]
///
/// Axis 0 holds the features, unless Pairing::along() names another axis of the view.
///
/// \code{.cpp}
/// // The keys of a fused buffer [D, heads of q, k and v, tokens]:
/// std::vector<float> qkv(D * 3 * heads * tokens);
/// er::StridedView<float> rows;
/// rows.data = qkv.data() + heads * D;
/// rows.shape = er::Shape{D, heads, tokens};
/// rows.strides = {D, 3 * heads * D};
/// er::rotate_inplace(rows, cache, er::split_half);
/// \endcode
///
/// \tparam Scalar  the elements' type; `const` for rows that are only read
///
/// \see strided_view(), \ref cookbook "Cookbook"
template <class Scalar>
struct StridedView {
  Scalar* data = nullptr;  ///< The address of element (0, 0, ...).
  Shape shape{};           ///< The extents, the feature axis first.
  /// The distance of neighbours along each axis but axis 0, in elements; of any sign.
  Strides strides{};
  /// The distance of neighbours along axis 0, in elements; of any sign, but not 0.
  Index feature_stride = 1;
};

namespace detail {

/// Whether rows of a view may share elements. Rows that are only read may, rows that are written
/// may not.
enum class SharedElements { refused, allowed };

/// Checks that there is one stride for each outer axis, and that the whole span is within 60 bits.
/// Those of an empty view lead nowhere, and may be anything.
///
/// - Errors:   eigen_rope::Error.
EIGEN_ROPE_API void check_strides(const Shape& shape, const Strides& strides,
                                  SharedElements shared = SharedElements::refused,
                                  Index feature_stride = 1);

template <class Scalar>
void check_strides(const StridedView<Scalar>& view,
                   SharedElements shared = SharedElements::refused) {
  check_strides(view.shape, view.strides, shared, view.feature_stride);
}

/// First and last element a view touches, relative to its data. The shape must not be empty.
struct Span {
  Index first;
  Index last;
};
EIGEN_ROPE_API Span span_of(const Shape& shape, const Strides& strides, Index feature_stride = 1);

/// Throws eigen_rope::Error for a span that leads out of the address space.
[[noreturn]] EIGEN_ROPE_API void fail_beyond_memory(const Span& span);

}  // namespace detail
}  // namespace eigen_rope
