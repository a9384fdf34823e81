// SPDX-License-Identifier: Apache-2.0
//
// The stretch of memory a strided view touches, and whether two stretches meet.
//
// A view's rows may lie apart: memory between them counts as touched. Stretches are addresses, not
// pointers: a view whose strides lead out of the address space is refused here, and must not have
// been formed as a pointer before. Views must have checked strides (check_strides).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "eigen_rope/rows/detail/overlap.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

struct Stretch {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

/// Of elements of `size` bytes. Throws eigen_rope::Error if the first or the last of them lies
/// outside the address space, or if they are further apart than anything in memory can be.
inline Stretch stretch_of(const void* data, std::size_t size, const Span& span) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto before = static_cast<std::uintptr_t>(-span.first);
  const auto behind = static_cast<std::uintptr_t>(span.last) + 1;
  constexpr std::uintptr_t last_address = (std::numeric_limits<std::uintptr_t>::max)();
  constexpr std::uintptr_t longest =
      static_cast<std::uintptr_t>((std::numeric_limits<std::ptrdiff_t>::max)());
  if (before > address / size || behind > (last_address - address) / size ||
      before + behind > longest / size)
    fail_beyond_memory(span);
  return {address - before * size, static_cast<std::size_t>((before + behind) * size)};
}

/// Nothing for an empty view.
template <class Scalar>
Stretch stretch_of(const StridedView<Scalar>& view) {
  if (view.shape.size() == 0) return {};
  return stretch_of(view.data, sizeof(Scalar),
                    span_of(view.shape, view.strides, view.feature_stride));
}

template <class Scalar>
Stretch stretch_of(const Scalar* array, Index size) {
  if (size == 0) return {};
  return stretch_of(array, sizeof(Scalar), Span{0, size - 1});
}

inline bool overlap(const Stretch& a, const Stretch& b) {
  return overlap(a.begin, a.bytes, b.begin, b.bytes);
}

/// Whether one view is given twice, so that there is nothing to compare.
template <class A, class B>
bool is_one_view(const StridedView<A>& a, const StridedView<B>& b) {
  return static_cast<const void*>(&a) == static_cast<const void*>(&b);
}

template <class A, class B>
bool same_strides(const StridedView<A>& a, const StridedView<B>& b) {
  return a.strides == b.strides && a.feature_stride == b.feature_stride;
}

/// Whether both views are of the same rows: the same elements in the same order.
template <class A, class B>
bool same_rows(const StridedView<A>& a, const StridedView<B>& b) {
  return static_cast<const void*>(a.data) == static_cast<const void*>(b.data) &&
         sizeof(A) == sizeof(B) && same_strides(a, b);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
