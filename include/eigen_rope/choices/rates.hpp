// SPDX-License-Identifier: Apache-2.0
//
// The formulas of the rates, once, for any scalar: derivatives flow from parameters to rates through any differentiable one.
//
//   f_k    = base^(-2 e_k / exponent_dims) / factor_k             radians per token; e_k = k unless told otherwise
//   power  rate_k = f_k linear_scale                              m = attention_factor
//   yarn   rate_k = f_k (linear_scale (1 - x_k) + x_k)            m = attention_factor (1 - ln(linear_scale) / 10)
//          x_k = ext_factor (1 - clamp((k - low) / max(0.001, high - low), 0, 1))
//          low = max(0, c(beta_fast)), high = min(exponent_dims - 1, c(beta_slow)), rounded outwards or not (RampEnds)
//          c(beta) = exponent_dims ln(original_context / (2 pi beta)) / (2 ln base)
//   llama3 rate_k = linear_scale (f_k (1 - s_k) / factor + f_k s_k)      m = attention_factor
//          s_k = clamp((n_k - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1),  n_k = original_context |f_k| / (2 pi)
//
// Not here: what is done with rates (Frequencies, Cache::from_rates). Nothing here needs Eigen.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "eigen_rope/choices/detail/parameters.hpp"
#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// What every scaling begins with: powers of a base. S is any scalar with + - * / exp and log, made from a double.
template <class S>
struct BasicPowers : detail::Parameters<BasicPowers<S>> {
  static constexpr const char* name = "powers";  ///< Its name in files and on the command line.
  BasicPowers() = default;
  /// In the order of the members. Dims are an integer and the base a real number, so that neither can stand for the other: {128, 10000.0}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicPowers(detail::Count dims, const detail::Real<S>& theta = S(10000.0), const S& scale = S(1.0), const S& m = S(1.0),
              std::vector<S> divisors = {}, std::vector<Index> powers = {}, Index dims_of_exponents = 0)
      : rotary_dims(dims.value()),
        base(theta.value()),
        linear_scale(scale),
        attention_factor(m),
        factors(std::move(divisors)),
        exponents(std::move(powers)),
        exponent_dims(dims_of_exponents) {}

  /// Width of the rotated window (n_dims), even; there are rotary_dims / 2 pairs.
  Index rotary_dims = 0;
  /// freq_base, rope_theta; > 0.
  S base = S(10000.0);
  /// Multiplies every rate; > 0. ggml's freq_scale; Hugging Face's `factor` is its reciprocal.
  S linear_scale = S(1.0);
  /// m; finite. Negative and zero are allowed (zero has no inverse).
  S attention_factor = S(1.0);
  /// Divides the rate of each pair; finite and not 0. Empty for none, otherwise at least one per pair; more are ignored.
  std::vector<S> factors{};
  /// The power of each pair (Sections::exponents); empty for 0, 1, 2, ...; otherwise exactly one per pair.
  std::vector<Index> exponents{};
  /// d of base^(-2e/d); 0 for rotary_dims. ggml's vision mode has d = rotary_dims / 2.
  Index exponent_dims = 0;

  /// The same parameters as constants of another scalar; to double, their values without derivatives.
  template <class T>
  BasicPowers<T> cast() const {
    return detail::cast_parameters<BasicPowers<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("rotary_dims", objects.rotary_dims...);
    visit("base", objects.base...);
    visit("linear_scale", objects.linear_scale...);
    visit("attention_factor", objects.attention_factor...);
    visit("factors", objects.factors...);
    visit("exponents", objects.exponents...);
    visit("exponent_dims", objects.exponent_dims...);
  }

  static_assert(!detail::is_whole<S>, "[rope] the parameters of rates must be floating-point or differentiable numbers, not integers");
};
using Powers = BasicPowers<double>;  ///< Of numbers.

/// Whether the ends of YaRN's ramp are whole pairs.
enum class RampEnds {
  /// floor(c(beta_fast)) and ceil(c(beta_slow)): ggml, and Hugging Face's truncate = true. Derivatives do not pass through the ends.
  rounded,
  /// As the formula gives them, Hugging Face's truncate = false: the ramp depends smoothly on the base and the betas.
  exact,
};
/// The enumerator as text: `rounded`.
EIGEN_ROPE_API const char* name_of(RampEnds ends);

/// What YaRN (Peng et al. 2023, arXiv 2309.00071) adds to the powers, as ggml defines it. With ext_factor 0 it changes nothing, m included.
template <class S>
struct BasicGgmlYarn : detail::Parameters<BasicGgmlYarn<S>> {
  static constexpr const char* name = "ggml_yarn";  ///< Its name in files and on the command line.
  BasicGgmlYarn() = default;
  /// In the order of the members, real numbers written as such: {1.0, 4096, 32.0, 1.0}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicGgmlYarn(const detail::Real<S>& ext, detail::Count context = 0, const detail::Real<S>& fast = S(32.0),
                const detail::Real<S>& slow = S(1.0), RampEnds ramp_ends = RampEnds::rounded)
      : ext_factor(ext.value()), original_context(context.value()), beta_fast(fast.value()), beta_slow(slow.value()), ends(ramp_ends) {}

  S ext_factor = S(1.0);  ///< Weight of the unscaled rates; 0 switches YaRN off.
  /// n_ctx_orig, in tokens. 0 is valid: both correction dims are then -infinity before clamping.
  Index original_context = 0;
  /// Turns within the original context above which a pair keeps its rate; >= 0. 0 is valid: +infinity before clamping.
  S beta_fast = S(32.0);
  /// Turns below which a pair is interpolated fully; >= 0.
  S beta_slow = S(1.0);
  RampEnds ends = RampEnds::rounded;  ///< Whether the ramp begins and ends at whole pairs.

  /// As BasicPowers::cast.
  template <class T>
  BasicGgmlYarn<T> cast() const {
    return detail::cast_parameters<BasicGgmlYarn<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("ext_factor", objects.ext_factor...);
    visit("original_context", objects.original_context...);
    visit("beta_fast", objects.beta_fast...);
    visit("beta_slow", objects.beta_slow...);
    visit("ends", objects.ends...);
  }
};
using GgmlYarn = BasicGgmlYarn<double>;  ///< Of numbers.

/// What Llama 3.1's scaling adds to the powers, as Hugging Face defines it. Both boundaries belong to the smooth band, which meets its
/// neighbours there. Equal low and high leave a step: pairs with fewer or as many turns are divided, those with more are kept.
template <class S>
struct BasicLlama3 : detail::Parameters<BasicLlama3<S>> {
  static constexpr const char* name = "llama3";  ///< Its name in files and on the command line.
  BasicLlama3() = default;
  /// In the order of the members, real numbers written as such: {8.0, 1.0, 4.0, 8192}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicLlama3(const detail::Real<S>& divisor, const detail::Real<S>& low = S(1.0), const detail::Real<S>& high = S(4.0),
              detail::Count context = 8192)
      : factor(divisor.value()), low_freq_factor(low.value()), high_freq_factor(high.value()), original_context(context.value()) {}

  /// Divides the rates of slow pairs; > 0. linear_scale comes on top: leave it 1 to follow Hugging Face.
  S factor = S(8.0);
  /// Turns within the original context below which a pair is divided fully; >= 0.
  S low_freq_factor = S(1.0);
  /// Turns above which a pair keeps its rate; >= low_freq_factor.
  S high_freq_factor = S(4.0);
  /// In tokens; >= 0.
  Index original_context = 8192;

  /// As BasicPowers::cast.
  template <class T>
  BasicLlama3<T> cast() const {
    return detail::cast_parameters<BasicLlama3<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("low_freq_factor", objects.low_freq_factor...);
    visit("high_freq_factor", objects.high_freq_factor...);
    visit("original_context", objects.original_context...);
  }
};
using Llama3 = BasicLlama3<double>;  ///< Of numbers.

/// One rate (radians per token) for each pair, and the magnitude m: what Cache::from_rates takes.
template <class S>
struct BasicRates {
  std::vector<S> rates;  ///< Radians per token.
  S attention_factor;    ///< m.
};

/// First and last pair of YaRN's ramp, clamped as ggml does. high may be -infinity and low +infinity.
template <class S>
struct BasicCorrectionDims {
  S low;   ///< First pair of the ramp.
  S high;  ///< Last pair of the ramp.
};
using CorrectionDims = BasicCorrectionDims<double>;  ///< Of numbers.

/// low and high of the formula above. For 128 dims, base 10000, context 4096 and betas 32 and 1: {20, 46}, {20.94..., 45.03...} where they
/// are not rounded. Source: ggml_rope_yarn_corr_dims. Throws as Frequencies::yarn.
EIGEN_ROPE_API CorrectionDims yarn_correction_dims(Index dims, double base, const GgmlYarn& yarn);

namespace detail {

// The checks of every scaling, on values. Compiled once; they throw eigen_rope::Error.
EIGEN_ROPE_API void require_valid(const Powers& powers);
EIGEN_ROPE_API void require_valid(Index dims, double base, const GgmlYarn& yarn);
EIGEN_ROPE_API void require_valid(const Llama3& llama3);
EIGEN_ROPE_API void require_valid_ntk(Index dims, double base, double factor);
EIGEN_ROPE_API void require_finite_rate(std::size_t pair, double rate);

template <class S>
Index exponent_dims(const BasicPowers<S>& powers) {
  return powers.exponent_dims == 0 ? powers.rotary_dims : powers.exponent_dims;
}

/// A constant with as many digits as S has, up to 106 bits.
template <class S>
S constant(DoubleDouble value) {
  if (value.low == 0) return S(value.high);
  return S(value.high) + S(value.low);
}

// Below, one operation a statement, each stored as S: the operators of differentiable scalars may return expressions that refer to
// their operands.

/// base^(-2 e_k / d) / factor_k
template <class S>
std::vector<S> unscaled_rates(const BasicPowers<S>& powers) {
  using std::exp;
  using std::log;
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  const S log_base = log(powers.base);
  const S dims = S(static_cast<double>(exponent_dims(powers)));
  std::vector<S> rates;
  checked_product("the number of bytes of all rates", static_cast<Index>(pairs), sizeof(S));
  rates.reserve(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto power = powers.exponents.empty() ? static_cast<double>(k) : static_cast<double>(powers.exponents[k]);
    const S logarithms = log_base * S(-2 * power);
    const S logarithm = logarithms / dims;
    S rate = exp(logarithm);
    require_finite_rate(k, passive(rate));
    if (!powers.factors.empty()) {
      const S divided = rate / powers.factors[k];
      rate = divided;
    }
    rates.push_back(rate);
  }
  return rates;
}

/// YaRN's c(beta), neither rounded nor clamped. A context of 0 wins over a beta of 0, so that 0/0 cannot arise.
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

/// Rounded ends come from the values in double-double, so that every scalar rounds to the same pair.
template <class S>
BasicCorrectionDims<S> correction_dims(Index dims, const S& base, const BasicGgmlYarn<S>& yarn) {
  if (yarn.ends == RampEnds::rounded) {
    const CorrectionDims rounded = yarn_correction_dims(dims, passive(base), yarn.template cast<double>());
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
S place_in_ramp(double pair, const BasicCorrectionDims<S>& ramp) {
  constexpr double least_width = 0.001;
  const double low = passive(ramp.low);
  const double width = std::max(least_width, passive(ramp.high) - low);
  if (pair - low <= 0) return S(0.0);
  if (pair - low >= width) return S(1.0);
  S span = S(least_width);
  if (width > least_width) span = ramp.high - ramp.low;
  const S above = S(pair) - ramp.low;
  S place = above / span;
  return place;
}

/// f (1 - s) / factor + f s, s = clamp(..., 0, 1)
template <class S>
S llama3_rate(const S& rate, const BasicLlama3<S>& llama3) {
  const S radians = rate * constant<S>(DoubleDouble::from_integer(llama3.original_context));
  S turns = radians / constant<S>(two_pi);
  if (passive(turns) < 0) {
    const S opposite = -turns;
    turns = opposite;
  }
  const double low = passive(llama3.low_freq_factor);
  const double high = passive(llama3.high_freq_factor);
  if (passive(turns) > high) return rate;
  S divided = rate / llama3.factor;
  if (passive(turns) < low || low == high) return divided;
  const S above = turns - llama3.low_freq_factor;
  const S band = llama3.high_freq_factor - llama3.low_freq_factor;
  const S kept = above / band;
  const S rest = S(1.0) - kept;
  const S slow = rounded_product(divided, rest);
  const S fast = rounded_product(rate, kept);
  S sum = slow + fast;
  return sum;
}

}  // namespace detail

/// f_k linear_scale. Throws eigen_rope::Error as Frequencies::powers, looking at values only; so do the functions below.
///
/// Error, in S's own arithmetic with unit roundoff u and exp and log good to an ulp: (4 |ln base^(-2 e_k / d)| + 4) u relative. O(pairs);
/// safe to call from several threads where S is.
template <class S>
BasicRates<S> power_rates(const BasicPowers<S>& powers) {
  detail::require_valid(powers.template cast<double>());
  std::vector<S> rates = detail::unscaled_rates(powers);
  for (S& rate : rates) {
    const S scaled = rate * powers.linear_scale;
    rate = scaled;
  }
  return {std::move(rates), powers.attention_factor};
}

/// YaRN's blend. Error: as power_rates, but relative to f_k max(1, linear_scale)(1 + 2 |ext_factor|), since the blend can cancel; with
/// exact ends 10 u |ext_factor| dims (ln original_context + |ln beta| + 2) / (|ln base| (high - low)) more, relative to the same.
///
/// Kinks: where a pair or an end meets its clamp the derivative is that of the clamped side, which is 0; rounded ends have derivative 0. At
/// ext_factor 0 the rates are smooth, but m jumps: its dependence on ext_factor and linear_scale is left out there.
template <class S>
BasicRates<S> ggml_yarn_rates(const BasicPowers<S>& powers, const BasicGgmlYarn<S>& yarn) {
  using std::log;
  const Powers values = powers.template cast<double>();
  detail::require_valid(values);
  const Index dims = detail::exponent_dims(powers);
  detail::require_valid(dims, values.base, yarn.template cast<double>());
  const BasicCorrectionDims<S> ramp = detail::correction_dims(dims, powers.base, yarn);
  std::vector<S> rates = detail::unscaled_rates(powers);
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const S place = detail::place_in_ramp(static_cast<double>(k), ramp);
    const S ramp_at_pair = S(1.0) - place;
    const S mix = detail::rounded_product(ramp_at_pair, yarn.ext_factor);
    const S rest = S(1.0) - mix;
    const S scaled = detail::rounded_product(powers.linear_scale, rest);
    const S blend = scaled + mix;
    const S rate = rates[k] * blend;
    rates[k] = rate;
  }
  if (detail::passive(yarn.ext_factor) == 0) return {std::move(rates), powers.attention_factor};
  const S log_scale = log(powers.linear_scale);
  const S shrink = log_scale / S(10.0);
  const S stretch = S(1.0) - shrink;
  const S magnitude = powers.attention_factor * stretch;
  return {std::move(rates), magnitude};
}

/// Llama 3.1's three bands. Error: twice that of power_rates; in the smooth band relative to f_k linear_scale max(1, 1/factor) and
/// 1 + high_freq_factor / (high_freq_factor - low_freq_factor) times as much.
///
/// Kinks: on a band's edge the derivative is that of the smooth band.
template <class S>
BasicRates<S> llama3_rates(const BasicPowers<S>& powers, const BasicLlama3<S>& llama3) {
  detail::require_valid(powers.template cast<double>());
  detail::require_valid(llama3.template cast<double>());
  std::vector<S> rates = detail::unscaled_rates(powers);
  for (S& rate : rates) {
    const S blended = detail::llama3_rate(rate, llama3);
    const S scaled = blended * powers.linear_scale;
    rate = scaled;
  }
  return {std::move(rates), powers.attention_factor};
}

/// base * factor^(dims / (dims - 2)): the base that stretches the slowest pair by `factor` and leaves the fastest alone ("NTK-aware").
/// dims > 2, base > 0, factor > 0; throws eigen_rope::Error otherwise. For numbers: the real result rounded once.
EIGEN_ROPE_API double ntk_base(Index dims, double base, double factor);

/// The same for differentiable and other scalars, in their own arithmetic.
template <class S, std::enable_if_t<!std::is_arithmetic_v<S> || std::is_same_v<S, long double>, int> = 0>
S ntk_base(Index dims, const S& base, const S& factor) {
  using std::exp;
  using std::log;
  detail::require_valid_ntk(dims, detail::passive(base), detail::passive(factor));
  const S power = S(static_cast<double>(dims)) / S(static_cast<double>(dims - 2));
  const S log_factor = log(factor);
  const S log_stretch = log_factor * power;
  const S stretch = exp(log_stretch);
  S stretched = base * stretch;
  return stretched;
}

}  // namespace eigen_rope
