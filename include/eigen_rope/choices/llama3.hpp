// SPDX-License-Identifier: Apache-2.0
//
// Llama 3.1's scaling as Hugging Face defines it, on top of the powers f_k of powers.hpp:
//
//   rate_k = linear_scale (f_k (1 - s_k) / factor + f_k s_k)      m = attention_factor
//   s_k    = clamp((n_k - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1),
//                       n_k = original_context |f_k| / (2 pi)
#pragma once

#include <array>
#include <vector>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// What Llama 3.1's scaling adds to the powers, as Hugging Face defines it. Both boundaries belong
/// to the smooth band, which meets its neighbours there. Equal low and high leave a step: pairs
/// with fewer or as many turns are divided, those with more are kept.
template <class S = double>
struct Llama3 : detail::Parameters<Llama3<S>> {
  static constexpr const char* name = "llama3";  ///< Its name in files and on the command line.
  /// Whether rates change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// Parameters without a usual value.
  static constexpr std::array required{"factor", "original_context"};
  Llama3() = default;
  /// In the order of the members, real numbers written as such: {8.0, 1.0, 4.0, 8192}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Llama3(const detail::RealArgument<S>& divisor, const detail::RealArgument<S>& low = S(1.0),
         const detail::RealArgument<S>& high = S(4.0), detail::Count context = 8192)
      : factor(divisor.value()),
        low_freq_factor(low.value()),
        high_freq_factor(high.value()),
        original_context(context.value()) {}

  /// Divides the rates of slow pairs; > 0. linear_scale comes on top: leave it 1 to follow Hugging
  /// Face.
  S factor = S(8.0);
  /// Turns within the original context below which a pair is divided fully; >= 0.
  S low_freq_factor = S(1.0);
  /// Turns above which a pair keeps its rate; >= low_freq_factor.
  S high_freq_factor = S(4.0);
  /// In tokens; >= 0.
  Index original_context = 8192;

  /// Llama 3.1's three bands.
  ///
  /// Kinks: on a band's edge the derivative is that of the smooth band.
  ///
  /// - Errors:   eigen_rope::Error as powers.rates(), and for a factor that is not positive,
  ///             negative freq factors or context, or a high freq factor below the low one.
  /// - Error:    twice that of powers.rates(); in the smooth band relative to f_k linear_scale
  ///             max(1, 1/factor) and 1 + high_freq_factor / (high_freq_factor - low_freq_factor)
  ///             times as much.
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("low_freq_factor", objects.low_freq_factor...);
    visit("high_freq_factor", objects.high_freq_factor...);
    visit("original_context", objects.original_context...);
  }
};

namespace detail {

EIGEN_ROPE_API void require_valid(const Llama3<>& llama3);

/// f (1 - s) / factor + f s, s = clamp(..., 0, 1)
template <class S>
S llama3_rate(const S& rate, const Llama3<S>& llama3) {
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

template <class S>
Rates<S> Llama3<S>::rates(const Powers<S>& powers, Index /*length*/) const {
  detail::require_valid(powers.template cast<double>());
  detail::require_valid(this->template cast<double>());
  std::vector<S> rates = detail::unscaled_rates(powers);
  for (S& rate : rates) {
    const S blended = detail::llama3_rate(rate, *this);
    const S scaled = blended * powers.linear_scale;
    rate = scaled;
  }
  return {std::move(rates), powers.attention_factor};
}

}  // namespace eigen_rope
