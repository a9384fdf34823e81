// SPDX-License-Identifier: Apache-2.0
//
// A number as the unevaluated sum of two doubles, high + low with |low| <= ulp(high)/2: about 106
// bits.
//
// Rates are carried in it because position * rate loses |position| * 2^-53 radians when the rate is
// a double: half a turn's worth of digits at position 2^31. The operations are the classical
// error-free transformations (Dekker 1971; Knuth, TAOCP vol. 2, 4.2.2) and are exact up to a
// relative error of about 2^-102 each. Not an arbitrary-precision type, and not meant for inner
// loops.
#pragma once

#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// high + low. Value-initialised to zero; converts from double exactly.
///
/// - Error:    exp(x) and log(x) are good to about 2^-98 as the operators are.
struct DoubleDouble {
  double high = 0;  ///< The nearest double.
  double low = 0;   ///< What high leaves; at most half an ulp of it.

  constexpr DoubleDouble() = default;
  /// Exactly this double.
  // NOLINTNEXTLINE(google-explicit-constructor): exact
  constexpr DoubleDouble(double value) : high(value) {}
  /// The sum of two doubles that do not overlap.
  constexpr DoubleDouble(double h, double l) : high(h), low(l) {}

  /// A 64-bit integer, exactly.
  static DoubleDouble from_integer(std::int64_t value);

  /// The nearest double.
  explicit constexpr operator double() const { return high + low; }

  /// The same digits: two sums of one number are equal where high is its nearest double, as every
  /// operation here leaves it.
  friend constexpr bool operator==(DoubleDouble a, DoubleDouble b) {
    return a.high == b.high && a.low == b.low;
  }
  friend constexpr bool operator!=(DoubleDouble a, DoubleDouble b) { return !(a == b); }
  friend constexpr bool operator<(DoubleDouble a, DoubleDouble b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }

  /// `0.1 + 5.55e-18`, each with all its digits; the low part only where it is not 0.
  EIGEN_ROPE_API std::string text() const;
  /// Writes text().
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, DoubleDouble x);

  /// e^x to about 2^-98, for results in double's normal range.
  friend EIGEN_ROPE_API DoubleDouble exp(DoubleDouble x);
  /// The natural logarithm of x > 0 to about 2^-98 of max(1, |log x|); infinite at 0 and infinity.
  friend EIGEN_ROPE_API DoubleDouble log(DoubleDouble x);
};

namespace detail {

/// a + b without error.
inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b;
  const double bb = s - a;
  return {s, (a - (s - bb)) + (b - bb)};
}

/// a + b without error, for |a| >= |b|.
inline DoubleDouble quick_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

/// a * b without error.
inline DoubleDouble two_product(double a, double b) {
  const double p = detail::rounded_product(a, b);
  return {p, std::fma(a, b, -p)};
}

inline constexpr DoubleDouble two_pi{6.2831853071795862, 2.4492935982947064e-16};

}  // namespace detail

inline DoubleDouble DoubleDouble::from_integer(std::int64_t value) {
  const auto upper = static_cast<double>(value >> 32) * 4294967296.0;
  return detail::quick_two_sum(upper, static_cast<double>(value & 0xffffffff));
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }  ///< Exact.

/// To about 2^-104 of |a| + |b|.
inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = detail::two_sum(a.high, b.high);
  const DoubleDouble t = detail::two_sum(a.low, b.low);
  s = detail::quick_two_sum(s.high, s.low + t.high);
  return detail::quick_two_sum(s.high, s.low + t.low);
}

inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + (-b); }  ///< As the sum.

/// To about 2^-102 of the product.
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = detail::two_product(a.high, b.high);
  return detail::quick_two_sum(
      p.high, p.low + detail::rounded_sum_of_products(a.high, b.low, a.low, b.high));
}

/// To about 2^-100 of the quotient.
inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double q1 = a.high / b.high;
  DoubleDouble r = a - b * DoubleDouble(q1);
  const double q2 = r.high / b.high;
  r = r - b * DoubleDouble(q2);
  const double q3 = r.high / b.high;
  return detail::quick_two_sum(q1, q2) + DoubleDouble(q3);
}

}  // namespace eigen_rope
