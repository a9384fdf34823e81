// SPDX-License-Identifier: Apache-2.0
//
// NTK-aware scalings, which change the base of the powers, or each rate by a power of the factor.
//
//   ntk_base      base factor^(d / (d - 2))
//                       stretches the slowest pair by factor, leaves the fastest alone
//   dynamic NTK   base' = base (1 + factor (L / original_context - 1))^(d / (d - 2)),
//                       L = max(length, original_context)
//   NTK           rate_k = f_k linear_scale factor^(-(2 (e_k + 1) / d)^mixed_b)
//                       mixed_b = 1, the fixed rule: the powers of base factor over factor^(2/d)
//
// f_k are the powers of powers.hpp and e_k their exponents (k unless told otherwise); d is their
// exponent_dims.
//
// Published code (Hugging Face's modeling_rope_utils.py, vLLM) computes in float; these are the
// real-number formulas, edge cases included. The state of a growing sequence is in dynamic_ntk.hpp.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Dynamic NTK scaling, whose base grows with the length of the sequence, as Hugging Face defines
/// it.
///
///     base' = base (1 + factor (L / original_context - 1))^(d / (d - 2))
///     L     = max(length, original_context),  d = exponent_dims
///
/// Short sequences are rotated as in training. vLLM's older static rule is this one at length =
/// factor * original_context. Cached keys must follow every change of the base; DynamicNtk says
/// when.
///
/// \code{.cpp}
/// const er::DynamicNtkScaling scaling{4.0, 2048};
/// const er::Frequencies f({D, 10000.0}, scaling, 8192);  // for a sequence of 8192 tokens
/// \endcode
///
/// \see DynamicNtk, \ref scalings "Scalings, with plots", \ref pitfalls "Pitfalls"
template <class S = double>
struct DynamicNtkScaling : detail::Parameters<DynamicNtkScaling<S>> {
  static constexpr const char* name = "dynamic";  ///< The name in files and on the command line.
  /// True: the rates change with the length of the sequence.
  static constexpr bool uses_length = true;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"factor", "original_context"};
  /// Makes a scaling with a factor of 1 and a context of 2048 tokens.
  DynamicNtkScaling() = default;
  /// Makes a scaling from numbers in the order of the members: `{4.0, 4096}`.
  ///
  /// The factor is written as a real number and the context as an integer, so that neither can
  /// stand for the other.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  DynamicNtkScaling(const detail::RealArgument<S>& stretch, detail::Count context = 2048)
      : factor(stretch.value()), original_context(context.value()) {}

  /// The number that says how fast the base grows with the length; > 0.
  S factor = S(1.0);
  /// The number of tokens up to which nothing changes (max_position_embeddings); > 0.
  Index original_context = 2048;

  /// Computes the rates, which are powers of base' instead of base.
  ///
  /// Up to the original context `factor` has derivative 0.
  ///
  /// \param powers  the rates before scaling
  /// \param length  the number of tokens of the sequence
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), and for 2 dims, a factor or context that is
  ///             not positive, a negative length, or a base that overflows.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    that of the powers and of dynamic_ntk_base().
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("original_context", objects.original_context...);
  }
};

/// The NTK scaling of vLLM, fixed or mixed, which is the same for all lengths.
///
///     rate_k = f_k linear_scale factor^(-(2 (e_k + 1) / d)^mixed_b)
///
/// The slowest pair is divided by the factor, and the faster a pair turns, the less it is divided.
/// mixed_b = 1 is the fixed rule, and mixed_b = 0 divides all rates by the factor.
///
/// \code{.cpp}
/// const er::Frequencies fixed({D, 10000.0}, er::NtkScaling{8.0});
/// const er::Frequencies mixed({D, 10000.0}, er::NtkScaling{8.0, 0.625});
/// \endcode
///
/// \see ntk_base(), \ref scalings "Scalings, with plots"
template <class S = double>
struct NtkScaling : detail::Parameters<NtkScaling<S>> {
  static constexpr const char* name = "ntk";  ///< The name in files and on the command line.
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"factor"};
  /// Makes a scaling with a factor of 1, which changes nothing.
  NtkScaling() = default;
  /// Makes a scaling from numbers in the order of the members: `{8.0, 0.625}`.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  NtkScaling(const S& stretch, const S& b = S(1.0)) : factor(stretch), mixed_b(b) {}

  /// The number that divides the rate of the slowest pair; > 0.
  S factor = S(1.0);
  /// The power b in exp(-ln(factor) (n / (d / 2))^b) with n = e_k + 1; finite and not negative. 1
  /// is the fixed rule.
  S mixed_b = S(1.0);
  static_assert(!detail::is_whole<S>,
                "[rope] the factor must be a floating-point or differentiable number: write 4.0 "
                "instead of 4");

  /// Computes the rates by vLLM's rule.
  ///
  /// \param powers  the rates before scaling
  /// \param length  it does not matter
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), for a factor that is not positive or a
  ///             negative mixed_b, and if a rate is not finite.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    that of the powers and (4 |ln factor| (1 + mixed_b |ln(2 / d)|) + 2) u.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
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

/// Returns the "NTK-aware" base, which stretches the slowest pair by `factor` and leaves the
/// fastest alone.
///
///     base factor^(dims / (dims - 2))
///
/// \code{.cpp}
/// const double base = er::ntk_base(D, 10000.0, 4.0);
/// const er::Frequencies stretched = er::Frequencies::powers({D, base});
/// \endcode
///
/// \param dims    the exponent_dims of the powers, d; > 2
/// \param base    the base of the powers; > 0
/// \param factor  the number by which the slowest pair is slowed down; > 0
///
/// - Errors:   eigen_rope::Error unless dims > 2, base > 0, factor > 0.
/// - Error:    for numbers, the real result rounded once.
EIGEN_ROPE_API double ntk_base(Index dims, double base, double factor);

/// Returns the "NTK-aware" base for differentiable and other scalars, in their own arithmetic.
///
/// \code{.cpp}
/// const er::DoubleDouble base = er::ntk_base(D, er::DoubleDouble(10000.0), er::DoubleDouble(4.0));
/// \endcode
///
/// The formula, the arguments and the errors are those of the overload for doubles.
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

/// Returns the base of dynamic NTK scaling for a sequence of `length` tokens.
///
///     base' = base (1 + factor (L / original_context - 1))^(dims / (dims - 2))
///     L     = max(length, original_context)
///
/// Up to the original context it is `base` itself. For dims 128, base 10000, context 2048 and
/// factor 10 it is 759702.231... at 16384 tokens.
///
/// \code{.cpp}
/// const er::DynamicNtkScaling scaling{10.0, 2048};
/// const double base = er::dynamic_ntk_base(128, 10000.0, scaling, 16384);  // 759702.231...
/// \endcode
///
/// \param dims    the exponent_dims of the powers, d; > 2, because the formula divides by dims - 2
/// \param base    the base of the powers; > 0
/// \param ntk     the factor and the original context
/// \param length  the number of tokens of the sequence; not negative
///
/// - Errors:   eigen_rope::Error if an argument is out of range, or if the base overflows.
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
