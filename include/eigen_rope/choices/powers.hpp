// SPDX-License-Identifier: Apache-2.0
//
// The rates that every scaling begins with: powers of a base, for any scalar. Derivatives flow from
// parameters to rates through any differentiable one.
//
//   f_k    = base^(-2 e_k / exponent_dims) / factor_k   radians per token; e_k = k unless told
//                                                       otherwise
//   rate_k = f_k linear_scale                           m = attention_factor
//
// What a scaling makes of them stands in a header of its own (scaling.hpp lists them). Frequencies
// and Cache::from_rates say what is done with rates. Nothing here needs Eigen.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "eigen_rope/choices/detail/parameters.hpp"
#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// One rate (radians per token) for each pair, and the magnitude m: what Cache::from_rates takes.
template <class S = double>
struct Rates {
  std::vector<S> rates;  ///< Radians per token.
  S attention_factor;    ///< m.
};

namespace detail {

/// Powers of whole numbers have no such class. (Asserted in Powers itself, Clang would take its
/// base away and complain of that, too.)
template <class S>
struct PowersScalar {
  static_assert(!is_whole<S>,
                "[rope] the parameters of rates must be floating-point or differentiable numbers, "
                "not integers");
};

}  // namespace detail

/// What every scaling begins with: powers of a base. S is any scalar with + - * / exp and log, made
/// from a double.
template <class S = double>
struct Powers : detail::Parameters<Powers<S>> {
  static constexpr const char* name = "powers";  ///< Its name in files and on the command line.
  Powers() = default;
  /// In the order of the members. Dims are an integer and the base a real number, so that neither
  /// can stand for the other: {128, 10000.0}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Powers(detail::Count dims, const detail::RealArgument<S>& theta = S(10000.0),
         const S& scale = S(1.0), const S& m = S(1.0), std::vector<S> divisors = {},
         std::vector<Index> powers = {}, Index dims_of_exponents = 0)
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
  /// Divides the rate of each pair; finite and not 0. Empty for none, otherwise at least one per
  /// pair; more are ignored.
  std::vector<S> factors{};
  /// The power of each pair (Sections::exponents); empty for 0, 1, 2, ...; otherwise exactly one
  /// per pair.
  std::vector<Index> exponents{};
  /// d of base^(-2e/d); 0 for rotary_dims. ggml's vision mode has d = rotary_dims / 2.
  Index exponent_dims = 0;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("rotary_dims", objects.rotary_dims...);
    visit("base", objects.base...);
    visit("linear_scale", objects.linear_scale...);
    visit("attention_factor", objects.attention_factor...);
    visit("factors", objects.factors...);
    visit("exponents", objects.exponents...);
    visit("exponent_dims", objects.exponent_dims...);
  }

  /// f_k linear_scale, and the attention factor.
  ///
  /// - Errors:   eigen_rope::Error for odd or non-positive dims, base <= 0, scale <= 0, non-finite
  ///             values, zero factors, too few of them, looking at values only.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    in S's own arithmetic with unit roundoff u and exp and log good to an ulp, (4 |ln
  ///             base^(-2 e_k / d)| + 4) u relative.
  /// - Cost:     O(pairs).
  Rates<S> rates() const;

  static_assert(sizeof(detail::PowersScalar<S>) != 0);
};

namespace detail {

// The checks, on values. Compiled once; they throw eigen_rope::Error.
EIGEN_ROPE_API void require_valid(const Powers<>& powers);
EIGEN_ROPE_API void require_finite_rate(std::size_t pair, double rate);

template <class S>
Index exponent_dims(const Powers<S>& powers) {
  return powers.exponent_dims == 0 ? powers.rotary_dims : powers.exponent_dims;
}

/// A constant with as many digits as S has, up to 106 bits.
template <class S>
S constant(DoubleDouble value) {
  if (value.low == 0) return S(value.high);
  return S(value.high) + S(value.low);
}

// Below and in the scalings, one operation a statement, each stored as S: the operators of
// differentiable scalars may return expressions that refer to their operands.

/// base^(-2 e_k / d) / factor_k
template <class S>
std::vector<S> unscaled_rates(const Powers<S>& powers) {
  using std::exp;
  using std::log;
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  const S log_base = log(powers.base);
  const S dims = S(static_cast<double>(exponent_dims(powers)));
  std::vector<S> rates;
  checked_product("the number of bytes of all rates", static_cast<Index>(pairs), sizeof(S));
  rates.reserve(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto power = powers.exponents.empty() ? static_cast<double>(k)
                                                : static_cast<double>(powers.exponents[k]);
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

}  // namespace detail

template <class S>
Rates<S> Powers<S>::rates() const {
  detail::require_valid(this->template cast<double>());
  std::vector<S> result = detail::unscaled_rates(*this);
  for (S& rate : result) {
    const S scaled = rate * linear_scale;
    rate = scaled;
  }
  return {std::move(result), attention_factor};
}

}  // namespace eigen_rope
