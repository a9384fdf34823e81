// SPDX-License-Identifier: Apache-2.0
//
// Llama 3.1's scaling as Hugging Face defines it.
//
// Fast pairs keep their rates, slow pairs are divided by a factor, and a smooth band lies between
// them. With f_k the powers of powers.hpp and n_k the turns that pair k makes within the original
// context:
//
//   rate_k = linear_scale (f_k (1 - s_k) / factor + f_k s_k)      m = attention_factor
//   s_k    = clamp((n_k - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1)
//   n_k    = original_context |f_k| / (2 pi)
#pragma once

#include <array>
#include <vector>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The scaling of Llama 3.1 and 3.2 as Hugging Face defines it: fast pairs keep their rates, slow
/// ones are divided.
///
///     rate_k = linear_scale (f_k (1 - s_k) / factor + f_k s_k)
///     s_k    = clamp((n_k - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1)
///     n_k    = original_context |f_k| / (2 pi)
///
/// The smooth band includes both of its boundaries, where it meets its neighbours. If
/// low_freq_factor and high_freq_factor are equal, the band is a step: pairs with so many turns or
/// fewer are divided, and those with more keep their rates.
///
/// \code{.cpp}
/// const er::Frequencies f({128, 500000.0}, er::Llama3{8.0, 1.0, 4.0, 8192});  // Llama 3.1
/// \endcode
///
/// \see \ref scalings "Scalings, with plots"
template <class S = double>
struct Llama3 : detail::Parameters<Llama3<S>> {
  static constexpr const char* name = "llama3";  ///< The name in files and on the command line.
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"factor", "original_context"};
  /// Makes a scaling with the values of Llama 3.1.
  Llama3() = default;
  /// Makes a scaling from numbers in the order of the members: `{8.0, 1.0, 4.0, 8192}`.
  ///
  /// Real numbers are written as such, `8.0` and not `8`, and the context as an integer.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Llama3(const detail::RealArgument<S>& divisor, const detail::RealArgument<S>& low = S(1.0),
         const detail::RealArgument<S>& high = S(4.0), detail::Count context = 8192)
      : factor(divisor.value()),
        low_freq_factor(low.value()),
        high_freq_factor(high.value()),
        original_context(context.value()) {}

  /// The number that divides the rates of slow pairs; > 0. Powers::linear_scale multiplies the
  /// result, so it must be 1 to follow Hugging Face.
  S factor = S(8.0);
  /// The turns within the original context below which a pair is divided fully; >= 0.
  S low_freq_factor = S(1.0);
  /// The turns within the original context above which a pair keeps its rate; >= low_freq_factor.
  S high_freq_factor = S(4.0);
  /// The number of tokens the model was first trained with; >= 0.
  Index original_context = 8192;

  /// Computes the rates, and passes the attention factor on.
  ///
  /// On an edge of the band the derivative is that of the smooth band.
  ///
  /// \param powers  the rates before scaling
  /// \param length  it does not matter
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), and for a factor that is not positive,
  ///             negative freq factors or context, or a high freq factor below the low one.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    twice that of Powers::rates(); in the smooth band relative to f_k linear_scale
  ///             max(1, 1/factor) and 1 + high_freq_factor / (high_freq_factor - low_freq_factor)
  ///             times as much.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
