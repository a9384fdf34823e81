// SPDX-License-Identifier: Apache-2.0
//
// The sum of two rows (eigen_rope/kernels/detail/add_rows.hpp).
//
// Sums go past the cache in whole lines of y alone, since one that is written partly costs hundreds
// of nanoseconds: what lies before the first line and behind the last goes through the cache.
// Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_ADD_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_ADD_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_ADD_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_ADD_ROWS_INL_HPP
#endif

#include <algorithm>
#include <cstdint>

#include "eigen_rope/kernels/detail/add_rows.hpp"
#include "kernels/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void add_through_cache(const T* a, const T* b, T* y, Index count) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr auto width = static_cast<Index>(hn::MaxLanes(d));
  for (; i + width <= count; i += width)
    hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
#endif
  for (; i < count; ++i) y[i] = a[i] + b[i];
}

template <class T>
void add_past_cache(const T* a, const T* b, T* y, Index count) {
#if HWY_TARGET == HWY_SCALAR
  add_through_cache(a, b, y, count);
#else
  constexpr auto of_line = static_cast<Index>(64 / sizeof(T));
  const hn::ScalableTag<T> d;
  constexpr auto width = static_cast<Index>(hn::MaxLanes(d));
  static_assert(of_line % width == 0);
  const auto into_line =
      static_cast<Index>(reinterpret_cast<std::uintptr_t>(y) / sizeof(T)) % of_line;
  const Index begin = std::min(count, (of_line - into_line) % of_line);
  const Index end = begin + (count - begin) / of_line * of_line;
  add_through_cache(a, b, y, begin);
  for (Index i = begin; i < end; i += width)
    hn::Stream(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  add_through_cache(a + end, b + end, y + end, count - end);
#endif
}

template <class T>
void add_any(const T* a, const T* b, T* y, Index count, Stores stores) {
  if (stores == Stores::streaming) {
    add_past_cache(a, b, y, count);
  } else {
    add_through_cache(a, b, y, count);
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
