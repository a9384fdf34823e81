// SPDX-License-Identifier: Apache-2.0
//
// The stretch of memory a strided view touches, and whether two stretches meet.
//
// A view's rows may lie apart: memory between them counts as touched. Views must have checked strides (checked_strides).
#pragma once

#include <cstddef>

#include "rope/detail/overlap.hpp"
#include "rope/strided_view.hpp"

namespace rope::detail {

struct Stretch {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};

/// Nothing for an empty view.
template <class Scalar>
Stretch stretch_of(const StridedView<Scalar>& view, const Strides& strides) {
  if (view.shape.size() == 0) return {};
  const Span span = span_of(view.shape, strides);
  return {view.data + span.first, static_cast<std::size_t>(span.last - span.first + 1) * sizeof(Scalar)};
}

template <class Scalar>
Stretch stretch_of(const Scalar* array, Index size) {
  return {array, static_cast<std::size_t>(size) * sizeof(Scalar)};
}

inline bool overlap(const Stretch& a, const Stretch& b) { return overlap(a.begin, a.bytes, b.begin, b.bytes); }

/// Whether both views are of the same rows: the same elements in the same order.
template <class A, class B>
bool same_rows(const StridedView<A>& a, const StridedView<B>& b) {
  return static_cast<const void*>(a.data) == static_cast<const void*>(b.data) && sizeof(A) == sizeof(B) && a.strides == b.strides;
}

}  // namespace rope::detail
