// SPDX-License-Identifier: Apache-2.0
//
// From the gradient of a loss L with respect to the rates to its gradient with respect to the
// parameters they were made from.
//
//   dL/dp        = sum over pairs k of dL/drate_k drate_k/dp + dL/dm dm/dp
//                       p: base, linear scale, ext factor, beta fast, ...
//   dL/dfactor_k = dL/drate_k drate_k/dfactor_k
//
// The derivatives are those of the formulas of the scalings (scaling.hpp), run with numbers that
// carry derivatives: no formula is written down twice. For powers they are
//
//   drate_k/dbase = -2 e_k rate_k / (d base)   drate_k/dlinear_scale = rate_k / linear_scale
//                       drate_k/dfactor_k = -rate_k / factor_k
//
// Kinks: where a pair or an end of YaRN's ramp meets its clamp, the derivative is that of the
// clamped side (0); rounded ends of the ramp (RampEnds::rounded) do not move, so the betas have
// gradient 0; on an edge of Llama 3.1's band it is that of the band's inside. At ext_factor 0,
// where m jumps, m's dependence on it and on the linear scale is left out.
//
// Error of every result: half an ulp + 2^-75 of the sum of the magnitudes of all products the chain
// rule adds up for it (2^-90 but for exact ends and llama3), where derivatives are in double's
// normal range and llama3's band is at least 2^-20 of high_freq_factor wide. Gradients that are not
// finite give results that are not. All are O(pairs), 3 microseconds a pair, allocate, and are safe
// to call from several threads. parameter_gradients.hpp gives dL/drate_k itself.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// dL/drate_k, one per pair, and dL/dm.
struct RateGradients {
  std::vector<double> rates;    ///< One per pair.
  double attention_factor = 0;  ///< With respect to m.
};

/// The gradient with respect to the parameters of powers and scaling, each in the member of the
/// parameter's name.
///
/// Members that are no real numbers (counts, enums, exponents) are copied. powers.factors has one
/// entry per pair, also where Powers has no factors: they count as 1 then. A scaling that brings
/// factors of its own (LongRope) has one entry per pair in each of its lists, 0 in those that the
/// length does not use, and powers.factors is empty. An optional parameter that is absent has no
/// gradient.
template <class OneScaling>
struct ScalingGradients {
  Powers<> powers;     ///< With respect to those of Powers.
  OneScaling scaling;  ///< With respect to those of the scaling.
};

/// Through scaling.rates(powers, length). Kinks: as stated there.
///
/// - Errors:   eigen_rope::Error as scaling.rates(), and if the gradients are not one per pair.
EIGEN_ROPE_API ScalingGradients<Scaling> scaling_gradients(const Powers<>& powers,
                                                           const Scaling& scaling,
                                                           const RateGradients& gradients,
                                                           Index length = 0);

/// The same for one class of scaling.
template <class OneScaling,
          std::enable_if_t<std::is_base_of_v<detail::Parameters<OneScaling>, OneScaling>, int> = 0>
ScalingGradients<OneScaling> scaling_gradients(const Powers<>& powers, const OneScaling& scaling,
                                               const RateGradients& gradients, Index length = 0) {
  ScalingGradients<Scaling> any = scaling_gradients(powers, Scaling(scaling), gradients, length);
  return {std::move(any.powers), std::get<OneScaling>(std::move(any.scaling))};
}

/// Through powers.rates().
///
/// - Errors:   eigen_rope::Error as powers.rates(), and if the gradients are not one per pair.
EIGEN_ROPE_API Powers<> powers_gradients(const Powers<>& powers, const RateGradients& gradients);

}  // namespace eigen_rope
