// SPDX-License-Identifier: Apache-2.0
//
// YaRN as Hugging Face and DeepSeek define it: pairs with many turns keep their rates, pairs with
// few are divided by a factor, and a ramp over the pairs between blends the two.
//
//   rate_k = f_k linear_scale ((1 - x_k) / factor + x_k)
//   x_k    = extrapolation (1 - clamp((k - low) / (high - low), 0, 1))
//   m      = attention_factor times what YarnMagnitude says; low and high as in ggml_yarn.hpp
//
// f_k are the powers of powers.hpp. x_k is the ramp: where it is 1 a pair keeps its original
// (extrapolated) rate, and where it is 0 the pair takes the divided (interpolated) one. A widely
// read walkthrough has it the other way round.
//
// Source: Peng et al. 2023 (arXiv 2309.00071); Hugging Face's modeling_rope_utils.py, DeepSeek's
// and vLLM's own code. Published code computes in float; these are the real-number formulas, edge
// cases included.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "eigen_rope/choices/ggml_yarn.hpp"
#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The rules that make YaRN's magnitude m from the factor and the mscales.
///
///     g(s, t) = 1 if s <= 1, else 1 + t ln(s) / 10
///
/// Implementations differ in which mscales they read, so the rule is a parameter of Yarn.
enum class YarnMagnitude {
  /// Hugging Face's rule: m = attention_factor g(factor, mscale) / g(factor, mscale_all_dim) if
  /// both are there and not 0, else attention_factor g(factor, 1).
  hugging_face,
  /// The rule of DeepSeek's own code, vLLM and Megatron: the ratio always, with mscale 1 if it is
  /// not there.
  deepseek,
  /// m = attention_factor, which is Hugging Face's rule where a configuration has attention_factor.
  given,
};
/// Returns the enumerator's name as text: `hugging_face`.
///
/// \code{.cpp}
/// std::cout << er::name_of(er::YarnMagnitude::deepseek);  // deepseek
/// \endcode
EIGEN_ROPE_API const char* name_of(YarnMagnitude magnitude);

/// YaRN as Hugging Face defines it, a scaling that keeps the rates of fast pairs and divides those
/// of slow ones.
///
///     rate_k = f_k linear_scale ((1 - x_k) / factor + x_k)
///     x_k    = extrapolation (1 - clamp((k - low) / (high - low), 0, 1))
///
/// m is what YarnMagnitude says. By default and without mscales it is attention_factor
/// (1 + ln(factor) / 10) for a factor above 1. The ends low and high of the ramp are those of
/// GgmlYarn. The two classes differ in m, and where the ramp has no width or a negative one.
///
/// Three of Hugging Face's edge cases are kept. The end high is clamped at d - 1 and not at 0, so
/// that nothing is scaled where it is negative (a context below 2 pi beta_slow). Ends that are
/// equal are put 0.001 apart. Ends in the wrong order (`beta_fast < beta_slow`) turn the ramp
/// round. Betas of 0, which Hugging Face reads as 32 and 1, and a context of 0 are refused. Where a
/// configuration has no factor, its reader must fill in the context over the original context.
///
/// \code{.cpp}
/// er::Yarn scaling;
/// scaling.factor = 4.0;
/// scaling.original_context = 32768;
/// const er::Frequencies f({D, 1000000.0}, scaling);  // for up to 131072 tokens
/// \endcode
///
/// \see GgmlYarn, yarn_softmax_multiplier(), \ref scalings "Scalings, with plots",
/// \ref configurations "Reading configurations"
template <class S = double>
struct Yarn : detail::Parameters<Yarn<S>> {
  static constexpr const char* name = "yarn";  ///< The name in files and on the command line.
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"factor", "original_context"};
  /// Makes a scaling whose factor and original_context must still be set, each by its name.
  ///
  /// No list of numbers in braces makes one, because GgmlYarn takes other numbers in other places.
  // NOLINTNEXTLINE(modernize-use-equals-default): not an aggregate, so no list of numbers makes one
  Yarn() {}

  /// The number that divides the rates of slow pairs; > 0. It must be set. With the rules
  /// hugging_face and deepseek m has a kink at 1.
  S factor = S(0.0);
  /// The number of tokens the model was first trained with (original_max_position_embeddings); > 0.
  /// It must be set.
  Index original_context = 0;
  /// The turns within the original context above which a pair keeps its rate; > 0.
  S beta_fast = S(32.0);
  /// The turns within the original context below which a pair is divided fully; > 0.
  S beta_slow = S(1.0);
  /// Whether the ramp begins and ends at whole pairs; rounded is Hugging Face's truncate = true.
  RampEnds ends = RampEnds::rounded;
  YarnMagnitude magnitude = YarnMagnitude::hugging_face;  ///< The rule for m.
  /// The parameter mscale of YarnMagnitude; finite, or absent.
  std::optional<S> mscale{};
  /// The parameter mscale_all_dim of YarnMagnitude; finite, and 0 for none.
  S mscale_all_dim = S(0.0);
  /// The weight of the kept part of the rate, which is vLLM's extrapolation_factor as the published
  /// formula has it; finite.
  S extrapolation = S(1.0);

  /// Computes the blended rates and the magnitude.
  ///
  /// Where a pair or an end meets its clamp the derivative is that of the clamped side, which is 0.
  /// Rounded ends have derivative 0, and ends that were put apart stay so. With the rule
  /// hugging_face m jumps where an mscale reaches 0, and its dependence on both is left out there.
  ///
  /// \param powers  the rates before scaling
  /// \param length  it does not matter
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), and for a factor, context or beta that is
  ///             not positive, an mscale or extrapolation that is not finite, base 1, or an
  ///             mscale_all_dim that makes m infinite by DeepSeek's rule.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    that of GgmlYarn::rates(), with 1 / factor for linear_scale and extrapolation for
  ///             ext_factor; m within 8 u.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
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

namespace detail {

/// The YaRN whose correction dims these are. Throws for what Yarn refuses.
EIGEN_ROPE_API GgmlYarn<> checked_yarn(Index dims, double base, const Yarn<>& yarn);
EIGEN_ROPE_API void require_valid_softmax(double factor, double mscale_all_dim);

/// clamp((pair - low) / (high - low), 0, 1); no width is 0.001.
template <class S>
S place_between(double pair, const CorrectionDims<S>& ramp) {
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
S yarn_magnitude(const Yarn<S>& yarn) {
  const bool both = yarn.mscale && passive(*yarn.mscale) != 0 && passive(yarn.mscale_all_dim) != 0;
  if (yarn.magnitude == YarnMagnitude::given) return S(1.0);
  if (yarn.magnitude == YarnMagnitude::hugging_face && !both)
    return yarn_mscale(yarn.factor, S(1.0));
  const S scale = yarn.mscale.value_or(S(1.0));
  const S numerator = yarn_mscale(yarn.factor, scale);
  const S denominator = yarn_mscale(yarn.factor, yarn.mscale_all_dim);
  const S ratio = numerator / denominator;
  return ratio;
}

}  // namespace detail

template <class S>
Rates<S> Yarn<S>::rates(const Powers<S>& powers, Index /*length*/) const {
  const Powers<> values = powers.template cast<double>();
  detail::require_valid(values);
  const Index dims = detail::exponent_dims(powers);
  (void)detail::checked_yarn(dims, values.base, this->template cast<double>());
  const GgmlYarn<S> shared{S(1.0), original_context, beta_fast, beta_slow, ends};
  const CorrectionDims<S> ramp = detail::correction_dims(dims, powers.base, shared);
  Rates<S> result = powers.rates();
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    const S interpolated = detail::place_between(static_cast<double>(k), ramp);
    const S rest = S(1.0) - interpolated;
    const S kept = detail::rounded_product(rest, extrapolation);
    // vLLM: (1 - kept) / factor + kept, which for an extrapolation of 1 is Hugging Face's.
    const S divided_share = S(1.0) - kept;
    const S divided = divided_share / factor;
    const S blend = divided + kept;
    const S rate = result.rates[k] * blend;
    result.rates[k] = rate;
  }
  const S m = powers.attention_factor * detail::yarn_magnitude(*this);
  result.attention_factor = m;
  return result;
}

/// Returns the number by which DeepSeek's models multiply the attention scores besides m^2.
///
///     g(factor, mscale_all_dim)^2,  g(s, t) = 1 if s <= 1, else 1 + t ln(s) / 10
///
/// It belongs to the scale of the softmax and not to the rotation, so no table contains it. It is 1
/// if mscale_all_dim is 0, and 1.5896261651208735 for (40, 0.707).
///
/// \code{.cpp}
/// const double scale = er::yarn_softmax_multiplier(40.0, 0.707) / std::sqrt(192.0);
/// \endcode
///
/// \param factor          Yarn::factor; > 0
/// \param mscale_all_dim  Yarn::mscale_all_dim; finite
///
/// - Errors:   eigen_rope::Error unless factor > 0 and mscale_all_dim is finite.
/// - Error:    for numbers, the real result rounded once.
EIGEN_ROPE_API double yarn_softmax_multiplier(double factor, double mscale_all_dim);

/// Returns the multiplier of the attention scores for differentiable and other scalars, in their
/// own arithmetic.
///
/// \code{.cpp}
/// using Number = er::DoubleDouble;
/// const Number scores = er::yarn_softmax_multiplier(Number(40.0), Number(0.707));
/// \endcode
///
/// The formula, the arguments and the errors are those of the overload for doubles.
template <class S, std::enable_if_t<!std::is_arithmetic_v<S>, int> = 0>
S yarn_softmax_multiplier(const S& factor, const S& mscale_all_dim) {
  detail::require_valid_softmax(detail::passive(factor), detail::passive(mscale_all_dim));
  const S once = detail::yarn_mscale(factor, mscale_all_dim);
  const S twice = once * once;
  return twice;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
