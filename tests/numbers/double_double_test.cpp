// SPDX-License-Identifier: Apache-2.0
//
// Pairs of doubles against 200-bit arithmetic: sums and products without error, the four operations
// to 2^-102, exp and log to 2^-98.
#include "eigen_rope/numbers/double_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/real_number.hpp"

namespace eigen_rope::double_double_tests {
namespace {

using test::exactly;
using test::Real;
using test::relative_error;
using test::two_to;

constexpr int samples = 2000;
const Real operation_bound = two_to(-102);
const Real function_bound = two_to(-98);

/// Doubles of both signs, magnitudes spread evenly over 2^-40 to 2^40, all 53 bits in use.
class Doubles {
 public:
  double operator()() {
    return std::ldexp(fraction_(engine_) * (sign_(engine_) ? 1 : -1), exponent_(engine_));
  }
  /// A normalised pair.
  DoubleDouble pair() {
    const double high = (*this)();
    return detail::quick_two_sum(high, high * std::ldexp(fraction_(engine_) - 0.75, -52));
  }

 private:
  std::mt19937_64 engine_{20250611};
  std::uniform_real_distribution<double> fraction_{0.5, 1.0};
  std::uniform_int_distribution<int> exponent_{-40, 40};
  std::bernoulli_distribution sign_;
};

TEST(DoubleDouble, SumsOfTwoDoublesAreExact) {
  Doubles next;
  for (int i = 0; i < samples; ++i) {
    const double a = next();
    const double b = next();
    const DoubleDouble sum = detail::two_sum(a, b);
    EXPECT_EQ(exactly(sum), exactly(a) + exactly(b)) << a << " + " << b;
    EXPECT_EQ(sum.high, a + b);
    const DoubleDouble quick =
        std::abs(a) >= std::abs(b) ? detail::quick_two_sum(a, b) : detail::quick_two_sum(b, a);
    EXPECT_EQ(quick.high, sum.high);
    EXPECT_EQ(quick.low, sum.low);
  }
}

TEST(DoubleDouble, ProductsOfTwoDoublesAreExact) {
  Doubles next;
  for (int i = 0; i < samples; ++i) {
    const double a = next();
    const double b = next();
    const DoubleDouble product = detail::two_product(a, b);
    EXPECT_EQ(exactly(product), exactly(a) * exactly(b)) << a << " * " << b;
    EXPECT_EQ(product.high, a * b);
  }
}

TEST(DoubleDouble, FourOperationsReachTheirBoundAndStayNormalised) {
  Doubles next;
  for (int i = 0; i < samples; ++i) {
    const DoubleDouble a = next.pair();
    const DoubleDouble b = next.pair();
    const auto check = [](DoubleDouble actual, const Real& expected) {
      EXPECT_LE(relative_error(exactly(actual), expected), operation_bound);
      EXPECT_EQ(actual.high + actual.low, actual.high) << "high must be the sum's nearest double";
    };
    check(a + b, exactly(a) + exactly(b));
    check(a - b, exactly(a) - exactly(b));
    check(a * b, exactly(a) * exactly(b));
    check(a / b, exactly(a) / exactly(b));
  }
}

TEST(DoubleDouble, SubtractionKeepsWhatCancellationLeaves) {
  // (1 + 2^-60) - (1 - 2^-70) = 2^-60 + 2^-70: nothing of it is in the high parts.
  const DoubleDouble difference =
      DoubleDouble(1, std::ldexp(1.0, -60)) - DoubleDouble(1, -std::ldexp(1.0, -70));
  EXPECT_EQ(exactly(difference), two_to(-60) + two_to(-70));
}

TEST(DoubleDouble, NegationIsExactAndDoublesConvertExactly) {
  Doubles next;
  for (int i = 0; i < samples; ++i) {
    const DoubleDouble a = next.pair();
    EXPECT_EQ(exactly(-a), -exactly(a));
    const double b = next();
    EXPECT_EQ(exactly(DoubleDouble(b)), exactly(b));
    EXPECT_EQ(static_cast<double>(DoubleDouble(b)), b);
  }
  EXPECT_EQ(exactly(DoubleDouble()), 0);
}

TEST(DoubleDouble, EveryIntegerIsHeldExactly) {
  std::vector<std::int64_t> integers{0,
                                     1,
                                     -1,
                                     4294967295,
                                     4294967296,
                                     -4294967295,
                                     -4294967296,
                                     (std::int64_t{1} << 53) + 1,
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::min() + 1};
  std::mt19937_64 engine(20250611);
  for (int i = 0; i < samples; ++i)
    integers.push_back(static_cast<std::int64_t>(engine()) >> (i % 64));
  for (const std::int64_t value : integers) {
    const DoubleDouble held = DoubleDouble::from_integer(value);
    EXPECT_EQ(exactly(held), Real(value));
    EXPECT_EQ(held.high, static_cast<double>(value)) << "high must be the nearest double";
  }
}

TEST(DoubleDouble, ExpReachesItsBoundOverTheNormalRange) {
  std::mt19937_64 engine(20250611);
  std::uniform_real_distribution<double> anywhere(-650, 709.78);
  std::uniform_real_distribution<double> small(-1, 1);
  for (int i = 0; i < samples; ++i) {
    const double high = i % 2 == 0 ? anywhere(engine) : std::ldexp(small(engine), -i % 40);
    const DoubleDouble x = detail::quick_two_sum(high, high * std::ldexp(small(engine), -54));
    EXPECT_LE(relative_error(exactly(exp(x)), exp(exactly(x))), function_bound) << high;
  }
}

TEST(DoubleDouble, LogReachesItsBoundOverAllPositiveDoubles) {
  std::mt19937_64 engine(20250611);
  std::uniform_real_distribution<double> fraction(0.5, 1.0);
  std::uniform_int_distribution<int> exponent(-1021, 1024);
  for (int i = 0; i < samples; ++i) {
    const double high =
        std::ldexp(fraction(engine), i % 2 == 0 ? exponent(engine) : exponent(engine) / 50);
    const DoubleDouble x =
        detail::quick_two_sum(high, i % 4 < 2 ? 0 : high * std::ldexp(fraction(engine), -54));
    const Real expected = log(exactly(x));
    const Real scale = abs(expected) > 1 ? Real(abs(expected)) : Real(1);
    EXPECT_LE(abs(exactly(log(x)) - expected), function_bound * scale) << high;
  }
}

TEST(DoubleDouble, ExpAndLogAtTheirEnds) {
  EXPECT_EQ(exactly(exp(DoubleDouble(0))), 1);
  EXPECT_EQ(exactly(log(DoubleDouble(1))), 0);
  EXPECT_EQ(exp(DoubleDouble(1000)).high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(exp(DoubleDouble(-1000)).high, 0);
  EXPECT_EQ(log(DoubleDouble(0)).high, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(log(DoubleDouble(std::numeric_limits<double>::infinity())).high,
            std::numeric_limits<double>::infinity());
  const DoubleDouble nan(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(exp(nan).high));
  EXPECT_TRUE(std::isnan(log(nan).high));
  EXPECT_TRUE(std::isnan(log(DoubleDouble(-2)).high));
}

}  // namespace
}  // namespace eigen_rope::double_double_tests
