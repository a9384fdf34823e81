// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/detail/placed_rotation.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template void rotate_placed_rows(const PlacedRotation<float, float, float>&, Index, Index);
template void rotate_placed_rows(const PlacedRotation<double, double, double>&, Index, Index);
template void rotate_placed_rows(const PlacedRotation<Eigen::half, float, Eigen::half>&, Index,
                                 Index);
template void rotate_placed_rows(const PlacedRotation<Eigen::half, Eigen::half, Eigen::half>&,
                                 Index, Index);
template void rotate_placed_rows(const PlacedRotation<Eigen::bfloat16, float, Eigen::bfloat16>&,
                                 Index, Index);
template void rotate_placed_rows(
    const PlacedRotation<Eigen::bfloat16, Eigen::bfloat16, Eigen::bfloat16>&, Index, Index);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
