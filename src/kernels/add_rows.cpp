// SPDX-License-Identifier: Apache-2.0
//
// The sum of two rows (eigen_rope/kernels/detail/add_rows.hpp) with the vectors of one target.
//
// Past the cache go whole lines of y alone, since one that is written partly costs hundreds of
// nanoseconds: what lies before the first line and behind the last goes through the cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/add_rows.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "eigen_rope/kernels/detail/add_rows.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;
#endif

template <class T>
void add_through_cache(const T* a, const T* b, T* y, Index count) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
#endif
  for (; i < count; ++i) y[i] = a[i] + b[i];
}

template <class T>
void add_past_cache(const T* a, const T* b, T* y, Index count) {
#if HWY_TARGET == HWY_SCALAR
  add_through_cache(a, b, y, count);
#else
  constexpr auto line = static_cast<Index>(64 / sizeof(T));
  const hn::ScalableTag<T> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  static_assert(line % lanes == 0);
  const auto into_line = static_cast<Index>(reinterpret_cast<std::uintptr_t>(y) / sizeof(T)) % line;
  const Index begin = std::min(count, (line - into_line) % line);
  const Index end = begin + (count - begin) / line * line;
  add_through_cache(a, b, y, begin);
  for (Index i = begin; i < end; i += lanes)
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

void add_rows_float(const float* a, const float* b, float* y, Index count, Stores stores) {
  add_any(a, b, y, count, stores);
}
void add_rows_double(const double* a, const double* b, double* y, Index count, Stores stores) {
  add_any(a, b, y, count, stores);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void add_rows(const float* a, const float* b, float* y, Index count, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_rows_float);
  for_targets[chosen_version()](a, b, y, count, stores);
}

void add_rows(const double* a, const double* b, double* y, Index count, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_rows_double);
  for_targets[chosen_version()](a, b, y, count, stores);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
