// SPDX-License-Identifier: Apache-2.0
//
// YaRN: where its ramp begins and ends, which end keeps the original angle, the magnitude rule, and
// the edges of its parameters.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "support/published_rates.hpp"
#include "support/real_formula.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::yarn_tests {
namespace {

using test::exactly;
using test::Real;
using test::relative_error;
using test::two_to;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// "Carried to about 2^-96": twice that.
const Real rate_bound = two_to(-95);

GgmlYarn<> yarn_for(Index original_context) {
  GgmlYarn<> yarn;
  yarn.original_context = original_context;
  return yarn;
}

void expect_equal(const Frequencies& a, const Frequencies& b) {
  ASSERT_EQ(a.pairs(), b.pairs());
  for (std::size_t k = 0; k < a.rates().size(); ++k)
    EXPECT_EQ(exactly(a.rates()[k]), exactly(b.rates()[k])) << "pair " << k;
  EXPECT_EQ(exactly(a.attention_factor()), exactly(b.attention_factor()));
}

void expect_finite(const Frequencies& frequencies) {
  for (const DoubleDouble& rate : frequencies.rates())
    EXPECT_TRUE(std::isfinite(rate.high) && std::isfinite(rate.low));
  EXPECT_TRUE(std::isfinite(frequencies.attention_factor().high));
}

TEST(GgmlYarn, RatesAndMagnitudeAreFinerThanDouble) {
  for (const double ext_factor : {1.0, 0.7465, -0.5}) {
    for (const double scale : {0.1, 0.25, 1.0 / 40, 1.4245}) {
      for (const Index dims : {32, 64, 128}) {
        SCOPED_TRACE(testing::Message()
                     << "ext_factor " << ext_factor << ", scale " << scale << ", dims " << dims);
        Powers<> powers{dims, 5e5, scale, 1.1};
        for (Index k = 0; k < dims / 2; ++k)
          powers.factors.push_back(0.9 + 0.01 * static_cast<double>(k));
        GgmlYarn<> yarn = yarn_for(8192);
        yarn.ext_factor = ext_factor;
        const Frequencies frequencies = Frequencies(powers, yarn);
        const test::RealFrequencies expected = test::real_frequencies(powers, yarn);
        // The blend can cancel; its error is measured against what is added.
        for (std::size_t k = 0; k < expected.rates.size(); ++k) {
          const Real unscaled =
              pow(Real(powers.base), -2 * Real(k) / Real(dims)) / Real(powers.factors[k]);
          EXPECT_LE(abs(exactly(frequencies.rates()[k]) - expected.rates[k]),
                    rate_bound * unscaled * 2)
              << "pair " << k;
        }
        EXPECT_LE(relative_error(exactly(frequencies.attention_factor()), expected.magnitude),
                  rate_bound);
      }
    }
  }
}

TEST(GgmlYarn, RampOneKeepsTheOriginalAngleAndRampZeroTakesTheScaledOne) {
  Powers<> powers{128, 10000.0, 0.1};
  const Frequencies original = Frequencies::powers({128});
  const Frequencies scaled = Frequencies::powers(powers);
  const Frequencies blended = Frequencies(powers, yarn_for(2048));
  // The ramp runs from 16 to 41: the fast pairs before it keep their rates, the slow ones behind it
  // are interpolated.
  for (std::size_t k = 0; k <= 16; ++k)
    EXPECT_LE(relative_error(exactly(blended.rates()[k]), exactly(original.rates()[k])),
              rate_bound);
  for (std::size_t k = 41; k < 64; ++k)
    EXPECT_LE(relative_error(exactly(blended.rates()[k]), exactly(scaled.rates()[k])), rate_bound);
  for (std::size_t k = 17; k < 41; ++k) {
    EXPECT_LT(exactly(blended.rates()[k]), exactly(original.rates()[k])) << "pair " << k;
    EXPECT_GT(exactly(blended.rates()[k]), exactly(scaled.rates()[k])) << "pair " << k;
  }
}

TEST(GgmlYarn, ExtFactorZeroChangesNothing) {
  for (const double scale : {0.1, 1.0, 1.4245}) {
    const Powers<> powers{128, 10000.0, scale, 1.3};
    GgmlYarn<> yarn = yarn_for(4096);
    yarn.ext_factor = 0;
    expect_equal(Frequencies(powers, yarn), Frequencies::powers(powers));
  }
}

TEST(GgmlYarn, WithoutScalingOnlyTheRampIsLeftAndItDoesNothing) {
  const Powers<> powers{128, 10000.0, 1, 1.3};
  const Frequencies yarn = Frequencies(powers, yarn_for(4096));
  const Frequencies plain = Frequencies::powers(powers);
  for (std::size_t k = 0; k < 64; ++k)
    EXPECT_LE(relative_error(exactly(yarn.rates()[k]), exactly(plain.rates()[k])), rate_bound);
  EXPECT_EQ(exactly(yarn.attention_factor()), exactly(1.3));
}

TEST(GgmlYarn, MagnitudeGrowsWithTheLogarithmOfTheStretch) {
  // The attention factors published for Hugging Face's factors 2, 10 and 20, and with an attention
  // factor of its own.
  const auto magnitude = [](double factor, double attention_factor) {
    return static_cast<double>(
        Frequencies({128, 10000.0, 1 / factor, attention_factor}, yarn_for(2048))
            .attention_factor());
  };
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(magnitude(2, 1), 1.0693147180559945, rounding);
  EXPECT_NEAR(magnitude(10, 1), 1.2302585092994046, rounding);
  EXPECT_NEAR(magnitude(20, 1), 1.2995732273553991, rounding);
  EXPECT_NEAR(magnitude(10, -0.5), -0.5 * 1.2302585092994046, rounding);
  // No clamp at 1: a scale above 1 makes m smaller.
  EXPECT_LT(magnitude(0.5, 1), 1);
}

TEST(GgmlYarn, MagnitudeDoesNotDependOnHowMuchIsBlended) {
  GgmlYarn<> yarn = yarn_for(2048);
  const DoubleDouble full = Frequencies({128, 10000.0, 0.1}, yarn).attention_factor();
  yarn.ext_factor = 1e-3;
  EXPECT_EQ(exactly(Frequencies({128, 10000.0, 0.1}, yarn).attention_factor()), exactly(full));
}

struct Bounds {
  Index dims;
  double base;
  Index original_context;
  double beta_fast;
  double low;
  double high;
};

TEST(GgmlYarn, CorrectionDimsAreThePublishedOnes) {
  const std::vector<Bounds> published{
      {128, 10000, 4096, 32, 20, 46},
      {128, 10000, 2048, 32, 16, 41},
      // Below 0 and clamped: c(32) = 128 ln(64 / 64 pi) / (2 ln 10000) = -7.95.
      {128, 10000, 64, 32, 0, 17},
      {128, 10000, 2048, 1000, 0, 41},
      // The last pair of 64 dims is 31: the upper end is clamped to dims - 1, not to the pairs.
      {64, 10000, 131072, 32, 22, 35},
      {64, 10000, 4096, 32, 10, 23},
      {256, 10000, 131072, 32, 90, 139},
      {64, 150000, 4096, 32, 8, 18},
  };
  for (const Bounds& p : published) {
    GgmlYarn<> yarn = yarn_for(p.original_context);
    yarn.beta_fast = p.beta_fast;
    const CorrectionDims<> dims = yarn_correction_dims(p.dims, p.base, yarn);
    EXPECT_EQ(dims.low, p.low) << p.dims << " dims, context " << p.original_context;
    EXPECT_EQ(dims.high, p.high) << p.dims << " dims, context " << p.original_context;
  }
}

TEST(GgmlYarn, CorrectionDimsAreClampedToTheLastDim) {
  GgmlYarn<> yarn = yarn_for(Index{1} << 40);
  yarn.beta_slow = 1e-6;
  EXPECT_EQ(yarn_correction_dims(32, 10000, yarn).high, 31);
}

TEST(GgmlYarn, CorrectionDimsAreThoseOfTheFormulaAtEveryMagnitude) {
  for (const Index context : {Index{1}, Index{4096}, std::numeric_limits<Index>::max()}) {
    for (const double beta : {5e-324, 1e-300, 0.25, 32.0, 1.7e308}) {
      for (const double base : {0.5, 10000.0, 1e300}) {
        GgmlYarn<> yarn = yarn_for(context);
        yarn.beta_fast = beta;
        yarn.beta_slow = beta;
        const Real c = test::real_correction(64, base, context, beta);
        const CorrectionDims<> dims = yarn_correction_dims(64, base, yarn);
        EXPECT_EQ(exactly(dims.low), (c < 0 ? Real(0) : Real(floor(c))));
        EXPECT_EQ(exactly(dims.high), (c > 63 ? Real(63) : Real(ceil(c))));
      }
    }
  }
}

TEST(GgmlYarn, MatchesHuggingFaceWhereTheTwoRampsAgree) {
  test::expect_published(Frequencies({128, 10000.0, 0.1}, yarn_for(2048)), test::published_yarn);
}

TEST(GgmlYarn, MatchesTheNestedGemmaList) {
  // 256 dims, factor 10, original context 131072: unchanged through pair 90, published to five
  // digits from there.
  const Frequencies yarn = Frequencies({256, 10000.0, 0.1}, yarn_for(131072));
  const auto expect_near = [&](std::size_t pair, double value, double unit) {
    EXPECT_NEAR(static_cast<double>(yarn.rates()[pair]), value, 0.51 * unit) << "pair " << pair;
  };
  expect_near(90, 1.5399e-03, 1e-7);
  expect_near(91, 1.4067e-03, 1e-7);
  expect_near(92, 1.2845e-03, 1e-7);
  expect_near(93, 1.1726e-03, 1e-7);
  expect_near(94, 1.0699e-03, 1e-7);
  expect_near(95, 9.7592e-04, 1e-8);
  expect_near(100, 6.1216e-04, 1e-8);
  expect_near(126, 3.9121e-05, 1e-9);
  expect_near(127, 3.4431e-05, 1e-9);
}

TEST(GgmlYarn, ContextZeroPutsBothCorrectionDimsAtMinusInfinity) {
  const CorrectionDims<> dims = yarn_correction_dims(128, 10000, yarn_for(0));
  EXPECT_EQ(dims.low, 0);
  EXPECT_EQ(dims.high, -infinity);
  // The ramp is then a step: 1 in pair 0, 0 from pair 1 on.
  const Powers<> powers{128, 10000.0, 0.25};
  const Frequencies yarn = Frequencies(powers, yarn_for(0));
  const Frequencies scaled = Frequencies::powers(powers);
  expect_finite(yarn);
  EXPECT_EQ(exactly(yarn.rates()[0]), 1);
  for (std::size_t k = 1; k < 64; ++k)
    EXPECT_EQ(exactly(yarn.rates()[k]), exactly(scaled.rates()[k]));
}

TEST(GgmlYarn, BetaZeroPutsItsCorrectionDimAtInfinity) {
  GgmlYarn<> yarn = yarn_for(4096);
  yarn.beta_slow = 0;
  EXPECT_EQ(yarn_correction_dims(128, 10000, yarn).low, 20);
  EXPECT_EQ(yarn_correction_dims(128, 10000, yarn).high, 127);
  expect_finite(Frequencies({128, 10000.0, 0.25}, yarn));

  // Both 0, ggml's defaults: the ramp never begins and every pair keeps its rate, up to rounding of
  // scale * 0 + 1.
  yarn.beta_fast = 0;
  EXPECT_EQ(yarn_correction_dims(128, 10000, yarn).low, infinity);
  const Frequencies kept = Frequencies({128, 10000.0, 0.25}, yarn);
  const Frequencies original = Frequencies::powers({128});
  expect_finite(kept);
  for (std::size_t k = 0; k < 64; ++k)
    EXPECT_EQ(exactly(kept.rates()[k]), exactly(original.rates()[k]));

  // Context 0 wins over beta 0.
  yarn.original_context = 0;
  EXPECT_EQ(yarn_correction_dims(128, 10000, yarn).low, 0);
  EXPECT_EQ(yarn_correction_dims(128, 10000, yarn).high, -infinity);
  expect_finite(Frequencies({128, 10000.0, 0.25}, yarn));
}

TEST(GgmlYarn, EveryContextAndBetaGivesFiniteRates) {
  for (const Index context : {Index{0}, Index{1}, Index{4096}, std::numeric_limits<Index>::max()}) {
    for (const double beta_fast : {0.0, 5e-324, 1.0, 32.0, 1.7e308}) {
      for (const double beta_slow : {0.0, 5e-324, 1.0, 32.0, 1.7e308}) {
        for (const double base : {0.5, 10000.0, 1e300}) {
          GgmlYarn<> yarn = yarn_for(context);
          yarn.beta_fast = beta_fast;
          yarn.beta_slow = beta_slow;
          expect_finite(Frequencies({64, base, 0.25}, yarn));
        }
      }
    }
  }
}

TEST(GgmlYarn, LowEqualToHighMakesAStep) {
  // betas 1 and 1 meet in one point: floor and ceil leave a ramp of one pair, 22 to 23.
  GgmlYarn<> yarn = yarn_for(4096);
  yarn.beta_fast = 1;
  const CorrectionDims<> dims = yarn_correction_dims(64, 10000, yarn);
  EXPECT_EQ(dims.low, 22);
  EXPECT_EQ(dims.high, 23);
  const Frequencies step = Frequencies({64, 10000.0, 0.25}, yarn);
  const Frequencies original = Frequencies::powers({64});
  for (std::size_t k = 0; k < 32; ++k) {
    EXPECT_EQ(exactly(step.rates()[k]) * (k <= 22 ? 1 : 4), exactly(original.rates()[k]))
        << "pair " << k;
  }
}

TEST(GgmlYarn, TakesItsDimsFromTheExponentDims) {
  // Vision: 64 pairs with exponents that restart, dims 64 for the powers and the ramp, which still
  // counts pairs.
  Powers<> powers{128, 10000.0, 0.25};
  powers.exponent_dims = 64;
  for (Index k = 0; k < 64; ++k) powers.exponents.push_back(k % 32);
  const Frequencies yarn = Frequencies(powers, yarn_for(4096));
  const Frequencies scaled = Frequencies::powers(powers);
  for (std::size_t k = 0; k <= 10; ++k)
    EXPECT_EQ(exactly(yarn.rates()[k]), exactly(scaled.rates()[k]) * 4) << "pair " << k;
  for (std::size_t k = 23; k < 64; ++k)
    EXPECT_EQ(exactly(yarn.rates()[k]), exactly(scaled.rates()[k])) << "pair " << k;
}

TEST(GgmlYarn, FactorsBeyondThePairsAreIgnored) {
  Powers<> powers{8, 10000.0, 0.25};
  powers.factors = {1, 2, 3, 4};
  const Frequencies exact_length = Frequencies(powers, yarn_for(64));
  powers.factors.insert(powers.factors.end(), {5, 6});
  expect_equal(Frequencies(powers, yarn_for(64)), exact_length);
}

}  // namespace
}  // namespace eigen_rope::yarn_tests
