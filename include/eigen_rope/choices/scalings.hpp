// SPDX-License-Identifier: Apache-2.0
//
// The scalings of published configurations, for any scalar, on top of the powers f_k of rates.hpp (d = exponent_dims, e_k = k):
//
//   linear        rate_k = f_k / factor
//   proportional  rate_k = f_k / factor for k < rotated_pairs, 0 behind (p-RoPE)
//   dynamic NTK   base' = base (1 + factor (L / original_context - 1))^(d / (d - 2)),  L = max(length, original_context)
//   NTK           rate_k = f_k factor^(-(2 (e_k + 1) / d)^mixed_b)         mixed_b = 1, the fixed rule: base factor, over factor^(2/d)
//   YaRN          rate_k = f_k ((1 - x_k) / factor + x_k),  x_k = (1 - clamp((k - low) / (high - low), 0, 1)) extrapolation
//   LongRoPE      rate_k = f_k / long_factor_k if length > original_context, else f_k / short_factor_k
//
// rate_k is then multiplied by linear_scale, which is 1 in these systems, and divided by the frequency factors. Published code (Hugging
// Face's modeling_rope_utils.py, vLLM) computes in float; these are the real-number formulas, edge cases included. Not here: ggml's YaRN
// and Llama 3.1's scaling (rates.hpp), the state of a growing sequence (dynamic_ntk.hpp), and anything read from a file.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "eigen_rope/choices/rates.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// The powers alone.
template <class S>
struct BasicUnscaled : detail::Parameters<BasicUnscaled<S>> {
  static constexpr const char* name = "default";  ///< Its name in files and on the command line.
  /// As BasicPowers::cast.
  template <class T>
  BasicUnscaled<T> cast() const {
    return detail::cast_parameters<BasicUnscaled<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& /*visit*/, Objects&... /*objects*/) {}
};
using Unscaled = BasicUnscaled<double>;  ///< Of numbers.

/// Dividing all rates (position interpolation), Hugging Face's linear.
template <class S>
struct BasicLinear : detail::Parameters<BasicLinear<S>> {
  static constexpr const char* name = "linear";  ///< Its name in files and on the command line.
  BasicLinear() = default;
  /// {8.0}
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicLinear(const S& divisor) : factor(divisor) {}

  /// > 0.
  S factor = S(1.0);

  /// As BasicPowers::cast.
  template <class T>
  BasicLinear<T> cast() const {
    return detail::cast_parameters<BasicLinear<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("factor", objects.factor...);
  }
};
using Linear = BasicLinear<double>;  ///< Of numbers.

/// Dividing the rates of the first pairs and stopping the rest, or dividing all.
template <class S>
struct BasicProportional : detail::Parameters<BasicProportional<S>> {
  static constexpr const char* name = "proportional";  ///< Its name in files and on the command line.
  BasicProportional() = default;
  /// In the order of the members, the factor written as a real number: {8.0, 32}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicProportional(const detail::Real<S>& divisor, detail::Count pairs = 0) : factor(divisor.value()), rotated_pairs(pairs.value()) {}

  /// > 0.
  S factor = S(1.0);
  /// Pairs that turn, from the first; 0 to rotary_dims / 2. The others have rate 0, cos = m and sin = 0: m applies to them too.
  Index rotated_pairs = 0;

  /// As BasicPowers::cast.
  template <class T>
  BasicProportional<T> cast() const {
    return detail::cast_parameters<BasicProportional<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("rotated_pairs", objects.rotated_pairs...);
  }
};
using Proportional = BasicProportional<double>;  ///< Of numbers.

/// Dynamic NTK: the base depends on the length of the sequence. As Hugging Face; vLLM's older static rule is length = factor * context.
template <class S>
struct BasicDynamicNtkScaling : detail::Parameters<BasicDynamicNtkScaling<S>> {
  static constexpr const char* name = "dynamic";  ///< Its name in files and on the command line.
  BasicDynamicNtkScaling() = default;
  /// In the order of the members, the factor written as a real number: {4.0, 4096}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicDynamicNtkScaling(const detail::Real<S>& stretch, detail::Count context = 2048)
      : factor(stretch.value()), original_context(context.value()) {}

  /// > 0.
  S factor = S(1.0);
  /// Tokens up to which nothing changes (max_position_embeddings); > 0.
  Index original_context = 2048;

  /// As BasicPowers::cast.
  template <class T>
  BasicDynamicNtkScaling<T> cast() const {
    return detail::cast_parameters<BasicDynamicNtkScaling<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("original_context", objects.original_context...);
  }
};
using DynamicNtkScaling = BasicDynamicNtkScaling<double>;  ///< Of numbers.

/// vLLM's NTK scaling, fixed and mixed.
template <class S>
struct BasicNtkScaling : detail::Parameters<BasicNtkScaling<S>> {
  static constexpr const char* name = "ntk";  ///< Its name in files and on the command line.
  BasicNtkScaling() = default;
  /// In the order of the members: {8.0, 0.625}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  BasicNtkScaling(const S& stretch, const S& b = S(1.0)) : factor(stretch), mixed_b(b) {}

  /// > 0.
  S factor = S(1.0);
  /// b of exp(-ln(factor) (m / (d / 2))^b), m = e_k + 1; finite and not negative. 1 is the fixed rule.
  S mixed_b = S(1.0);

  /// As BasicPowers::cast.
  template <class T>
  BasicNtkScaling<T> cast() const {
    return detail::cast_parameters<BasicNtkScaling<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("mixed_b", objects.mixed_b...);
  }
};
using NtkScaling = BasicNtkScaling<double>;  ///< Of numbers.

/// Whose rule makes YaRN's m from factor and the mscales: g(s, t) = 1 if s <= 1, else 1 + t ln(s) / 10.
enum class YarnMagnitude {
  /// m = attention_factor g(factor, mscale) / g(factor, mscale_all_dim) if both are there and not 0, else attention_factor g(factor, 1).
  hugging_face,
  /// The ratio always, with mscale 1 if it is not there: DeepSeek's own code, vLLM, Megatron.
  deepseek,
  /// m = attention_factor. Hugging Face, where a configuration has attention_factor.
  given,
};
/// The enumerator as text: `hugging_face`.
EIGEN_ROPE_API const char* name_of(YarnMagnitude magnitude);

/// YaRN as Hugging Face defines it. It differs from ggml's (BasicGgmlYarn) in m and where the ramp has no width or a negative one.
///
/// Of Hugging Face's edge cases these are kept: high is clamped at d - 1 and not at 0, so that nothing is scaled where it is negative (a
/// context below 2 pi beta_slow); ends that are equal are put 0.001 apart; ends in the wrong order (beta_fast < beta_slow) turn the ramp
/// round. Refused: betas of 0, which it reads as 32 and 1; a context of 0. A missing factor (context over original context) is the reader's
/// to fill in.
template <class S>
struct BasicYarn : detail::Parameters<BasicYarn<S>> {
  static constexpr const char* name = "yarn";  ///< Its name in files and on the command line.
  /// Set by name, as below: ggml's YaRN takes other numbers in other places.
  BasicYarn() {}  // NOLINT(modernize-use-equals-default): not an aggregate, so no list of numbers makes one

  /// Must be set; > 0. With hugging_face and deepseek m has a kink at 1.
  S factor = S(0.0);
  /// Must be set: original_max_position_embeddings, in tokens; > 0.
  Index original_context = 0;
  /// Turns within the original context above which a pair keeps its rate; > 0.
  S beta_fast = S(32.0);
  /// Turns below which a pair is divided fully; > 0.
  S beta_slow = S(1.0);
  /// rounded is truncate = true.
  RampEnds ends = RampEnds::rounded;
  YarnMagnitude magnitude = YarnMagnitude::hugging_face;  ///< The rule for m.
  /// Finite.
  std::optional<S> mscale{};
  /// Finite; 0 for none.
  S mscale_all_dim = S(0.0);
  /// Multiplies the kept part of the rate, vLLM's extrapolation_factor as the published formula has it; finite.
  S extrapolation = S(1.0);

  /// As BasicPowers::cast.
  template <class T>
  BasicYarn<T> cast() const {
    return detail::cast_parameters<BasicYarn<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("original_context", objects.original_context...);
    visit("beta_fast", objects.beta_fast...);
    visit("beta_slow", objects.beta_slow...);
    visit("ends", objects.ends...);
    visit("magnitude", objects.magnitude...);
    visit("mscale", objects.mscale...);
    visit("mscale_all_dim", objects.mscale_all_dim...);
    visit("extrapolation", objects.extrapolation...);
  }
};
using Yarn = BasicYarn<double>;  ///< Of numbers.

/// What makes LongRoPE's m.
enum class LongRopeMagnitude {
  /// attention_factor sqrt(1 + ln factor / ln original_context), or attention_factor alone if factor <= 1.
  from_factor,
  /// attention_factor.
  given,
};
/// The enumerator as text: `from_factor`.
EIGEN_ROPE_API const char* name_of(LongRopeMagnitude magnitude);

/// LongRoPE: one divisor per pair, from one of two lists. m does not depend on the list. Cached keys must be rerotated where a sequence
/// passes original_context (rerotate.hpp); Hugging Face drops or keeps them as they are.
template <class S>
struct BasicLongRope : detail::Parameters<BasicLongRope<S>> {
  static constexpr const char* name = "longrope";  ///< Its name in files and on the command line.
  BasicLongRope() = default;
  /// In the order of the members, the factor written as a real number: {short, long, 4096, 32.0}.
  BasicLongRope(std::vector<S> short_divisors, std::vector<S> long_divisors, detail::Count context = 4096,
                const detail::Real<S>& stretch = S(1.0), LongRopeMagnitude rule = LongRopeMagnitude::from_factor)
      : short_factor(std::move(short_divisors)),
        long_factor(std::move(long_divisors)),
        original_context(context.value()),
        factor(stretch.value()),
        magnitude(rule) {}

  /// Exactly one per pair in each; finite and not 0.
  std::vector<S> short_factor{};
  std::vector<S> long_factor{};  ///< For sequences longer than original_context.
  /// Tokens up to and including which the short list holds; > 0, and > 1 where m comes from factor > 1.
  Index original_context = 4096;
  /// > 0; only m depends on it. A missing one (context over original context) is the reader's to fill in.
  S factor = S(1.0);
  LongRopeMagnitude magnitude = LongRopeMagnitude::from_factor;  ///< The rule for m.

  /// As BasicPowers::cast.
  template <class T>
  BasicLongRope<T> cast() const {
    return detail::cast_parameters<BasicLongRope<T>>(*this);
  }
  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(const Visit& visit, Objects&... objects) {
    visit("short_factor", objects.short_factor...);
    visit("long_factor", objects.long_factor...);
    visit("original_context", objects.original_context...);
    visit("factor", objects.factor...);
    visit("magnitude", objects.magnitude...);
  }
};
using LongRope = BasicLongRope<double>;  ///< Of numbers.

/// floor(head_dims fraction), the rotary dims of partial_rotary_factor; fraction in (0, 1], head_dims > 0. The window is the pairing's
/// (Pairing::with_rotary_dims), the powers' dims are these. Throws eigen_rope::Error where the result is odd or 0: Hugging Face then makes
/// one more rate than it has pairs.
EIGEN_ROPE_API Index partial_rotary_dims(Index head_dims, double fraction);

/// floor(floor(head_dims fraction) / 2), the pairs that turn in a proportional scaling; the powers' dims are all head_dims. fraction in
/// [0, 1], head_dims > 0, else eigen_rope::Error.
EIGEN_ROPE_API Index proportional_pairs(Index head_dims, double fraction);

namespace detail {

EIGEN_ROPE_API void require_valid(const Proportional& proportional, Index rotary_dims);
EIGEN_ROPE_API void require_valid(const DynamicNtkScaling& ntk, Index length);
EIGEN_ROPE_API void require_finite_base(double stretched, Index length);
EIGEN_ROPE_API void require_valid(const NtkScaling& ntk);
/// The YaRN whose correction dims these are. Throws for what Yarn refuses.
EIGEN_ROPE_API GgmlYarn checked_yarn(Index dims, double base, const Yarn& yarn);
EIGEN_ROPE_API void require_valid(const LongRope& longrope, const Powers& powers, Index length);
EIGEN_ROPE_API void require_valid_softmax(double factor, double mscale_all_dim);

/// clamp((pair - low) / (high - low), 0, 1); no width is 0.001.
template <class S>
S place_between(double pair, const BasicCorrectionDims<S>& ramp) {
  double width = passive(ramp.high) - passive(ramp.low);
  S span = ramp.high - ramp.low;
  if (width == 0) {
    width = 0.001;
    span = S(width);
  }
  const double value = (pair - passive(ramp.low)) / width;
  if (value <= 0) return S(0.0);
  if (value >= 1) return S(1.0);
  const S above = S(pair) - ramp.low;
  const S place = above / span;
  return place;
}

/// g(factor, scale)
template <class S>
S yarn_mscale(const S& factor, const S& scale) {
  using std::log;
  if (passive(factor) <= 1) return S(1.0);
  const S log_factor = log(factor);
  const S scaled = scale * log_factor;
  const S tenth = scaled / S(10.0);
  const S result = tenth + S(1.0);
  return result;
}

template <class S>
S yarn_magnitude(const BasicYarn<S>& yarn) {
  const bool both = yarn.mscale && passive(*yarn.mscale) != 0 && passive(yarn.mscale_all_dim) != 0;
  if (yarn.magnitude == YarnMagnitude::given) return S(1.0);
  if (yarn.magnitude == YarnMagnitude::hugging_face && !both) return yarn_mscale(yarn.factor, S(1.0));
  const S scale = yarn.mscale.value_or(S(1.0));
  const S numerator = yarn_mscale(yarn.factor, scale);
  const S denominator = yarn_mscale(yarn.factor, yarn.mscale_all_dim);
  const S ratio = numerator / denominator;
  return ratio;
}

}  // namespace detail

/// Throws eigen_rope::Error as Frequencies::proportional, looking at values only, as all functions below do for their factories. Errors
/// below are in S's own arithmetic with unit roundoff u and exp and log good to an ulp; all functions are O(pairs) and safe to call from
/// several threads where S is. Error: that of power_rates and u more.
template <class S>
BasicRates<S> proportional_rates(const BasicPowers<S>& powers, const BasicProportional<S>& proportional) {
  detail::require_valid(powers.template cast<double>());
  detail::require_valid(proportional.template cast<double>(), powers.rotary_dims);
  BasicRates<S> result = power_rates(powers);
  const auto rotated = static_cast<std::size_t>(proportional.rotated_pairs);
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    S rate = S(0.0);
    if (k < rotated) rate = result.rates[k] / proportional.factor;
    result.rates[k] = rate;
  }
  return result;
}

/// f_k / factor: proportional_rates with every pair rotated.
template <class S>
BasicRates<S> linear_rates(const BasicPowers<S>& powers, const S& factor) {
  return proportional_rates(powers, BasicProportional<S>{factor, powers.rotary_dims / 2});
}

/// base' of the formula above; `base` itself up to the original context. dims > 2: with 2 the formula divides by 0. For dims 128, base
/// 10000, context 2048 and factor 10: 759702.231... at 16384 tokens. Error: (2 ln(base' / base) + 12) u.
template <class S>
S dynamic_ntk_base(Index dims, const S& base, const BasicDynamicNtkScaling<S>& ntk, Index length) {
  detail::require_valid(ntk.template cast<double>(), length);
  detail::require_valid_ntk(dims, detail::passive(base), 1);
  if (length <= ntk.original_context) return base;
  using std::exp;
  using std::log;
  // 1 + factor (L - M) / M: no cancellation, unlike factor L / M - (factor - 1).
  const S more = detail::constant<S>(DoubleDouble::from_integer(length - ntk.original_context));
  const S times = more / detail::constant<S>(DoubleDouble::from_integer(ntk.original_context));
  const S grown = ntk.factor * times;
  const S stretch = grown + S(1.0);
  const S log_stretch = log(stretch);
  const S power = S(static_cast<double>(dims)) / S(static_cast<double>(dims - 2));
  const S log_ratio = log_stretch * power;
  const S ratio = exp(log_ratio);
  const S stretched = base * ratio;
  detail::require_finite_base(detail::passive(stretched), length);
  return stretched;
}

/// Powers of base'. Error: that of power_rates and of dynamic_ntk_base. Up to the original context `factor` has derivative 0.
template <class S>
BasicRates<S> dynamic_ntk_rates(const BasicPowers<S>& powers, const BasicDynamicNtkScaling<S>& ntk, Index length) {
  detail::require_valid(powers.template cast<double>());
  BasicPowers<S> stretched = powers;
  stretched.base = dynamic_ntk_base(detail::exponent_dims(powers), powers.base, ntk, length);
  return power_rates(stretched);
}

/// vLLM's rule for all lengths. Error: that of power_rates and (4 |ln factor| (1 + mixed_b |ln(2 / d)|) + 2) u.
template <class S>
BasicRates<S> ntk_rates(const BasicPowers<S>& powers, const BasicNtkScaling<S>& ntk) {
  using std::exp;
  using std::log;
  detail::require_valid(powers.template cast<double>());
  detail::require_valid(ntk.template cast<double>());
  BasicRates<S> result = power_rates(powers);
  const S log_factor = log(ntk.factor);
  const S dims = S(static_cast<double>(detail::exponent_dims(powers)));
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    const auto exponent = static_cast<double>(powers.exponents.empty() ? static_cast<Index>(k) : powers.exponents[k]);
    const S place = S(2 * (exponent + 1)) / dims;
    const S log_place = log(place);
    const S log_share = ntk.mixed_b * log_place;
    const S share = exp(log_share);
    const S log_divisor = log_factor * share;
    const S log_multiplier = -log_divisor;
    const S multiplier = exp(log_multiplier);
    const S rate = result.rates[k] * multiplier;
    detail::require_finite_rate(k, detail::passive(rate));
    result.rates[k] = rate;
  }
  return result;
}

/// Hugging Face's YaRN. Error: as yarn_rates, with 1 / factor for linear_scale and extrapolation for ext_factor; m within 8 u.
///
/// Kinks: where a pair or an end meets its clamp the derivative is that of the clamped side, which is 0; rounded ends have derivative 0;
/// ends put apart stay so. With hugging_face m jumps where an mscale reaches 0, and its dependence on both is left out there.
template <class S>
BasicRates<S> yarn_rates(const BasicPowers<S>& powers, const BasicYarn<S>& yarn) {
  const Powers values = powers.template cast<double>();
  detail::require_valid(values);
  const Index dims = detail::exponent_dims(powers);
  (void)detail::checked_yarn(dims, values.base, yarn.template cast<double>());
  const BasicGgmlYarn<S> ends{S(1.0), yarn.original_context, yarn.beta_fast, yarn.beta_slow, yarn.ends};
  const BasicCorrectionDims<S> ramp = detail::correction_dims(dims, powers.base, ends);
  BasicRates<S> result = power_rates(powers);
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    const S interpolated = detail::place_between(static_cast<double>(k), ramp);
    const S rest = S(1.0) - interpolated;
    const S kept = detail::rounded_product(rest, yarn.extrapolation);
    // vLLM: (1 - kept) / factor + kept, which for an extrapolation of 1 is Hugging Face's.
    const S divided_share = S(1.0) - kept;
    const S divided = divided_share / yarn.factor;
    const S blend = divided + kept;
    const S rate = result.rates[k] * blend;
    result.rates[k] = rate;
  }
  const S magnitude = powers.attention_factor * detail::yarn_magnitude(yarn);
  result.attention_factor = magnitude;
  return result;
}

/// What DeepSeek multiplies the attention scores with besides m^2: g(factor, mscale_all_dim)^2, 1 if mscale_all_dim is 0. It belongs to
/// the softmax's scale, not to the rotation, and is in no table. 1.5896261651208735 for (40, 0.707). factor > 0, mscale_all_dim finite,
/// else eigen_rope::Error. For numbers: the real result rounded once.
EIGEN_ROPE_API double yarn_softmax_multiplier(double factor, double mscale_all_dim);

/// The same for differentiable and other scalars, in their own arithmetic.
template <class S, std::enable_if_t<!std::is_arithmetic_v<S>, int> = 0>
S yarn_softmax_multiplier(const S& factor, const S& mscale_all_dim) {
  detail::require_valid_softmax(detail::passive(factor), detail::passive(mscale_all_dim));
  const S once = detail::yarn_mscale(factor, mscale_all_dim);
  const S twice = once * once;
  return twice;
}

/// LongRoPE for a sequence of `length` tokens. Error: that of power_rates; m within (4 + 2 ln factor / ln original_context) u.
template <class S>
BasicRates<S> longrope_rates(const BasicPowers<S>& powers, const BasicLongRope<S>& longrope, Index length) {
  using std::exp;
  using std::log;
  const Powers values = powers.template cast<double>();
  detail::require_valid(values);
  detail::require_valid(longrope.template cast<double>(), values, length);
  BasicPowers<S> divided = powers;
  divided.factors = std::vector<S>(length > longrope.original_context ? longrope.long_factor : longrope.short_factor);
  BasicRates<S> result = power_rates(divided);
  if (longrope.magnitude == LongRopeMagnitude::given || detail::passive(longrope.factor) <= 1) return result;
  const S log_factor = log(longrope.factor);
  const S log_context = log(detail::constant<S>(DoubleDouble::from_integer(longrope.original_context)));
  const S ratio = log_factor / log_context;
  const S square = ratio + S(1.0);
  const S log_square = log(square);
  const S log_root = log_square / S(2.0);
  const S root = exp(log_root);
  const S magnitude = powers.attention_factor * root;
  result.attention_factor = magnitude;
  return result;
}

}  // namespace eigen_rope
