// SPDX-License-Identifier: Apache-2.0
//
// NTK-aware scalings, which change the base or each rate by a power of the factor, on top of the
// powers f_k of powers.hpp (d = exponent_dims, e_k = k):
//
//   base          base factor^(d / (d - 2))
//                       ntk_base: stretches the slowest pair by factor, leaves the fastest
//   dynamic NTK   base' = base (1 + factor (L / original_context - 1))^(d / (d - 2)),
//                       L = max(length, original_context)
//   NTK           rate_k = f_k factor^(-(2 (e_k + 1) / d)^mixed_b)
//                       mixed_b = 1, the fixed rule: base factor, over factor^(2/d)
//
// Published code (Hugging Face's modeling_rope_utils.py, vLLM) computes in float; these are the
// real-number formulas, edge cases included. dynamic_ntk.hpp keeps the state of a growing sequence.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// Dynamic NTK: the base depends on the length of the sequence. As Hugging Face; vLLM's older
/// static rule is length = factor * context.
template <class S = double>
struct DynamicNtkScaling : detail::Parameters<DynamicNtkScaling<S>> {
  static constexpr const char* name = "dynamic";  ///< Its name in files and on the command line.
  static constexpr bool uses_length = true;       ///< Rates change with the length of the sequence.
  /// Parameters without a usual value.
  static constexpr std::array required{"factor", "original_context"};
  DynamicNtkScaling() = default;
  /// In the order of the members, the factor written as a real number: {4.0, 4096}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  DynamicNtkScaling(const detail::RealArgument<S>& stretch, detail::Count context = 2048)
      : factor(stretch.value()), original_context(context.value()) {}

  /// > 0.
  S factor = S(1.0);
  /// Tokens up to which nothing changes (max_position_embeddings); > 0.
  Index original_context = 2048;

  /// Powers of base'. Up to the original context `factor` has derivative 0.
  ///
  /// - Errors:   eigen_rope::Error as powers.rates(), and for 2 dims, a factor or context that is
  ///             not positive, a negative length, or a base that overflows.
  /// - Error:    that of the powers and of dynamic_ntk_base.
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("original_context", objects.original_context...);
  }
};

/// vLLM's NTK scaling, fixed and mixed.
template <class S = double>
struct NtkScaling : detail::Parameters<NtkScaling<S>> {
  static constexpr const char* name = "ntk";  ///< Its name in files and on the command line.
  /// Whether rates change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// Parameters without a usual value.
  static constexpr std::array required{"factor"};
  NtkScaling() = default;
  /// In the order of the members: {8.0, 0.625}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  NtkScaling(const S& stretch, const S& b = S(1.0)) : factor(stretch), mixed_b(b) {}

  /// > 0.
  S factor = S(1.0);
  /// b of exp(-ln(factor) (m / (d / 2))^b), m = e_k + 1; finite and not negative. 1 is the fixed
  /// rule.
  S mixed_b = S(1.0);
  static_assert(!detail::is_whole<S>,
                "[rope] the factor must be a floating-point or differentiable number: write 4.0 "
                "instead of 4");

  /// vLLM's rule for all lengths.
  ///
  /// - Errors:   as powers.rates(), and for a factor that is not positive or a negative mixed_b.
  /// - Error:    that of the powers and (4 |ln factor| (1 + mixed_b |ln(2 / d)|) + 2) u.
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("mixed_b", objects.mixed_b...);
  }
};

namespace detail {

EIGEN_ROPE_API void require_valid(const DynamicNtkScaling<>& ntk, Index length);
EIGEN_ROPE_API void require_finite_base(double stretched, Index length);
EIGEN_ROPE_API void require_valid(const NtkScaling<>& ntk);
EIGEN_ROPE_API void require_valid_ntk(Index dims, double base, double factor);

}  // namespace detail

/// base * factor^(dims / (dims - 2)): the base that stretches the slowest pair by `factor` and
/// leaves the fastest alone ("NTK-aware").
///
/// - Errors:   eigen_rope::Error unless dims > 2, base > 0, factor > 0.
/// - Error:    for numbers, the real result rounded once.
EIGEN_ROPE_API double ntk_base(Index dims, double base, double factor);

/// The same for differentiable and other scalars, in their own arithmetic.
template <class S,
          std::enable_if_t<!std::is_arithmetic_v<S> || std::is_same_v<S, long double>, int> = 0>
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

/// base' of the formula above; `base` itself up to the original context. dims > 2: with 2 the
/// formula divides by 0. For dims 128, base 10000, context 2048 and factor 10: 759702.231... at
/// 16384 tokens.
///
/// - Error:    (2 ln(base' / base) + 12) u.
template <class S>
S dynamic_ntk_base(Index dims, const S& base, const DynamicNtkScaling<S>& ntk, Index length) {
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

template <class S>
Rates<S> DynamicNtkScaling<S>::rates(const Powers<S>& powers, Index length) const {
  detail::require_valid(powers.template cast<double>());
  Powers<S> stretched = powers;
  stretched.base = dynamic_ntk_base(detail::exponent_dims(powers), powers.base, *this, length);
  return stretched.rates();
}

template <class S>
Rates<S> NtkScaling<S>::rates(const Powers<S>& powers, Index /*length*/) const {
  using std::exp;
  using std::log;
  detail::require_valid(powers.template cast<double>());
  detail::require_valid(this->template cast<double>());
  Rates<S> result = powers.rates();
  const S log_factor = log(factor);
  const S dims = S(static_cast<double>(detail::exponent_dims(powers)));
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    const auto exponent =
        static_cast<double>(powers.exponents.empty() ? static_cast<Index>(k) : powers.exponents[k]);
    const S place = S(2 * (exponent + 1)) / dims;
    const S log_place = log(place);
    const S log_share = mixed_b * log_place;
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

}  // namespace eigen_rope
