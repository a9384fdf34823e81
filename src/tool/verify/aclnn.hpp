// SPDX-License-Identifier: Apache-2.0
//
// Recordings of Ascend's RotaryPositionEmbedding and its gradient, compared with eigen_rope::aclnn.
//
//   magnitude   |xhat*cos| + |xrot*sin| of y, the same of dx, and the sum of the terms' magnitudes
//               of dcos and dsin
//   f32         |mine - stored| <= 2^-22 * magnitude + 2^-149
//   f16, bf16   the stored double rounded once, but for 1 of 1000 elements of the group (at least
//               one may differ), and those by at most one
//               unit in the last place, or 2^-22 * magnitude where the terms cancel
//
// Stored outputs narrower than double are allowed their own rounding on top. Outputs that were not
// recorded are not compared.
#pragma once

#include "tool/verify/golden_files.hpp"
#include "tool/verify/report.hpp"

namespace eigen_rope::tool {

bool is_aclnn(const GoldenIndex& index);
/// Adds every case; throws FileError for an index or data that cannot be used.
void verify_aclnn(Report& report, const GoldenIndex& index);

}  // namespace eigen_rope::tool
