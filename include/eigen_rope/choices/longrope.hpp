// SPDX-License-Identifier: Apache-2.0
//
// LongRoPE, on top of the powers f_k of powers.hpp:
//
//   rate_k = f_k linear_scale / long_factor_k if length > original_context, else f_k linear_scale /
//       short_factor_k
//   m      = attention_factor sqrt(1 + ln factor / ln original_context), or as given
//
// Source: Ding et al. 2024 (arXiv 2402.13753); Hugging Face's modeling_rope_utils.py.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// What makes LongRoPE's m.
enum class LongRopeMagnitude {
  /// attention_factor sqrt(1 + ln factor / ln original_context), or attention_factor alone if
  /// factor <= 1.
  from_factor,
  /// attention_factor.
  given,
};
/// The enumerator as text: `from_factor`.
EIGEN_ROPE_API const char* name_of(LongRopeMagnitude magnitude);

/// LongRoPE: one divisor per pair, from one of two lists. m does not depend on the list. Cached
/// keys must be rerotated where a sequence passes original_context (rerotate.hpp); Hugging Face
/// drops or keeps them as they are.
template <class S = double>
struct LongRope : detail::Parameters<LongRope<S>> {
  static constexpr const char* name = "longrope";  ///< Its name in files and on the command line.
  static constexpr bool uses_length = true;  ///< Rates change with the length of the sequence.
  /// Parameters without a usual value.
  static constexpr std::array required{"short_factor", "long_factor", "original_context"};
  LongRope() = default;
  /// In the order of the members, the factor written as a real number: {short, long, 4096, 32.0}.
  LongRope(std::vector<S> short_divisors, std::vector<S> long_divisors,
           detail::Count context = 4096, const detail::RealArgument<S>& stretch = S(1.0),
           LongRopeMagnitude rule = LongRopeMagnitude::from_factor)
      : short_factor(std::move(short_divisors)),
        long_factor(std::move(long_divisors)),
        original_context(context.value()),
        factor(stretch.value()),
        magnitude(rule) {}

  /// Exactly one per pair in each; finite and not 0.
  std::vector<S> short_factor{};
  std::vector<S> long_factor{};  ///< For sequences longer than original_context.
  /// Tokens up to and including which the short list holds; > 0, and > 1 where m comes from factor
  /// > 1.
  Index original_context = 4096;
  /// > 0; only m depends on it. A missing one (context over original context) is the reader's to
  /// fill in.
  S factor = S(1.0);
  LongRopeMagnitude magnitude = LongRopeMagnitude::from_factor;  ///< The rule for m.

  /// For a sequence of `length` tokens.
  ///
  /// - Errors:   eigen_rope::Error as powers.rates(), and for lists that are not one non-zero
  ///             number per pair, frequency factors beside them, a factor or context that is not
  ///             positive, a negative length.
  /// - Error:    that of powers.rates(); m within (4 + 2 ln factor / ln original_context) u.
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("short_factor", objects.short_factor...);
    visit("long_factor", objects.long_factor...);
    visit("original_context", objects.original_context...);
    visit("factor", objects.factor...);
    visit("magnitude", objects.magnitude...);
  }
};

namespace detail {

EIGEN_ROPE_API void require_valid(const LongRope<>& longrope, const Powers<>& powers, Index length);

}  // namespace detail

template <class S>
Rates<S> LongRope<S>::rates(const Powers<S>& powers, Index length) const {
  using std::exp;
  using std::log;
  const Powers<> values = powers.template cast<double>();
  detail::require_valid(values);
  detail::require_valid(this->template cast<double>(), values, length);
  Powers<S> divided = powers;
  divided.factors = std::vector<S>(length > original_context ? long_factor : short_factor);
  Rates<S> result = divided.rates();
  if (magnitude == LongRopeMagnitude::given || detail::passive(factor) <= 1) return result;
  const S log_factor = log(factor);
  const S log_context = log(detail::constant<S>(DoubleDouble::from_integer(original_context)));
  const S ratio = log_factor / log_context;
  const S square = ratio + S(1.0);
  const S log_square = log(square);
  const S log_root = log_square / S(2.0);
  const S root = exp(log_root);
  const S m = powers.attention_factor * root;
  result.attention_factor = m;
  return result;
}

}  // namespace eigen_rope
