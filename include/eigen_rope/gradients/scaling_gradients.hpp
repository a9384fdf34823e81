// SPDX-License-Identifier: Apache-2.0
//
// The gradients of a loss L with respect to the parameters that rates are made from, such as the
// base, a linear scale or YaRN's betas. They follow from the gradients of the rates and of m, which
// parameter_gradients.hpp has:
//
//   dL/dp        = sum over pairs k of dL/drate_k drate_k/dp + dL/dm dm/dp   for a parameter p
//   dL/dfactor_k = dL/drate_k drate_k/dfactor_k
//
// The derivatives come from the formulas of the scalings themselves (scaling.hpp), which run here
// with numbers that carry derivatives. For the powers that gives
//
//   drate_k/dbase         = -2 e_k rate_k / (d base)
//   drate_k/dlinear_scale = rate_k / linear_scale
//   drate_k/dfactor_k     = -rate_k / factor_k
//
// Some formulas have kinks. Where a pair or an end of YaRN's ramp meets its clamp, the derivative
// is that of the clamped side, which is 0. Rounded ends of the ramp (RampEnds::rounded) do not
// move, so the betas have gradient 0. On an edge of Llama 3.1's band the derivative is that of the
// band's inside. At ext_factor 0, where m jumps, its dependence on ext_factor and linear_scale is
// left out.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The gradients of a loss with respect to the rates and the attention factor of Frequencies.
///
/// \code{.cpp}
/// const auto d = er::gradients(y, dy, cache, er::split_half);
/// const er::RateGradients of_rates{er::rate_gradients(d, positions), 0.0};  // m is fixed
/// \endcode
struct RateGradients {
  std::vector<double> rates;    ///< dL/drate_k, one per pair, per radian per token.
  double attention_factor = 0;  ///< dL/dm; 0 where m is not learned.
};

/// The gradients of a loss with respect to the parameters of powers and of a scaling, each in the
/// member that has the parameter's name.
///
/// Members that are no real numbers (counts, enums, exponents) are copied from the parameters.
/// `powers.factors` has one entry per pair, also where the powers have no factors, which then count
/// as 1. A scaling with factors of its own (LongRope) has one entry per pair in each of its lists,
/// which is 0 in a list that the length does not use; `powers.factors` is empty then. An optional
/// parameter that is absent stays absent.
///
/// \code{.cpp}
/// const er::Powers<> powers{D, 10000.0};
/// const er::RateGradients of_rates{std::vector<double>(D / 2, 1.0), 0.0};
/// const auto result = er::scaling_gradients(powers, er::Linear<>{4.0}, of_rates);
/// const double of_base = result.powers.base, of_factor = result.scaling.factor;
/// \endcode
template <class OneScaling>
struct ScalingGradients {
  Powers<> powers;     ///< The gradients with respect to the parameters of Powers.
  OneScaling scaling;  ///< The gradients with respect to the parameters of the scaling.
};

/// Returns the gradients of the parameters of powers and of any scaling from those of the rates.
///
///     dL/dp = sum over pairs k of dL/drate_k drate_k/dp + dL/dm dm/dp
///
/// \code{.cpp}
/// const er::Powers<> powers{D, 500000.0};
/// const er::Scaling scaling = er::Llama3<>{8.0, 1.0, 4.0, 8192};
/// const er::RateGradients of_rates{std::vector<double>(D / 2, 1.0), 0.0};
/// const auto result = er::scaling_gradients(powers, scaling, of_rates);
/// const double of_base = result.powers.base;
/// const double of_factor = std::get<er::Llama3<>>(result.scaling).factor;
/// \endcode
///
/// Some formulas have kinks. The opening comment of scaling_gradients.hpp says which derivative is
/// taken there.
///
/// \param powers     the powers the rates were made from
/// \param scaling    the scaling they were made with
/// \param gradients  dL/drate_k, one per pair, and dL/dm
/// \param length     that of the sequence, in tokens; it matters where depends_on_length()
///
/// - Errors:   eigen_rope::Error where scaling.rates() throws it, and if the gradients are not one
///             per pair.
/// - Threads:  safe to call from several threads.
/// - Error:    half an ulp + 2^-75 of the sum of the magnitudes of all products that the chain rule
///             adds up for a result (2^-90 but for exact ends of YaRN's ramp and llama3), where
///             derivatives are in double's normal range and llama3's band is at least 2^-20 of
///             high_freq_factor wide. Gradients that are not finite give results that are not.
/// - Cost:     O(pairs), 3 microseconds a pair; allocates.
///
/// \see rate_gradients(), attention_factor_gradient(), \ref gradients "Gradients",
///      \ref scalings "Scalings, with plots"
EIGEN_ROPE_API ScalingGradients<Scaling> scaling_gradients(const Powers<>& powers,
                                                           const Scaling& scaling,
                                                           const RateGradients& gradients,
                                                           Index length = 0);

/// Returns the gradients of the parameters of powers and of one class of scaling from those of the
/// rates.
///
/// \code{.cpp}
/// const er::Powers<> powers{D, 10000.0};
/// er::Yarn<> yarn;
/// yarn.factor = 4.0;
/// yarn.original_context = 4096;
/// const er::Frequencies stretched(powers, yarn);
/// const er::Cache<float> table(stretched, positions);
/// const auto d = er::gradients(y, dy, table, er::split_half,
///                              {er::Wanted::angle | er::Wanted::log_magnitude});
/// const er::RateGradients of_rates{er::rate_gradients(d, positions),
///                                  er::attention_factor_gradient(d, stretched, positions)};
/// const double of_factor = er::scaling_gradients(powers, yarn, of_rates).scaling.factor;
/// \endcode
///
/// Parameters, errors, accuracy and cost are those of the function for any Scaling.
template <class OneScaling,
          std::enable_if_t<std::is_base_of_v<detail::Parameters<OneScaling>, OneScaling>, int> = 0>
ScalingGradients<OneScaling> scaling_gradients(const Powers<>& powers, const OneScaling& scaling,
                                               const RateGradients& gradients, Index length = 0) {
  ScalingGradients<Scaling> any = scaling_gradients(powers, Scaling(scaling), gradients, length);
  return {std::move(any.powers), std::get<OneScaling>(std::move(any.scaling))};
}

/// Returns the gradients of the parameters of powers, without a scaling, from those of the rates.
///
/// \code{.cpp}
/// const er::Powers<> powers{D, 10000.0};
/// const auto d = er::gradients(y, dy, cache, er::split_half);
/// const er::RateGradients of_rates{er::rate_gradients(d, positions), 0.0};
/// const double of_base = er::powers_gradients(powers, of_rates).base;
/// \endcode
///
/// \param powers     the powers the rates were made from
/// \param gradients  dL/drate_k, one per pair, and dL/dm
///
/// Thread safety, accuracy and cost are those of scaling_gradients().
///
/// - Errors:   eigen_rope::Error where powers.rates() throws it, and if the gradients are not one
///             per pair.
///
/// \see scaling_gradients(), rate_gradients(), \ref cookbook "Cookbook"
EIGEN_ROPE_API Powers<> powers_gradients(const Powers<>& powers, const RateGradients& gradients);

}  // namespace eigen_rope::EIGEN_ROPE_ABI
