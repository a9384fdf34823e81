// SPDX-License-Identifier: Apache-2.0
//
// Recordings of ONNX's RotaryEmbedding and the contrib operators, compared with eigen_rope::onnx.
//
//   magnitude      |x1*cos| + |x2*sin|
//   float32        |mine - stored| <= 2 * 2^-23 * magnitude + 2^-149: mine and the recording may
//                  each be 2^-23 off. Where the index does
//                  not say how far the recording is from the exact result (max_abs_err_vs_f64),
//       2e-7 absolute if that is more: such
//                  outputs are float arithmetic of numpy
//   16-bit types   equal but for 1 of 5000 elements of the group (at least one may differ), and
//                  those by at most one unit in the last
//                  place, or 2^-22 * magnitude where the terms cancel
//
// Two NaN are equal, infinities have their sign; where the exact result is beyond the largest
// finite number or beside it, rounding decides. A cache wider than rotary/2 is sliced unless
// `origin` names a text later than ONNX 1.19.0: only under the older text is there an answer.
#pragma once

#include "tool/verify/golden_files.hpp"
#include "tool/verify/report.hpp"

namespace eigen_rope::tool {

bool is_onnx(const GoldenIndex& index);
/// Adds every case; throws FileError for an index or data that cannot be used.
void verify_onnx(Report& report, const GoldenIndex& index);

}  // namespace eigen_rope::tool
