// SPDX-License-Identifier: Apache-2.0
//
// Rows whose features do not lie next to each other, with the vectors of one target: rotations of
// float and double whose lanes run along neighbouring rows (eigen_rope/rows/detail/lanes.hpp), and
// copies between two orders (move_rows-inl.hpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes.cpp"
#include <hwy/foreach_target.h>
//
#include "eigen_rope/rows/detail/lanes.hpp"
#include "kernels/lane_order-inl.hpp"
#include "kernels/move_rows-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

void rotate_float_lanes(const RowPlan& plan, const LaneBlock<float, float>& block) {
  rotate_lane_block(plan, block);
}
void rotate_double_lanes(const RowPlan& plan, const LaneBlock<double, double>& block) {
  rotate_lane_block(plan, block);
}

void move_rows_16(const std::uint16_t* from, RowGrid from_grid, std::uint16_t* to, RowGrid to_grid,
                  Index rows, Index elements, Stores stores) {
  move_any_rows(from, from_grid, to, to_grid, rows, elements, stores);
}
void move_rows_32(const std::uint32_t* from, RowGrid from_grid, std::uint32_t* to, RowGrid to_grid,
                  Index rows, Index elements, Stores stores) {
  move_any_rows(from, from_grid, to, to_grid, rows, elements, stores);
}
void move_rows_64(const std::uint64_t* from, RowGrid from_grid, std::uint64_t* to, RowGrid to_grid,
                  Index rows, Index elements, Stores stores) {
  move_any_rows(from, from_grid, to, to_grid, rows, elements, stores);
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

void move_rows(const std::uint16_t* from, RowGrid from_grid, std::uint16_t* to, RowGrid to_grid,
               Index rows, Index elements, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(move_rows_16);
  for_targets[chosen_version()](from, from_grid, to, to_grid, rows, elements, stores);
}

void move_rows(const std::uint32_t* from, RowGrid from_grid, std::uint32_t* to, RowGrid to_grid,
               Index rows, Index elements, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(move_rows_32);
  for_targets[chosen_version()](from, from_grid, to, to_grid, rows, elements, stores);
}

void move_rows(const std::uint64_t* from, RowGrid from_grid, std::uint64_t* to, RowGrid to_grid,
               Index rows, Index elements, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(move_rows_64);
  for_targets[chosen_version()](from, from_grid, to, to_grid, rows, elements, stores);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
