// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/numbers/double_double.hpp"

#include <fmt/core.h>

#include <limits>
#include <ostream>

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

using detail::two_product;

constexpr DoubleDouble ln2{0.69314718055994529, 2.3190468138462996e-17};
constexpr double ln2_third_part = 5.7077084384162121e-34;

/// x - k ln(2) without the relative error of the product, which would grow with k.
DoubleDouble without_powers_of_2(DoubleDouble x, double k) {
  return x - two_product(k, ln2.high) - two_product(k, ln2.low) - DoubleDouble(k * ln2_third_part);
}

}  // namespace

std::string DoubleDouble::text() const {
  return low == 0 ? fmt::format("{}", high) : fmt::format("{} + {}", high, low);
}

std::ostream& operator<<(std::ostream& stream, DoubleDouble x) { return stream << x.text(); }

DoubleDouble exp(DoubleDouble x) {
  if (std::isnan(x.high)) return x;
  if (x.high > 709.79) return {std::numeric_limits<double>::infinity(), 0};
  if (x.high < -745.0) return {0, 0};
  // e^x = 2^k (e^r)^512 with |r| <= ln(2)/1024; e^r - 1 is squared up as p -> 2p + p^2, which keeps
  // the digits that 1 + p would lose.
  const double k = std::nearbyint(x.high / ln2.high);
  const DoubleDouble rest = without_powers_of_2(x, k);
  const DoubleDouble r{rest.high / 512, rest.low / 512};
  DoubleDouble p{};
  for (int n = 9; n >= 1; --n) p = (p + DoubleDouble(1)) * r / DoubleDouble(n);
  for (int i = 0; i < 9; ++i) p = p + p + p * p;
  p = p + DoubleDouble(1);
  return {std::ldexp(p.high, static_cast<int>(k)), std::ldexp(p.low, static_cast<int>(k))};
}

DoubleDouble log(DoubleDouble x) {
  if (x.high == 0) return {-std::numeric_limits<double>::infinity(), 0};
  if (!std::isfinite(x.high)) return x;
  // Far from 1, where e^-y would not be a normal number, by the logarithm of x / 2^k.
  const int exponent = std::ilogb(x.high);
  if (std::abs(exponent) > 900) {
    const DoubleDouble scaled{std::ldexp(x.high, -exponent), std::ldexp(x.low, -exponent)};
    return log(scaled) + ln2 * DoubleDouble(exponent);
  }
  // Newton on e^y = x doubles the digits of the double-precision start; the second step only
  // removes what the first left in the last bits.
  DoubleDouble y(std::log(x.high));
  for (int i = 0; i < 2; ++i) y = y + (x * exp(-y) - DoubleDouble(1));
  return y;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
