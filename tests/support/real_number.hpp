// SPDX-License-Identifier: Apache-2.0
//
// Numbers with 200 bits to compare with: what the library's doubles, pairs of doubles and table
// entries are measured against.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <type_traits>

#include "eigen_rope/numbers/double_double.hpp"

namespace eigen_rope::test {

using Real = boost::multiprecision::number<
    boost::multiprecision::backends::cpp_bin_float<
        200, boost::multiprecision::backends::digit_base_2, void, std::int32_t, -100000, 100000>,
    boost::multiprecision::et_off>;

/// The value of any scalar, exactly.
template <class Scalar>
Real exactly(const Scalar& value) {
  if constexpr (std::is_same_v<Scalar, DoubleDouble>) {
    return Real(value.high) + Real(value.low);
  } else if constexpr (std::is_arithmetic_v<Scalar>) {
    return Real(value);
  } else {
    return Real(static_cast<float>(value));
  }
}

/// 2^exponent, for every exponent of a long double.
inline Real two_to(int exponent) { return Real(std::ldexp(1.0L, exponent)); }

/// |actual - expected| / |expected|; `expected` is not 0.
inline Real relative_error(const Real& actual, const Real& expected) {
  return abs((actual - expected) / expected);
}

/// The distance from |value| to the next larger number of its type, subnormal numbers included.
template <class Scalar>
Real ulp(const Scalar& value) {
  using Limits = std::numeric_limits<Scalar>;
  const Real size = abs(exactly(value));
  const int lowest = Limits::min_exponent - 1;
  const int exponent = size == 0 ? lowest : std::max(boost::multiprecision::ilogb(size), lowest);
  return two_to(exponent - (Limits::digits - 1));
}

}  // namespace eigen_rope::test
