// SPDX-License-Identifier: Apache-2.0
//
// Rows somewhere in memory: q inside a fused QKV buffer, a permuted tensor, every other token.
//
// Element (d, i_1, i_2, ...) lies at data[d + i_1 * strides[0] + i_2 * strides[1] + ...], strides
// in elements; the feature axis is always dense. Eigen has no raw pointer for such a piece of a
// tensor (its slice is an expression), so rotate_strided.hpp takes this. Not an owner, and not a
// general view: the feature axis has no stride of its own.
#pragma once

#include <vector>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope {

/// `shape` counts from the feature axis outwards; `strides` has one entry for each axis outside it,
/// of any sign.
template <class Scalar>
struct StridedView {
  Scalar* data = nullptr;        ///< Element (0, 0, ...).
  Shape shape{};                 ///< Feature axis first.
  std::vector<Index> strides{};  ///< In elements, any sign.
};

namespace detail {

/// Whether rows of a view may share elements: they may be read so, never written.
enum class SharedElements { refused, allowed };

/// The strides of a view, checked: one for each outer axis, the whole span within 60 bits.
///
/// - Errors:   eigen_rope::Error.
EIGEN_ROPE_API Strides checked_strides(const Shape& shape, const std::vector<Index>& strides,
                                       SharedElements shared = SharedElements::refused);

/// First and last element a view touches, relative to its data. The shape must not be empty.
struct Span {
  Index first;
  Index last;
};
EIGEN_ROPE_API Span span_of(const Shape& shape, const Strides& strides);

/// Throws eigen_rope::Error for a span that leads out of the address space.
[[noreturn]] EIGEN_ROPE_API void fail_beyond_memory(const Span& span);

}  // namespace detail
}  // namespace eigen_rope
