// SPDX-License-Identifier: Apache-2.0
//
// The rates of RoPE before any scaling: powers of a base.
//
//   f_k    = base^(-2 e_k / exponent_dims) / factor_k   radians per token; e_k = k unless told
//                                                       otherwise
//   rate_k = f_k linear_scale                           m = attention_factor
//
// They are computed for any scalar, so that derivatives flow from the parameters to the rates
// through any differentiable one. Each scaling builds on f_k and has a header of its own, which
// scaling.hpp lists. Frequencies and Cache::from_rates take the rates and make tables of them. This
// header does not need Eigen.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// One rate for each pair and the magnitude m, in any scalar, as Cache::from_rates() takes them.
///
/// \code{.cpp}
/// const er::Rates<> r = er::Powers{D, 10000.0}.rates();
/// const auto table = er::Cache<double>::from_rates(r.rates, r.attention_factor, positions);
/// \endcode
///
/// \see Powers::rates(), Frequencies
template <class S = double>
struct Rates {
  std::vector<S> rates;  ///< The rate of each pair, in radians per token.
  S attention_factor;    ///< The attention factor m, which multiplies cos and sin.
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

/// The parameters that every scaling begins with: powers of a base, one for each pair.
///
///     rate_k = base^(-2 e_k / exponent_dims) linear_scale / factor_k
///
/// S is any scalar with + - * / exp and log that can be made from a double. Powers can be compared,
/// printed (text(), `<<`) and converted to another scalar (cast()).
///
/// \code{.cpp}
/// er::Powers powers{D, 500000.0};
/// powers.linear_scale = 0.25;
/// const er::Cache<float> table(er::Frequencies::powers(powers), positions);
/// \endcode
///
/// \see Frequencies, powers_gradients(), \ref scalings "Scalings, with plots"
template <class S = double>
struct Powers : detail::Parameters<Powers<S>> {
  static constexpr const char* name = "powers";  ///< The word for powers in their printed form.
  /// Makes powers with the usual values of all members but rotary_dims, which must still be set.
  Powers() = default;
  /// Makes powers from numbers in the order of the members: `{128, 10000.0}`.
  ///
  /// Only the first is required. Dims are written as an integer and the base as a real number,
  /// `10000.0` and not `10000`, so that neither can stand for the other.
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

  /// The width of the rotated window (ggml's n_dims); even and positive. There are rotary_dims / 2
  /// pairs.
  Index rotary_dims = 0;
  /// The base of the powers (ggml's freq_base, Hugging Face's rope_theta); > 0.
  S base = S(10000.0);
  /// A number that multiplies every rate; > 0. It is ggml's freq_scale, and the reciprocal of
  /// Hugging Face's `factor`.
  S linear_scale = S(1.0);
  /// The attention factor m, which multiplies cos and sin; finite. It may be negative or zero, but
  /// a rotation with m = 0 has no inverse.
  S attention_factor = S(1.0);
  /// The divisor of the rate of each pair; finite and not 0. An empty list divides nothing;
  /// otherwise there is at least one per pair, and those beyond the pairs are ignored.
  std::vector<S> factors{};
  /// The exponents e_k of the pairs, as Sections::exponents() gives them. An empty list means 0, 1,
  /// 2, ...; otherwise there is exactly one per pair.
  std::vector<Index> exponents{};
  /// The divisor d of the exponents in base^(-2e/d); not negative, and 0 for rotary_dims. ggml's
  /// vision mode has d = rotary_dims / 2.
  Index exponent_dims = 0;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together: visit(name, parameter of the first, of the second, ...).
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

  /// Computes the rates f_k linear_scale, and passes the attention factor on.
  ///
  /// \code{.cpp}
  /// const std::vector<double> rates = er::Powers{D, 10000.0}.rates().rates;
  /// \endcode
  ///
  /// - Errors:   eigen_rope::Error for rotary dims that are odd or not positive, negative exponent
  ///             dims, a base or linear scale that is not positive, values or rates that are not
  ///             finite, factors of zero, too few factors, or exponents that are not one per pair.
  ///             The checks look at values only, not at derivatives.
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
