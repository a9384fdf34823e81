// SPDX-License-Identifier: Apache-2.0
//
// Rotations of half and bfloat16 whose lanes run along neighbouring rows
// (eigen_rope/rows/detail/lanes.hpp), and tables of both as floats, with the vectors of one target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes_16_bit.cpp"
#include <hwy/foreach_target.h>
//
#include "eigen_rope/rows/detail/lanes.hpp"
#include "kernels/lane_order-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

void rotate_half_lanes(const RowPlan& plan, const LaneBlock<Eigen::half, float>& block) {
  rotate_lane_block(plan, block);
}
void rotate_bfloat16_lanes(const RowPlan& plan, const LaneBlock<Eigen::bfloat16, float>& block) {
  rotate_lane_block(plan, block);
}

void widen_half(const Eigen::half* from, float* to, Index count) { widen_any(from, to, count); }
void widen_bfloat16(const Eigen::bfloat16* from, float* to, Index count) {
  widen_any(from, to, count);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void rotate_lanes_quickly(const RowPlan& plan, const LaneBlock<Eigen::half, float>& block) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(rotate_half_lanes);
  for_targets[chosen_version()](plan, block);
}

void rotate_lanes_quickly(const RowPlan& plan, const LaneBlock<Eigen::bfloat16, float>& block) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(rotate_bfloat16_lanes);
  for_targets[chosen_version()](plan, block);
}

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
