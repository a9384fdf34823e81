// SPDX-License-Identifier: Apache-2.0
//
// Recordings of ggml's operator, compared with eigen_rope::ggml.
//
//   exact             nmse <= 1e-12 (f16 1e-9, bf16 6.4e-8) + 1.5 nmse_vs_double; f16 and bf16 also
//                     equal the double-precision result
//                     rounded once, but for 1 of 1000 elements of the group
//   float-recurrence  f32 nmse <= 1e-12 at every position; f16 and bf16 equal the recording but for
//                     1 of 1000 elements of the group, and
//                     those by at most one unit in the last place, or 2^-22 of the largest output
//       where that is more
//
// Of every group at least one element may differ: a cosine one unit off in float can move any
// element across a midpoint. nmse is over the rotated elements; all others must be the input's, bit
// for bit. nmse_vs_double is the recorder's own distance from the exact result; half as much again
// is for two errors adding up. A recording without it is taken to be exact: f32 nmse <= (8 *
// 2^-24)^2.
#pragma once

#include "tool/verify/golden_files.hpp"
#include "tool/verify/report.hpp"

namespace eigen_rope::tool {

/// Which of ggml::Precision's policies run.
enum class PrecisionChoice { exact, float_recurrence, both };

bool is_ggml(const GoldenIndex& index);
/// Adds every case; throws FileError for an index or data that cannot be used.
void verify_ggml(Report& report, const GoldenIndex& index, PrecisionChoice precision);

}  // namespace eigen_rope::tool
