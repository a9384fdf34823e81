// SPDX-License-Identifier: Apache-2.0
//
// YaRN as ggml defines it: pairs with many turns keep their rates, pairs with few are scaled, and a
// ramp over the pairs between blends the two.
//
//   rate_k = f_k (linear_scale (1 - x_k) + x_k)
//   m      = attention_factor (1 - ln(linear_scale) / 10), or attention_factor if ext_factor is 0
//   x_k    = ext_factor (1 - clamp((k - low) / max(0.001, high - low), 0, 1))
//   low    = max(0, c(beta_fast)), high = min(exponent_dims - 1, c(beta_slow)), rounded outwards or
//            not (RampEnds)
//   c(beta) = exponent_dims ln(original_context / (2 pi beta)) / (2 ln base)
//
// f_k are the powers of powers.hpp. x_k is the ramp: where it is 1 a pair keeps its original
// (extrapolated) rate, and where it is 0 the pair takes the scaled (interpolated) one.
//
// Source: Peng et al. 2023 (arXiv 2309.00071); ggml_rope_yarn_corr_dims. Hugging Face's YaRN
// (yarn.hpp) shares the ramp's ends.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Whether the ends of YaRN's ramp are rounded to whole pairs.
enum class RampEnds {
  /// The ramp goes from floor(c(beta_fast)) to ceil(c(beta_slow)), as in ggml and with Hugging
  /// Face's truncate = true. Derivatives do not pass through the ends.
  rounded,
  /// The ends are what the formula gives, as with Hugging Face's truncate = false. The ramp depends
  /// smoothly on the base and the betas.
  exact,
};
/// Returns the enumerator's name as text: `rounded`.
///
/// \code{.cpp}
/// std::cout << er::name_of(er::RampEnds::exact);  // exact
/// \endcode
EIGEN_ROPE_API const char* name_of(RampEnds ends);

/// YaRN as ggml defines it, a scaling that keeps the rates of fast pairs and scales those of slow
/// ones.
///
///     rate_k = f_k (linear_scale (1 - x_k) + x_k)
///     m      = attention_factor (1 - ln(linear_scale) / 10)
///     x_k    = ext_factor (1 - clamp((k - low) / max(0.001, high - low), 0, 1))
///
/// low and high are the ends of the ramp, which yarn_correction_dims() returns. The scale is
/// Powers::linear_scale, the reciprocal of Hugging Face's factor. With ext_factor 0 the rates and m
/// are those of the powers. Use Yarn for models that are published with Hugging Face's
/// configuration. The method is that of Peng et al. 2023, arXiv 2309.00071.
///
/// \code{.cpp}
/// er::Powers powers{D, 10000.0};
/// powers.linear_scale = 0.25;  // four times the original context
/// const er::Frequencies f(powers, er::GgmlYarn{1.0, 4096});
/// \endcode
///
/// \see Yarn, \ref scalings "Scalings, with plots", \ref gguf "GGUF files"
template <class S = double>
struct GgmlYarn : detail::Parameters<GgmlYarn<S>> {
  static constexpr const char* name = "ggml_yarn";  ///< The name in files and on the command line.
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give; linear_scale is that of
  /// Powers.
  static constexpr std::array required{"linear_scale", "original_context"};
  /// Makes a scaling with an ext_factor of 1, a context of 0 and betas of 32 and 1.
  GgmlYarn() = default;
  /// Makes a scaling from numbers in the order of the members: `{1.0, 4096, 32.0, 1.0}`.
  ///
  /// Real numbers are written as such, `1.0` and not `1`, and the context as an integer.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  GgmlYarn(const detail::RealArgument<S>& ext, detail::Count context = 0,
           const detail::RealArgument<S>& fast = S(32.0),
           const detail::RealArgument<S>& slow = S(1.0), RampEnds ramp_ends = RampEnds::rounded)
      : ext_factor(ext.value()),
        original_context(context.value()),
        beta_fast(fast.value()),
        beta_slow(slow.value()),
        ends(ramp_ends) {}

  /// The weight of the unscaled rates; finite. 0 switches YaRN off.
  S ext_factor = S(1.0);
  /// The number of tokens the model was first trained with (n_ctx_orig); >= 0. 0 is valid: both
  /// correction dims are then -infinity before they are clamped.
  Index original_context = 0;
  /// The turns within the original context above which a pair keeps its rate; >= 0. 0 is valid: its
  /// correction dim is then +infinity before it is clamped.
  S beta_fast = S(32.0);
  /// The turns within the original context below which a pair is scaled fully; >= 0. 0 is valid:
  /// its correction dim is then +infinity before it is clamped.
  S beta_slow = S(1.0);
  RampEnds ends = RampEnds::rounded;  ///< Whether the ramp begins and ends at whole pairs.

  /// Computes the blended rates and the magnitude.
  ///
  /// Where a pair or an end meets its clamp the derivative is that of the clamped side, which is 0.
  /// Rounded ends have derivative 0. At ext_factor 0 the rates are smooth, but m jumps there, and
  /// its dependence on ext_factor and linear_scale is left out.
  ///
  /// \param powers  the rates before scaling, and the scale
  /// \param length  it does not matter
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), and for negative betas or context, an
  ///             ext_factor that is not finite, or base 1.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    as Powers::rates(), but relative to f_k max(1, linear_scale)(1 + 2 |ext_factor|),
  ///             since the blend can cancel; with exact ends 10 u |ext_factor| dims (ln
  ///             original_context + |ln beta| + 2) / (|ln base| (high - low)) more, relative to the
  ///             same.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("ext_factor", objects.ext_factor...);
    visit("original_context", objects.original_context...);
    visit("beta_fast", objects.beta_fast...);
    visit("beta_slow", objects.beta_slow...);
    visit("ends", objects.ends...);
  }
};

/// The first and the last pair of YaRN's ramp, clamped as ggml clamps them.
///
/// They are whole numbers unless RampEnds::exact is asked for. The first may be +infinity and the
/// last -infinity.
///
/// \code{.cpp}
/// const er::CorrectionDims<> ramp = er::yarn_correction_dims(D, 10000.0, er::GgmlYarn{1.0, 4096});
/// const double width = ramp.high - ramp.low;
/// \endcode
template <class S = double>
struct CorrectionDims {
  S low;   ///< The first pair of the ramp; the pairs up to it keep their rates.
  S high;  ///< The last pair of the ramp; the pairs from it on are scaled fully.
};

/// Returns where YaRN's ramp begins and ends, as ggml_rope_yarn_corr_dims does.
///
///     low     = max(0, c(beta_fast)),  high = min(dims - 1, c(beta_slow))
///     c(beta) = dims ln(original_context / (2 pi beta)) / (2 ln base)
///
/// With RampEnds::rounded, c(beta_fast) is rounded down and c(beta_slow) up before they are
/// clamped. For 128 dims, base 10000, context 4096 and betas 32 and 1 the result is {20, 46}, or
/// {20.94..., 45.03...} where it is not rounded.
///
/// \code{.cpp}
/// const auto ramp = er::yarn_correction_dims(128, 10000.0, er::GgmlYarn{1.0, 4096});  // 20, 46
/// \endcode
///
/// \param dims  the exponent_dims of the powers; > 0
/// \param base  the base of the powers; > 0 and not 1
/// \param yarn  the context, the betas and whether the ends are rounded
///
/// - Errors:   eigen_rope::Error if dims or base is out of range, for negative betas or context,
///             and for an ext_factor that is not finite.
EIGEN_ROPE_API CorrectionDims<> yarn_correction_dims(Index dims, double base,
                                                     const GgmlYarn<>& yarn);

namespace detail {

EIGEN_ROPE_API void require_valid(Index dims, double base, const GgmlYarn<>& yarn);

/// YaRN's c(beta), neither rounded nor clamped. A context of 0 wins over a beta of 0, so that 0/0
/// cannot arise.
template <class S>
S yarn_correction(Index dims, const S& base, Index original_context, const S& beta) {
  using std::log;
  if (original_context == 0) return S(-std::numeric_limits<double>::infinity());
  if (passive(beta) == 0) return S(std::numeric_limits<double>::infinity());
  // A sum of logarithms, because the quotient could overflow.
  const S log_context = log(constant<S>(DoubleDouble::from_integer(original_context)));
  const S log_two_pi = log(constant<S>(two_pi));
  const S log_radians = log_context - log_two_pi;
  const S log_beta = log(beta);
  const S log_turns = log_radians - log_beta;
  const S log_base = log(base);
  const S numerator = S(static_cast<double>(dims)) * log_turns;
  const S denominator = S(2.0) * log_base;
  S correction = numerator / denominator;
  return correction;
}

/// Rounded ends come from the values in double-double, so that every scalar rounds to the same
/// pair.
template <class S>
CorrectionDims<S> correction_dims(Index dims, const S& base, const GgmlYarn<S>& yarn) {
  if (yarn.ends == RampEnds::rounded) {
    const CorrectionDims<> rounded =
        yarn_correction_dims(dims, passive(base), yarn.template cast<double>());
    return {S(rounded.low), S(rounded.high)};
  }
  S low = yarn_correction(dims, base, yarn.original_context, yarn.beta_fast);
  S high = yarn_correction(dims, base, yarn.original_context, yarn.beta_slow);
  const auto last = static_cast<double>(dims - 1);
  if (passive(low) <= 0) low = S(0.0);
  if (passive(high) >= last) high = S(last);
  return {low, high};
}

/// clamp((pair - low) / max(0.001, high - low), 0, 1), where low and high may be infinite.
template <class S>
S place_in_ramp(double pair, const CorrectionDims<S>& ramp) {
  constexpr double least_width = 0.001;
  const double low = passive(ramp.low);
  const double width = (std::max)(least_width, passive(ramp.high) - low);
  if (pair - low <= 0) return S(0.0);
  if (pair - low >= width) return S(1.0);
  S span = S(least_width);
  if (width > least_width) span = ramp.high - ramp.low;
  const S above = S(pair) - ramp.low;
  S place = above / span;
  return place;
}

}  // namespace detail

template <class S>
Rates<S> GgmlYarn<S>::rates(const Powers<S>& powers, Index /*length*/) const {
  using std::log;
  const Powers<> values = powers.template cast<double>();
  detail::require_valid(values);
  const Index dims = detail::exponent_dims(powers);
  detail::require_valid(dims, values.base, this->template cast<double>());
  const CorrectionDims<S> ramp = detail::correction_dims(dims, powers.base, *this);
  std::vector<S> rates = detail::unscaled_rates(powers);
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const S place = detail::place_in_ramp(static_cast<double>(k), ramp);
    const S ramp_at_pair = S(1.0) - place;
    const S mix = detail::rounded_product(ramp_at_pair, ext_factor);
    const S rest = S(1.0) - mix;
    const S scaled = detail::rounded_product(powers.linear_scale, rest);
    const S blend = scaled + mix;
    const S rate = rates[k] * blend;
    rates[k] = rate;
  }
  if (detail::passive(ext_factor) == 0) return {std::move(rates), powers.attention_factor};
  const S log_scale = log(powers.linear_scale);
  const S shrink = log_scale / S(10.0);
  const S stretch = S(1.0) - shrink;
  const S magnitude = powers.attention_factor * stretch;
  return {std::move(rates), magnitude};
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
