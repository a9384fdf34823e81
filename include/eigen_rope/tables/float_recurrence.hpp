// SPDX-License-Identifier: Apache-2.0
//
// The table as ggml's CPU operator forms it: angles multiplied up in float.
//
//   theta_0 = float(position)      theta_(e+1) = fl(theta_e * theta_scale)
//                       theta_scale = fl(base^(-2 / exponent_dims))
//   original = fl(theta_e / factor)      scaled = fl(linear_scale * original)
//   theta = fma(scaled, 1 - mix, fl(original * mix))
//                       YaRN; mix is r_k * ext_factor
//
// Only for those who must reproduce its answers bit-near: the error grows with the position, to 0.1
// at a million and to nonsense beyond 2^24, where a float cannot hold the position. Cache is exact,
// and no slower. Source: ggml_compute_forward_rope of ggml 0.21.0.
#pragma once

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope {

/// The table of Frequencies(powers, yarn) and `positions`, in float throughout; parameters and
/// positions are rounded to float first. Equal to ggml's to the accuracy of the C library's float
/// functions.
///
/// - Errors:   eigen_rope::Error as GgmlYarn::rates and Cache do, for RampEnds::exact, which ggml
///             does not have, and for parameters that a float cannot hold or that are 0 as floats.
EIGEN_ROPE_API Cache<float> float_recurrence_cache(const Powers<>& powers, const GgmlYarn<>& yarn,
                                                   const Positions& positions,
                                                   const Layout& layout = Layout::bsnd());

}  // namespace eigen_rope
