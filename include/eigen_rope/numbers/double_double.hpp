// SPDX-License-Identifier: Apache-2.0
//
// A number of about 106 bits: the unevaluated sum of two doubles, high + low with |low| <=
// ulp(high)/2.
//
// Rates are held in it, because position * rate loses |position| * 2^-53 radians when the rate is a
// double. At position 2^31 that is 2^-22 radians, more than the rounding of a float. The operations
// are built from the classical error-free transformations (Dekker 1971; Knuth, TAOCP vol. 2,
// 4.2.2). They are too slow for inner loops.
#pragma once

#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// A number of about 106 bits, held as the sum of two doubles.
///
///     value = high + low
///
/// It is 0 unless told otherwise and converts from double exactly. Each operation states its error.
///
/// \code{.cpp}
/// er::DoubleDouble third = er::DoubleDouble(1.0) / er::DoubleDouble(3.0);
/// double nearest = static_cast<double>(third);
/// std::cout << third << "\n";  // both parts, with all their digits
/// \endcode
struct DoubleDouble {
  double high = 0;  ///< The double nearest to the value.
  double low = 0;   ///< The value less high; at most half an ulp of high in size.

  /// Makes 0.
  constexpr DoubleDouble() = default;
  /// Makes exactly this double.
  // NOLINTNEXTLINE(google-explicit-constructor): exact
  constexpr DoubleDouble(double value) : high(value) {}
  /// Makes the sum h + l, where |l| is at most half an ulp of h.
  constexpr DoubleDouble(double h, double l) : high(h), low(l) {}

  /// Returns a 64-bit integer, exactly.
  static DoubleDouble from_integer(std::int64_t value);

  /// Returns the nearest double.
  explicit constexpr operator double() const { return high + low; }

  /// Returns whether both numbers have the same high and the same low, as equal numbers do where
  /// high is the nearest double. Every operation here leaves it so.
  friend constexpr bool operator==(DoubleDouble a, DoubleDouble b) {
    return a.high == b.high && a.low == b.low;
  }
  /// Returns whether two numbers differ.
  friend constexpr bool operator!=(DoubleDouble a, DoubleDouble b) { return !(a == b); }
  /// Returns whether a is less than b.
  friend constexpr bool operator<(DoubleDouble a, DoubleDouble b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }

  /// Returns the number as text, such as `0.1 + 5.55e-18`: both parts with all their digits, the
  /// low one only where it is not 0.
  EIGEN_ROPE_API std::string text() const;
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, DoubleDouble x);

  /// Returns e^x.
  ///
  /// \code{.cpp}
  /// er::DoubleDouble e = exp(er::DoubleDouble(1.0));
  /// \endcode
  ///
  /// - Error:    about 2^-98 of the result, where it is in double's normal range. It is infinite
  ///             above 709.79, and 0 below -745.
  friend EIGEN_ROPE_API DoubleDouble exp(DoubleDouble x);
  /// Returns the natural logarithm of x, for x >= 0.
  ///
  /// \code{.cpp}
  /// er::DoubleDouble log_of_base = log(er::DoubleDouble(10000.0));
  /// \endcode
  ///
  /// - Error:    about 2^-98 of max(1, |log x|). The logarithm of 0 is -infinity, that of infinity
  ///             is infinity.
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

/// Returns -a, exactly.
inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

/// Returns a + b, with an error of about 2^-104 of |a| + |b|.
inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = detail::two_sum(a.high, b.high);
  const DoubleDouble t = detail::two_sum(a.low, b.low);
  s = detail::quick_two_sum(s.high, s.low + t.high);
  return detail::quick_two_sum(s.high, s.low + t.low);
}

/// Returns a - b, with an error of about 2^-104 of |a| + |b|.
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + (-b); }

/// Returns a * b, with an error of about 2^-102 of the product.
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = detail::two_product(a.high, b.high);
  return detail::quick_two_sum(
      p.high, p.low + detail::rounded_sum_of_products(a.high, b.low, a.low, b.high));
}

/// Returns a / b, with an error of about 2^-100 of the quotient.
inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double q1 = a.high / b.high;
  DoubleDouble r = a - b * DoubleDouble(q1);
  const double q2 = r.high / b.high;
  r = r - b * DoubleDouble(q2);
  const double q3 = r.high / b.high;
  return detail::quick_two_sum(q1, q2) + DoubleDouble(q3);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
