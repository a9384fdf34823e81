// SPDX-License-Identifier: Apache-2.0
//
// 16-bit tables as floats, exactly.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/widen.cpp"
#include <hwy/foreach_target.h>

#include "kernels/values-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

template <class T>
void widen_any(const T* from, float* to, Index count) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  for (; i + lanes <= count; i += lanes) hn::StoreU(load(d, from + i), d, to + i);
#endif
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void widen_half(const Eigen::half* from, float* to, Index count) { widen_any(from, to, count); }
void widen_bfloat16(const Eigen::bfloat16* from, float* to, Index count) {
  widen_any(from, to, count);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void widen(const Eigen::half* from, float* to, Index count) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(widen_half);
  for_targets[chosen_version()](from, to, count);
}

void widen(const Eigen::bfloat16* from, float* to, Index count) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(widen_bfloat16);
  for_targets[chosen_version()](from, to, count);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
