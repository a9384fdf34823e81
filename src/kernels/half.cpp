// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/half.cpp"
#include <hwy/foreach_target.h>

#include "kernels/crossings-inl.hpp"
#include "kernels/rows-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

void rotate_half(const RowPlan& plan, const RowBlock<Eigen::half, float>& block) {
  rotate_block(plan, block);
}

void cross_half(const RowPlan& plan, const CrossBlock<Eigen::half>& block) {
  cross_block(plan, block);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void rotate_rows(const RowPlan& plan, const RowBlock<Eigen::half, float>& block) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(rotate_half);
  for_targets[chosen_version()](plan, block);
}

void cross_rows(const RowPlan& plan, const CrossBlock<Eigen::half>& block) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(cross_half);
  for_targets[chosen_version()](plan, block);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
