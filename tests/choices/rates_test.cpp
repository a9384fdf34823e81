// SPDX-License-Identifier: Apache-2.0
//
// The formulas of the rates for any scalar: their values in every arithmetic, derivatives through
// them, and Llama 3.1's scaling.
#include "eigen_rope/choices/scaling.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
// Needs Eigen/Core before it.
#include <unsupported/Eigen/AutoDiff>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "support/error_of.hpp"
#include "support/published_rates.hpp"
#include "support/real_number.hpp"
#include "support/real_rates.hpp"

namespace eigen_rope::rates_tests {
namespace {

using test::error_of;
using test::exactly;
using test::Real;
using test::real_rates;
using test::relative_error;
using test::Scaling;
using test::two_to;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// "Carried to about 2^-96": twice that.
const Real rate_bound = two_to(-95);

/// Parameters that every binary scalar holds exactly.
std::vector<Powers<>> every_powers() {
  Powers<> full{32, 500000.0, 0.25, -1.25};
  for (int k = 0; k < 16; ++k) full.factors.push_back(1 + 0.125 * k);
  full.factors[3] = -2.5;
  Powers<> vision{32, 10000.0, 0.125, 1.5};
  vision.exponent_dims = 16;
  for (Index k = 0; k < 16; ++k) vision.exponents.push_back(k % 8);
  return {{64, 10000.0, 0.5}, {128, 500000.0, 1.5, 1.25}, {8, 0.75, 0.375}, full, vision};
}

const std::vector<GgmlYarn<>> every_yarn{{1.0, 4096, 32.0, 1.0},
                                         {0.75, 131072, 31.5, 1.125},
                                         {-0.5, 64, 32.0, 1.0},
                                         {1.0, 4096, 32.0, 1.0, RampEnds::exact},
                                         {0.75, 131072, 31.5, 1.125, RampEnds::exact},
                                         {-0.5, 64, 32.0, 1.0, RampEnds::exact}};
const std::vector<Llama3<>> every_llama3{
    {8.0, 1.0, 4.0, 8192}, {32.0, 0.25, 5.5, 4096}, {0.5, 1.0, 40.0, 8192}};

// The stated bounds, in units of the roundoff and of f_k linear_scale.

double powers_roundings(const Powers<>& p, std::size_t k) {
  const double power =
      p.exponents.empty() ? static_cast<double>(k) : static_cast<double>(p.exponents[k]);
  return 4 * std::abs(std::log(p.base)) * 2 * power /
             static_cast<double>(detail::exponent_dims(p)) +
         4;
}

double yarn_roundings(const Powers<>& p, const GgmlYarn<>& y, std::size_t k) {
  const double ext_factor = std::abs(y.ext_factor);
  double roundings = powers_roundings(p, k);
  if (y.ends == RampEnds::exact) {
    const Index dims = detail::exponent_dims(p);
    const CorrectionDims<> ramp = yarn_correction_dims(dims, p.base, y);
    const double logs =
        std::log(static_cast<double>(y.original_context)) + std::abs(std::log(y.beta_fast)) + 2;
    roundings += 10 * ext_factor * static_cast<double>(dims) * logs / std::abs(std::log(p.base)) /
                 std::max(0.001, ramp.high - ramp.low);
  }
  return roundings * std::max(1.0, p.linear_scale) * (1 + 2 * ext_factor) / p.linear_scale;
}

double llama3_roundings(const Powers<>& p, const Llama3<>& l, std::size_t k) {
  return 2 * powers_roundings(p, k) * std::max(1.0, 1 / l.factor) *
         (1 + l.high_freq_factor / (l.high_freq_factor - l.low_freq_factor));
}

template <class S, class Roundings>
void expect_close(const Rates<S>& actual, const Frequencies& expected, const Powers<>& powers,
                  const Roundings& roundings) {
  // Frequencies themselves are good to rate_bound, which counts where long double has 113 bits.
  const Real unit_roundoff = Real(std::numeric_limits<S>::epsilon()) / 2 + rate_bound;
  ASSERT_EQ(actual.rates.size(), expected.rates().size());
  const Frequencies unblended = Frequencies::powers(powers);
  for (std::size_t k = 0; k < actual.rates.size(); ++k) {
    const Real size = abs(exactly(unblended.rates()[k]));
    EXPECT_LE(abs(exactly(actual.rates[k]) - exactly(expected.rates()[k])),
              unit_roundoff * Real(roundings(k)) * size)
        << "pair " << k;
  }
  // A logarithm of at most 2.1, a quotient, a difference and a product.
  EXPECT_LE(relative_error(exactly(actual.attention_factor), exactly(expected.attention_factor())),
            6 * unit_roundoff);
}

template <class S>
class RatesOf : public testing::Test {};
using Scalars = testing::Types<float, double, long double>;
TYPED_TEST_SUITE(RatesOf, Scalars);

TYPED_TEST(RatesOf, AreThoseOfFrequenciesWithinTheBound) {
  using S = TypeParam;
  for (const Powers<>& p : every_powers()) {
    SCOPED_TRACE(testing::Message() << p.rotary_dims << " dims, base " << p.base);
    const auto powers = p.cast<S>();
    expect_close(powers.rates(), Frequencies::powers(p), p,
                 [&](std::size_t k) { return powers_roundings(p, k); });
    for (const GgmlYarn<>& y : every_yarn) {
      SCOPED_TRACE(testing::Message()
                   << "yarn, ext factor " << y.ext_factor << ", ends " << static_cast<int>(y.ends));
      expect_close(y.cast<S>().rates(powers), Frequencies(p, y), p,
                   [&](std::size_t k) { return yarn_roundings(p, y, k); });
    }
    for (const Llama3<>& l : every_llama3) {
      SCOPED_TRACE(testing::Message() << "llama3, factor " << l.factor);
      expect_close(l.cast<S>().rates(powers), Frequencies(p, l), p,
                   [&](std::size_t k) { return llama3_roundings(p, l, k); });
    }
  }
}

/// Against formulas written independently, of which f_k max(1, scale)(1 + 2 |ext_factor|) or
/// 1/factor is the largest part.
void expect_real(const Frequencies& frequencies, Scaling scaling, const Powers<>& p,
                 const GgmlYarn<>& y, const Llama3<>& l) {
  const Rates<Real> expected = real_rates(scaling, {p, y, l});
  Powers<> unscaled = p;
  unscaled.linear_scale = 1;
  const Frequencies f = Frequencies::powers(unscaled);
  // The ends of a ramp or a band of at least 2 pairs or turns come from numbers up to 128.
  const Real largest = Real(std::max(1.0, p.linear_scale)) * (1 + 2 * abs(Real(y.ext_factor))) *
                       std::max(1.0, 1 / l.factor) * 64;
  for (std::size_t k = 0; k < expected.rates.size(); ++k) {
    const Real size = scaling == Scaling::powers ? Real(p.linear_scale) : largest;
    EXPECT_LE(abs(exactly(frequencies.rates()[k]) - expected.rates[k]),
              rate_bound * size * abs(exactly(f.rates()[k])))
        << "pair " << k;
  }
  EXPECT_LE(relative_error(exactly(frequencies.attention_factor()), expected.attention_factor),
            rate_bound);
}

TEST(Rates, InDoubleDoubleAreThoseOfTheFormulas) {
  for (const Powers<>& p : every_powers()) {
    SCOPED_TRACE(testing::Message() << p.rotary_dims << " dims, base " << p.base);
    expect_real(Frequencies::powers(p), Scaling::powers, p, {}, {});
    for (const GgmlYarn<>& y : every_yarn) {
      SCOPED_TRACE(testing::Message()
                   << "yarn, ext factor " << y.ext_factor << ", ends " << static_cast<int>(y.ends));
      expect_real(Frequencies(p, y), Scaling::yarn, p, y, {});
    }
    for (const Llama3<>& l : every_llama3)
      expect_real(Frequencies(p, l), Scaling::llama3, p, {}, l);
  }
}

struct Recorded {
  std::size_t pair;
  DoubleDouble rate;
};

void expect_recorded(const Frequencies& frequencies, const std::vector<Recorded>& recorded,
                     DoubleDouble attention_factor) {
  for (const Recorded& r : recorded)
    EXPECT_EQ(exactly(frequencies.rates()[r.pair]), exactly(r.rate)) << "pair " << r.pair;
  EXPECT_EQ(exactly(frequencies.attention_factor()), exactly(attention_factor));
}

TEST(Rates, KeepTheirBits) {
  // Recorded from the implementation in double-double that these templates replaced: tables made
  // from them must not change.
  Powers<> powers{80, 5e5, 0.1, 1.3};
  for (int k = 0; k < 40; ++k) powers.factors.push_back(0.9 + 0.37 * k);
  expect_recorded(Frequencies::powers(powers),
                  {{0, {0x1.c71c71c71c71dp-4, -0x1.3c0ca4587e6b6p-58}},
                   {7, {0x1.79e3b1ec7daafp-9, 0x1.5556d6fcebc64p-63}},
                   {39, {0x1.3728a0559636p-26, -0x1.9138713f21d24p-81}}},
                  0x1.4cccccccccccdp+0);
  GgmlYarn<> yarn;
  yarn.original_context = 4096;
  const DoubleDouble magnitude(0x1.996e1691fc953p+0, -0x1.92fbeb2776eecp-54);
  expect_recorded(Frequencies(powers, yarn),
                  {{0, {0x1.1c71c71c71c72p+0, -0x1.61f9add3c0ca4p-54}},
                   {20, {0x1.1ddcbc24f966ep-16, 0x1.908a9bb9c401ap-71}},
                   {39, {0x1.3728a0559636p-26, -0x1.9138713f21d24p-81}}},
                  magnitude);
  yarn.ext_factor = -0.5;
  expect_recorded(Frequencies(powers, yarn), {{0, {-0x1.8e38e38e38e39p-2, 0x1.cd6e9e06522c3p-56}}},
                  magnitude);
  Powers<> vision{64, 1e4, 0.25};
  vision.exponent_dims = 32;
  for (Index k = 0; k < 32; ++k) vision.exponents.push_back(k % 16);
  yarn.ext_factor = 0.7465;
  expect_recorded(Frequencies(vision, yarn),
                  {{1, {0x1.d25b3da00e877p-2, 0x1.f5de99b0d563ap-57}},
                   {9, {0x1.692034bbebfefp-9, -0x1.b251439926006p-64}},
                   {31, {0x1.74eea61c12623p-15, 0x1.878ebd7ab2ca2p-69}}},
                  {0x1.237d37fe5d298p+0, -0x1.440ad275ae65ap-56});
}

TEST(Rates, EveryScalarRoundsTheEndsOfTheRampToTheSamePair) {
  // c(beta) = log2(turns) / 2 for 16 dims and base 2^16: 2 for 16 turns, give or take less than a
  // double shows.
  const Powers<> powers{16, 65536.0, 0.25};
  const double beta_at_two = 32768.0 / 16 / 6.283185307179586;
  for (const double beta :
       {beta_at_two, std::nextafter(beta_at_two, 0), std::nextafter(beta_at_two, infinity)}) {
    const GgmlYarn<> yarn{1.0, 32768, beta, 1.0};
    const Frequencies expected = Frequencies(powers, yarn);
    const Rates<double> actual = yarn.rates(powers);
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_NEAR(actual.rates[k], static_cast<double>(expected.rates()[k]),
                  40 * std::numeric_limits<double>::epsilon() * actual.rates[k]);
    }
  }
}

TEST(GgmlYarn, ExactEndsAreThePublishedOnes) {
  // Hugging Face's gpt-oss: truncate = false.
  GgmlYarn<> yarn{1.0, 4096, 32.0, 1.0, RampEnds::exact};
  const CorrectionDims<> gpt_oss = yarn_correction_dims(64, 150000, yarn);
  EXPECT_NEAR(gpt_oss.low, 8.092779115512402, 4e-15);
  EXPECT_NEAR(gpt_oss.high, 17.39802450158856, 8e-15);
  // Both betas 1: the ramp of no width that max(0.001, ...) is for.
  yarn.beta_fast = 1;
  const CorrectionDims<> step = yarn_correction_dims(64, 10000, yarn);
  EXPECT_NEAR(step.low, 22.51344063687727, 1e-14);
  EXPECT_EQ(step.high, step.low);
}

void expect_rates(const Frequencies& frequencies,
                  const std::vector<std::pair<std::size_t, double>>& rates) {
  constexpr double twelve_digits = 5e-12;
  for (const auto& [pair, rate] : rates) {
    EXPECT_NEAR(static_cast<double>(frequencies.rates()[pair]), rate, twelve_digits * rate)
        << "pair " << pair;
  }
}

TEST(GgmlYarn, ExactEndsGiveTheRatesOfGptOss) {
  // Computed with 50 digits.
  expect_rates(
      Frequencies({64, 150000.0, 1.0 / 32}, GgmlYarn<>{1.0, 4096, 32.0, 1.0, RampEnds::exact}),
      {{8, 0.0508132748155},
       {9, 0.0317056961847},
       {12, 0.00679495948973},
       {17, 0.000129318701245},
       {18, 3.83088123738e-5},
       {31, 3.02351142812e-7}});
}

TEST(Llama3, GivesTheRatesOfLlama) {
  // Computed with 50 digits: Llama 3.1 8B and Llama 3.2 1B.
  expect_rates(Frequencies({128, 5e5}, Llama3<>{8.0, 1.0, 4.0, 8192}), {{28, 0.00321144599475},
                                                                        {29, 0.0021665707635},
                                                                        {30, 0.00137189356776},
                                                                        {34, 0.000178507812768},
                                                                        {35, 9.55621235396e-5},
                                                                        {36, 7.78465527393e-5},
                                                                        {63, 3.06892598891e-7}});
  expect_rates(Frequencies({64, 5e5}, Llama3<>{32.0, 1.0, 4.0, 8192}), {{14, 0.00321144599475},
                                                                        {15, 0.00129054792821},
                                                                        {16, 0.000429556796559},
                                                                        {17, 9.70828780263e-5},
                                                                        {18, 1.94616381848e-5},
                                                                        {31, 9.41830672543e-8}});
}

TEST(Llama3, MatchesHuggingFace) {
  // 128 dims, base 10000, factor 10, original context 2048: the default list with a band, and a
  // tenth behind it.
  test::PublishedRates published = test::published_default;
  const std::vector<double> band{1.0730e-02, 7.7785e-03, 5.6009e-03, 3.9991e-03, 2.8248e-03,
                                 1.9675e-03, 1.3449e-03, 8.9549e-04, 5.7363e-04, 3.4539e-04};
  for (std::size_t k = 31; k < 64; ++k) published[k] /= 10;
  std::copy(band.begin(), band.end(), published.begin() + 31);
  test::expect_published(Frequencies({128}, Llama3<>{10.0, 1.0, 4.0, 2048}), published);
}

TEST(Llama3, BandsMeetAndTheirOrderIsKept) {
  const Powers<> powers{128, 5e5};
  const Llama3<> llama3{8.0, 1.0, 4.0, 8192};
  const Rates<double> original = powers.rates();
  const Rates<double> scaled = llama3.rates(powers);
  for (std::size_t k = 0; k < 64; ++k) {
    const double turns = 8192 * original.rates[k] / 6.283185307179586;
    const double ratio = original.rates[k] / scaled.rates[k];
    if (turns > 4) {
      EXPECT_EQ(ratio, 1) << "pair " << k;
    } else if (turns < 1) {
      EXPECT_EQ(ratio, 8) << "pair " << k;
    } else {
      EXPECT_TRUE(ratio > 1 && ratio < 8) << "pair " << k;
    }
  }
  // On an edge the smooth band gives what its neighbour does. One pair, rate 1.
  const double turns = 8192 / 6.283185307179586;
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR((Llama3<>{8.0, turns, 2 * turns, 8192}.rates(Powers<>{2}).rates[0]), 0.125, rounding);
  EXPECT_NEAR((Llama3<>{8.0, turns / 2, turns, 8192}.rates(Powers<>{2}).rates[0]), 1, rounding);
  // Without a band it is a step.
  EXPECT_EQ((Llama3<>{8.0, turns * 1.01, turns * 1.01, 8192}.rates(Powers<>{2}).rates[0]), 0.125);
  EXPECT_EQ((Llama3<>{8.0, turns / 1.01, turns / 1.01, 8192}.rates(Powers<>{2}).rates[0]), 1);
  EXPECT_EQ((Llama3<>{8.0, turns, turns, 8192}.rates(Powers<>{2}).rates[0]), 0.125);
}

TEST(Llama3, LinearScaleAndSignComeOnTop) {
  Powers<> powers{64, 5e5};
  const Rates<double> plain = Llama3<>{}.rates(powers);
  powers.linear_scale = 0.25;
  powers.attention_factor = -1.5;
  powers.factors.assign(32, -1);
  const Rates<double> scaled = Llama3<>{}.rates(powers);
  for (std::size_t k = 0; k < 32; ++k) EXPECT_EQ(scaled.rates[k], plain.rates[k] * -0.25);
  EXPECT_EQ(scaled.attention_factor, -1.5);
}

TEST(Llama3, RefusesWhatHasNoMeaning) {
  const auto message = [](const Llama3<>& llama3) {
    return error_of([&] { (void)Frequencies({8}, llama3); });
  };
  EXPECT_EQ(message({0.0}), "[rope] llama3 factor must be finite and greater than 0, got 0");
  EXPECT_EQ(message({8.0, -1.0}), "[rope] low freq factor must be finite and not negative, got -1");
  EXPECT_EQ(message({8.0, 1.0, infinity}),
            "[rope] high freq factor must be finite and not negative, got inf");
  EXPECT_EQ(message({8.0, 4.0, 1.0}),
            "[rope] high freq factor must be at least the low freq factor (4), got 1");
  EXPECT_EQ(message({8.0, 1.0, 4.0, -1}), "[rope] original context must not be negative, got -1");
  EXPECT_EQ(error_of([] { (void)Frequencies({7}, Llama3<>{}); }),
            "[rope] rotary dims must be even, got 7");
}

using Dynamic = Eigen::AutoDiffScalar<Eigen::VectorXd>;

/// By the base alone: every other number has no derivatives, not even a vector of them.
TEST(Rates, DerivativesOfDynamicSizePassThroughConstants) {
  constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
  Powers<Dynamic> powers = Powers<>{16, 5e5, 0.25, 1.25}.cast<Dynamic>();
  powers.base = Dynamic(5e5, 1, 0);
  const Rates<Dynamic> power = powers.rates();
  const Rates<Dynamic> yarn = GgmlYarn<>{1.0, 4096}.cast<Dynamic>().rates(powers);
  const Rates<Dynamic> llama3 = Llama3<>{}.cast<Dynamic>().rates(powers);
  for (std::size_t k = 0; k < 8; ++k) {
    const double slope = -2 * static_cast<double>(k) / 16 / 5e5;
    for (const Dynamic& rate : {power.rates[k], yarn.rates[k]}) {
      ASSERT_EQ(rate.derivatives().size(), 1);
      EXPECT_NEAR(rate.derivatives()[0], slope * rate.value(),
                  rounding * std::abs(slope) * rate.value());
    }
    ASSERT_EQ(llama3.rates[k].derivatives().size(), 1);
  }
  // By the ends of the ramp alone.
  GgmlYarn<Dynamic> exact = GgmlYarn<>{1.0, 4096, 32.0, 1.0, RampEnds::exact}.cast<Dynamic>();
  exact.beta_slow = Dynamic(1, 1, 0);
  double moved = 0;
  for (const Dynamic& rate : exact.rates(Powers<>{16, 5e5, 0.25}.cast<Dynamic>()).rates) {
    if (rate.derivatives().size() == 1) moved += std::abs(rate.derivatives()[0]);
  }
  EXPECT_GT(moved, 0);
}

TEST(Rates, CastKeepsEveryParameterAndDropsDerivatives) {
  Powers<> powers{8, 100.0, 0.5, -2, {1, 2, 3, 4, 5}, {3, 2, 1, 0}, 4};
  const Powers<> back = powers.cast<Dynamic>().cast<double>();
  EXPECT_EQ(back.rotary_dims, 8);
  EXPECT_EQ(back.base, 100);
  EXPECT_EQ(back.linear_scale, 0.5);
  EXPECT_EQ(back.attention_factor, -2);
  EXPECT_EQ(back.factors, powers.factors);
  EXPECT_EQ(back.exponents, powers.exponents);
  EXPECT_EQ(back.exponent_dims, 4);
  const GgmlYarn<> yarn =
      GgmlYarn<>{0.5, 7, 3.0, 2.0, RampEnds::exact}.cast<DoubleDouble>().cast<double>();
  EXPECT_EQ(yarn.ext_factor, 0.5);
  EXPECT_EQ(yarn.original_context, 7);
  EXPECT_EQ(yarn.beta_fast, 3);
  EXPECT_EQ(yarn.beta_slow, 2);
  EXPECT_EQ(yarn.ends, RampEnds::exact);
  const Llama3<> llama3 = Llama3<>{2.0, 3.0, 5.0, 7}.cast<DoubleDouble>().cast<double>();
  EXPECT_EQ(llama3.factor, 2);
  EXPECT_EQ(llama3.low_freq_factor, 3);
  EXPECT_EQ(llama3.high_freq_factor, 5);
  EXPECT_EQ(llama3.original_context, 7);
}

TEST(Rates, ChecksLookAtValuesOfAnyScalar) {
  Powers<Dynamic> powers = Powers<>{8}.cast<Dynamic>();
  powers.base = Dynamic(-1, 1, 0);
  const std::string message = "[rope] base must be finite and greater than 0, got -1";
  EXPECT_EQ(error_of([&] { (void)powers.rates(); }), message);
  EXPECT_EQ(error_of([&] { (void)GgmlYarn<Dynamic>{}.rates(powers); }), message);
  EXPECT_EQ(error_of([&] { (void)Llama3<Dynamic>{}.rates(powers); }), message);
  EXPECT_EQ(error_of([&] { (void)ntk_base(Index{8}, powers.base, powers.base); }), message);
  EXPECT_EQ(error_of([&] { (void)ntk_base(Index{2}, powers.base, powers.base); }),
            "[rope] rotary dims must be greater than 2 for NTK scaling, got 2");
}

TEST(NtkBase, OfADifferentiableScalarIsThatOfNumbersWithItsDerivatives) {
  using Fixed = Eigen::AutoDiffScalar<Eigen::Vector2d>;
  const Fixed stretched = ntk_base(Index{128}, Fixed(10000, 2, 0), Fixed(8, 2, 1));
  const double expected = ntk_base(128, 10000, 8);
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(stretched.value(), expected, rounding * expected);
  EXPECT_NEAR(stretched.derivatives()[0], expected / 10000, rounding * expected / 10000);
  EXPECT_NEAR(stretched.derivatives()[1], expected / 8 * 128 / 126, rounding * expected / 8);
}

}  // namespace
}  // namespace eigen_rope::rates_tests
