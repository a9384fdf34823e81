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

/// 1 / n! for n from 7 down to 2, and those of 13 to 8, which need no more than a double's digits.
constexpr DoubleDouble inverse_factorials[] = {
    {0.0001984126984126984, 1.7209558293420705e-22}, {0.001388888888888889, -5.300543954373577e-20},
    {0.008333333333333333, 1.1564823173178714e-19},  {0.041666666666666664, 2.3129646346357427e-18},
    {0.16666666666666666, 9.25185853854297e-18},     {0.5, 0.0},
};
constexpr double last_inverse_factorials[] = {1.6059043836821613e-10, 2.08767569878681e-09,
                                              2.505210838544172e-08,  2.755731922398589e-07,
                                              2.7557319223985893e-06, 2.48015873015873e-05};

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
  // e^x = 2^k (e^r)^32 with |r| <= ln(2)/64; e^r - 1 is squared up as p -> 2p + p^2, which keeps
  // the digits that 1 + p would lose. The series' terms from r^8 on lie 2^-60 below its first.
  const double k = std::nearbyint(x.high / ln2.high);
  const DoubleDouble rest = without_powers_of_2(x, k);
  const DoubleDouble r{rest.high / 32, rest.low / 32};
  double last = 0;
  for (const double coefficient : last_inverse_factorials) last = last * r.high + coefficient;
  DoubleDouble p(last);
  for (const DoubleDouble coefficient : inverse_factorials) p = p * r + coefficient;
  p = (p * r + DoubleDouble(1)) * r;
  for (int i = 0; i < 5; ++i) p = p + p + p * p;
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
