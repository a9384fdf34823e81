// SPDX-License-Identifier: Apache-2.0
//
// A double-double rounded once, to nearest even, to any scalar a table can hold.
//
// Rounding to double and then again to float would round twice: a value just beside the midpoint of
// two floats lands on it first. So the intermediate types are rounded to odd: inexact results get
// an odd last bit, which no later rounding can mistake for a tie (Boldo and Melquiond 2008).
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "eigen_rope/numbers/double_double.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The double with an odd last bit next to v, or v itself where it is a double.
inline double to_odd_double(DoubleDouble v) {
  if (v.low == 0 || !std::isfinite(v.high)) return v.high;
  std::uint64_t bits;
  std::memcpy(&bits, &v.high, sizeof bits);
  if (bits & 1) return v.high;
  // v.high is even and inexact: its odd neighbour lies on the side of v.low. Away from zero if the
  // signs agree.
  bits += (v.low > 0) == (v.high > 0) ? 1 : std::uint64_t(-1);
  double odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

/// The float with an odd last bit next to v, or v itself where it is a float.
inline float to_odd_float(double v) {
  const auto nearest = static_cast<float>(v);
  if (static_cast<double>(nearest) == v || !std::isfinite(nearest)) return nearest;
  std::uint32_t bits;
  std::memcpy(&bits, &nearest, sizeof bits);
  if (bits & 1) return nearest;
  bits += (v > static_cast<double>(nearest)) == (v > 0) ? 1 : std::uint32_t(-1);
  float odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

template <class Scalar>
Scalar round_once(DoubleDouble v) {
  if constexpr (std::is_same_v<Scalar, double>) {
    return v.high;
  } else if constexpr (std::is_same_v<Scalar, long double>) {
    return static_cast<long double>(v.high) + static_cast<long double>(v.low);
  } else if constexpr (std::is_same_v<Scalar, float>) {
    return static_cast<float>(to_odd_double(v));
  } else {
    return static_cast<Scalar>(to_odd_float(to_odd_double(v)));
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
