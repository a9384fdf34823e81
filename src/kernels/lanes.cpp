// SPDX-License-Identifier: Apache-2.0
//
// Rotations of float and double whose lanes run along neighbouring rows
// (eigen_rope/rows/detail/lanes.hpp), with the vectors of one target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes.cpp"
#include <hwy/foreach_target.h>
//
#include "eigen_rope/rows/detail/lanes.hpp"
#include "kernels/lane_order-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

void rotate_float_lanes(const RowPlan& plan, const LaneBlock<float, float>& block) {
  rotate_lane_block(plan, block);
}
void rotate_double_lanes(const RowPlan& plan, const LaneBlock<double, double>& block) {
  rotate_lane_block(plan, block);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void rotate_lanes_quickly(const RowPlan& plan, const LaneBlock<float, float>& block) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(rotate_float_lanes);
  for_targets[chosen_version()](plan, block);
}

void rotate_lanes_quickly(const RowPlan& plan, const LaneBlock<double, double>& block) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(rotate_double_lanes);
  for_targets[chosen_version()](plan, block);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
