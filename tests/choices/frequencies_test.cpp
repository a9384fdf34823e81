// SPDX-License-Identifier: Apache-2.0
//
// Rates without YaRN: against 200-bit arithmetic, by the properties that define each parameter, and
// against published numbers.
#include "eigen_rope/choices/frequencies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/published_rates.hpp"
#include "support/real_formula.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::frequencies_tests {
namespace {

using test::exactly;
using test::Real;
using test::relative_error;
using test::two_to;

/// "Carried to about 2^-96": twice that.
const Real rate_bound = two_to(-95);
/// A product by a power of two, or a quotient of equal numbers, may only move the last bits of the
/// pair.
const Real property_bound = two_to(-100);

void expect_rates(const Powers<>& powers) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const test::RealFrequencies expected = test::real_frequencies(powers);
  ASSERT_EQ(frequencies.rates().size(), expected.rates.size());
  for (std::size_t k = 0; k < expected.rates.size(); ++k) {
    EXPECT_LE(relative_error(exactly(frequencies.rates()[k]), expected.rates[k]), rate_bound)
        << "pair " << k;
  }
  EXPECT_EQ(exactly(frequencies.attention_factor()), exactly(powers.attention_factor));
}

std::vector<double> ramp_of_factors(std::size_t pairs) {
  std::vector<double> factors;
  for (std::size_t k = 0; k < pairs; ++k) factors.push_back(0.9 + 0.37 * static_cast<double>(k));
  return factors;
}

TEST(Frequencies, RatesAreFinerThanDouble) {
  // 1e250 and its reciprocal: beyond them the low part of a rate would be subnormal.
  for (const double base : {2.0, 100.0, 10000.0, 150000.0, 5e5, 1e6, 0.5, 1.0, 1e250, 1e-250}) {
    for (const Index dims : {2, 6, 64, 80, 128, 256}) {
      SCOPED_TRACE(testing::Message() << "base " << base << ", dims " << dims);
      expect_rates({dims, base});
    }
  }
}

TEST(Frequencies, RatesAreFinerThanDoubleWithEveryParameter) {
  Powers<> powers{80, 5e5, 0.1, 1.3};
  expect_rates(powers);
  powers.factors = ramp_of_factors(40);
  expect_rates(powers);
  powers.factors[3] = -2.7;
  expect_rates(powers);
  powers.exponent_dims = 36;
  expect_rates(powers);
  for (Index k = 0; k < 40; ++k) powers.exponents.push_back(k * k % 17 - 3);
  expect_rates(powers);
}

TEST(Frequencies, PairZeroTurnsOneRadianPerTokenExactly) {
  for (const double base : {10000.0, 5e5, 3.7}) {
    const Frequencies frequencies = Frequencies::powers({128, base});
    EXPECT_EQ(exactly(frequencies.rates()[0]), 1);
  }
}

TEST(Frequencies, LinearScaleMultipliesEveryRate) {
  const Frequencies plain = Frequencies::powers({128});
  const Frequencies scaled = Frequencies::powers({128, 10000.0, 0.25});
  for (std::size_t k = 0; k < 64; ++k)
    EXPECT_EQ(exactly(scaled.rates()[k]) * 4, exactly(plain.rates()[k]));
}

TEST(Frequencies, FactorsDivideTheRatesOfTheirPairs) {
  Powers<> powers{128};
  const Frequencies plain = Frequencies::powers(powers);
  powers.factors = ramp_of_factors(64);
  const Frequencies divided = Frequencies::powers(powers);
  for (std::size_t k = 0; k < 64; ++k) {
    EXPECT_LE(relative_error(exactly(divided.rates()[k]) * Real(powers.factors[k]),
                             exactly(plain.rates()[k])),
              property_bound);
  }
}

TEST(Frequencies, FactorsBeyondThePairsAreIgnored) {
  Powers<> powers{8};
  powers.factors = {1, 2, 3, 4};
  const Frequencies exact_length = Frequencies::powers(powers);
  powers.factors.insert(powers.factors.end(), {5, 0, std::numeric_limits<double>::quiet_NaN()});
  const Frequencies longer = Frequencies::powers(powers);
  ASSERT_EQ(longer.pairs(), 4);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(exactly(longer.rates()[k]), exactly(exact_length.rates()[k]));
}

TEST(Frequencies, ExponentsChooseThePowerAndExponentDimsTheRoot) {
  Powers<> powers{8};
  const Frequencies plain = Frequencies::powers(powers);
  powers.exponents = {3, 0, 0, 2};
  const Frequencies chosen = Frequencies::powers(powers);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(exactly(chosen.rates()[k]),
              exactly(plain.rates()[static_cast<std::size_t>(powers.exponents[k])]));
  }
  // 16^(-2 * k / 4) = 4^-k
  powers = {8, 16.0};
  powers.exponent_dims = 4;
  const Frequencies quarters = Frequencies::powers(powers);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_LE(relative_error(exactly(quarters.rates()[k]), two_to(-2 * static_cast<int>(k))),
              rate_bound);
  }
}

TEST(Frequencies, AttentionFactorIsKeptWhateverItsSign) {
  for (const double m : {1.0, 0.0, -1.4245, 1e-300}) {
    EXPECT_EQ(exactly(Frequencies::powers({8, 10000.0, 1, m}).attention_factor()), exactly(m));
    EXPECT_EQ(exactly(Frequencies::explicit_rates(std::vector<double>{1}, m).attention_factor()),
              exactly(m));
  }
}

TEST(Frequencies, ExplicitRatesAreKeptExactly) {
  const std::vector<double> rates{0,      1,      -0.1,
                                  1e-300, -2.5e7, std::numeric_limits<double>::denorm_min()};
  const Frequencies frequencies = Frequencies::explicit_rates(rates);
  ASSERT_EQ(frequencies.pairs(), 6);
  for (std::size_t k = 0; k < rates.size(); ++k)
    EXPECT_EQ(exactly(frequencies.rates()[k]), exactly(rates[k]));
  EXPECT_EQ(exactly(frequencies.attention_factor()), 1);

  const std::vector<DoubleDouble> pairs{{0.1, 1e-18}, {-3, 2e-17}};
  const Frequencies finer = Frequencies::explicit_rates(pairs, DoubleDouble(1.1, -1e-17));
  ASSERT_EQ(finer.pairs(), 2);
  for (std::size_t k = 0; k < pairs.size(); ++k)
    EXPECT_EQ(exactly(finer.rates()[k]), exactly(pairs[k]));
  EXPECT_EQ(exactly(finer.attention_factor()), exactly(DoubleDouble(1.1, -1e-17)));
}

TEST(Frequencies, ThetaScaleIsThePublishedOne) {
  // 10000^(-2/128), as float32 prints it.
  EXPECT_EQ(static_cast<float>(static_cast<double>(Frequencies::powers({128}).rates()[1])),
            0.865964353F);
}

TEST(Frequencies, MatchHuggingFaceDefaultAndLinear) {
  test::expect_published(Frequencies::powers({128}), test::published_default);
  // Exactly default / factor in the test the list is from.
  test::expect_published(Frequencies::powers({128, 10000.0, 0.1}), test::published_default, 10);
}

TEST(NtkBase, StretchesTheSlowestPairByTheFactorAndLeavesTheFastest) {
  for (const Index dims : {4, 64, 128}) {
    for (const double factor : {0.5, 1.0, 4.0, 73.0}) {
      const double stretched = ntk_base(dims, 10000, factor);
      const Frequencies plain = Frequencies::powers({dims, 10000.0});
      const Frequencies ntk = Frequencies::powers({dims, stretched});
      EXPECT_EQ(exactly(ntk.rates().front()), 1);
      // The base is rounded to double once; the slowest pair takes its power (dims - 2)/dims < 1.
      const Real double_rounding = two_to(-52);
      EXPECT_LE(
          relative_error(exactly(ntk.rates().back()) * Real(factor), exactly(plain.rates().back())),
          double_rounding);
    }
  }
}

TEST(NtkBase, IsTheRealResultRoundedOnce) {
  for (const double factor : {1.5, 8.0, 73.0}) {
    const Real expected = Real(10000) * pow(Real(factor), Real(128) / 126);
    EXPECT_EQ(ntk_base(128, 10000, factor), static_cast<double>(expected));
  }
}

TEST(NtkBase, GivesHuggingFaceDynamicRates) {
  // factor 10 at 16384 of 2048 tokens stretches by 10 * 16384 / 2048 - (10 - 1) = 71.
  const double base = ntk_base(128, 10000, 71);
  constexpr double published_base = 759702.231148009;
  constexpr double last_digit = 1e-9;
  EXPECT_NEAR(base, published_base, last_digit);
  test::expect_published(Frequencies::powers({128, base}), test::published_dynamic);
}

}  // namespace
}  // namespace eigen_rope::frequencies_tests
