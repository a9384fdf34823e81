// SPDX-License-Identifier: Apache-2.0
//
// The table as ggml's CPU operator forms it: each angle is the previous one times theta_scale, in
// float. With fl() for a rounding to float:
//
//   theta_scale = fl(base^(-2 / exponent_dims))
//   theta_0     = fl(position)
//   theta_(e+1) = fl(theta_e * theta_scale)
//   original    = fl(theta_e / factor)
//   scaled      = fl(linear_scale * original)
//   angle       = scaled, or with YaRN  fma(scaled, 1 - mix, fl(original * mix)),
//                 where mix = r_k * ext_factor and r_k is YaRN's ramp
//
// The error of this method grows with the position: it reaches 0.1 at position one million, and
// beyond 2^24, where a float cannot hold the position, the entries are meaningless. Cache has no
// such error and is no slower, so this table is only for programs that must come close to ggml's
// own answers. Source: ggml_compute_forward_rope of ggml 0.21.0.
#pragma once

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Makes the table that ggml would make: that of Frequencies(powers, yarn) at `positions`, in float
/// arithmetic throughout.
///
/// Parameters and positions are rounded to float first. The result equals ggml's to the accuracy of
/// the C library's float functions.
///
/// \code{.cpp}
/// er::GgmlYarn<> no_yarn;
/// no_yarn.ext_factor = 0;
/// const auto table = er::float_recurrence_cache({D, 10000.0}, no_yarn, positions);
/// er::rotate_inplace(q, table, er::split_half);
/// \endcode
///
/// \param powers     base, dims, linear scale, factors and attention factor
/// \param yarn       ggml's YaRN; with ext_factor 0 it is off
/// \param positions  where each token stands
/// \param layout     what the axes of x outside the feature axis count, as for Cache
///
/// - Errors:   eigen_rope::Error where Powers::rates, GgmlYarn::rates or Cache throws it; for
///             RampEnds::exact while YaRN is on, because ggml rounds the ends; for exponents
///             outside 0 to pairs - 1; for parameters that are infinite as floats; and for a base,
///             linear scale or factor that is 0 as a float.
/// - Cost:     O(batches * tokens * pairs).
///
/// \see ggml::Precision, \ref accuracy "Accuracy", \ref operators "Operators"
EIGEN_ROPE_API Cache<float> float_recurrence_cache(const Powers<>& powers, const GgmlYarn<>& yarn,
                                                   const Positions& positions,
                                                   const Layout& layout = Layout::bsnd());

}  // namespace eigen_rope::EIGEN_ROPE_ABI
