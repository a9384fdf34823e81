// SPDX-License-Identifier: Apache-2.0
//
// What gradients and tangents need of rows, with the vectors of one target: sums of pairs' products
// (pair_sums-inl.hpp), the same beside dx (sums_and_rows-inl.hpp), two rotations and their sum
// (jvp_rows-inl.hpp), and the sum of two rows (add_rows-inl.hpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gradient_rows.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>

#include "kernels/add_rows-inl.hpp"
#include "kernels/jvp_rows-inl.hpp"
#include "kernels/sums_and_rows-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

void add_float(const Runs& runs, const PairRows<float, float>& rows, PairSums<float>& sums) {
  add_all(runs, rows, sums);
}
void add_double(const Runs& runs, const PairRows<double, double>& rows, PairSums<double>& sums) {
  add_all(runs, rows, sums);
}
void add_half(const Runs& runs, const PairRows<Eigen::half, Eigen::half>& rows,
              PairSums<float>& sums) {
  add_all(runs, rows, sums);
}
void add_bfloat16(const Runs& runs, const PairRows<Eigen::bfloat16, Eigen::bfloat16>& rows,
                  PairSums<float>& sums) {
  add_all(runs, rows, sums);
}

bool add_and_rotate_float(const RowPlan& plan, const Runs& runs, const RotatedPairRows<float>& rows,
                          PairSums<float>& sums) {
  return add_and_rotate_all(plan, runs, rows, sums);
}
bool add_and_rotate_half(const RowPlan& plan, const Runs& runs,
                         const RotatedPairRows<Eigen::half>& rows, PairSums<float>& sums) {
  return add_and_rotate_all(plan, runs, rows, sums);
}
bool add_and_rotate_bfloat16(const RowPlan& plan, const Runs& runs,
                             const RotatedPairRows<Eigen::bfloat16>& rows, PairSums<float>& sums) {
  return add_and_rotate_all(plan, runs, rows, sums);
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

void add_pairs(const Runs& runs, const PairRows<float, float>& rows, PairSums<float>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_float);
  for_targets[chosen_version()](runs, rows, sums);
}

void add_pairs(const Runs& runs, const PairRows<double, double>& rows, PairSums<double>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_double);
  for_targets[chosen_version()](runs, rows, sums);
}

void add_pairs(const Runs& runs, const PairRows<Eigen::half, Eigen::half>& rows,
               PairSums<float>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_half);
  for_targets[chosen_version()](runs, rows, sums);
}

void add_pairs(const Runs& runs, const PairRows<Eigen::bfloat16, Eigen::bfloat16>& rows,
               PairSums<float>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_bfloat16);
  for_targets[chosen_version()](runs, rows, sums);
}

bool add_and_rotate(const RowPlan& plan, const Runs& runs, const RotatedPairRows<float>& rows,
                    PairSums<float>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_and_rotate_float);
  return for_targets[chosen_version()](plan, runs, rows, sums);
}

bool add_and_rotate(const RowPlan& plan, const Runs& runs, const RotatedPairRows<Eigen::half>& rows,
                    PairSums<float>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_and_rotate_half);
  return for_targets[chosen_version()](plan, runs, rows, sums);
}

bool add_and_rotate(const RowPlan& plan, const Runs& runs,
                    const RotatedPairRows<Eigen::bfloat16>& rows, PairSums<float>& sums) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_and_rotate_bfloat16);
  return for_targets[chosen_version()](plan, runs, rows, sums);
}

void flush_streamed_rows() { hwy::FlushStream(); }

bool add_rotations(const RowPlan& plan, const JvpRows& rows) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_rotations_float);
  return for_targets[chosen_version()](plan, rows);
}

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
