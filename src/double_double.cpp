// SPDX-License-Identifier: Apache-2.0
#include "rope/double_double.hpp"

#include <limits>

namespace rope {
namespace {

constexpr DoubleDouble ln2{0.69314718055994529, 2.3190468138462996e-17};

}  // namespace

DoubleDouble exp(DoubleDouble x) {
  if (x.high > 709.7) return {std::numeric_limits<double>::infinity(), 0};
  if (x.high < -745.0) return {0, 0};
  // e^x = 2^k (e^r)^512 with |r| <= ln(2)/1024; e^r - 1 is squared up as p -> 2p + p^2, which keeps the digits that 1 + p would lose.
  const double k = std::nearbyint(x.high / ln2.high);
  const DoubleDouble rest = x - ln2 * DoubleDouble(k);
  const DoubleDouble r{rest.high / 512, rest.low / 512};
  DoubleDouble p{};
  for (int n = 9; n >= 1; --n) p = (p + DoubleDouble(1)) * r / DoubleDouble(n);
  for (int i = 0; i < 9; ++i) p = p + p + p * p;
  p = p + DoubleDouble(1);
  return {std::ldexp(p.high, static_cast<int>(k)), std::ldexp(p.low, static_cast<int>(k))};
}

DoubleDouble log(DoubleDouble x) {
  if (x.high == 0) return {-std::numeric_limits<double>::infinity(), 0};
  if (std::isinf(x.high)) return x;
  // Newton on e^y = x doubles the digits of the double-precision start; the second step only removes what the first left in the last bits.
  DoubleDouble y(std::log(x.high));
  for (int i = 0; i < 2; ++i) y = y + (x * exp(-y) - DoubleDouble(1));
  return y;
}

}  // namespace rope
