// SPDX-License-Identifier: Apache-2.0
//
// The scalings of published configurations: what they have in common with the powers and with each
// other, numbers other people published, the edges of their rules, and what is refused. The
// recorded lists are in golden_scaling_test.cpp.
#include "eigen_rope/choices/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "support/error_of.hpp"
#include "support/real_number.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::scalings_tests {
namespace {

using test::error_of;
using test::exactly;
using test::Real;
using test::two_to;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What double-double leaves of a rate: exp and log are good to 2^-98.
const Real double_double_rounding = two_to(-92);

void expect_same(const Frequencies& actual, const Frequencies& expected,
                 const std::string& what = "") {
  ASSERT_EQ(actual.pairs(), expected.pairs());
  for (std::size_t k = 0; k < actual.rates().size(); ++k) {
    const Real rate = exactly(expected.rates()[k]);
    EXPECT_LE(abs(exactly(actual.rates()[k]) - rate), double_double_rounding * abs(rate))
        << what << " pair " << k;
  }
  EXPECT_LE(abs(exactly(actual.attention_factor()) - exactly(expected.attention_factor())),
            double_double_rounding)
      << what;
}

double rate(const Frequencies& frequencies, Index pair) {
  return static_cast<double>(frequencies.rates()[static_cast<std::size_t>(pair)]);
}
double magnitude(const Frequencies& frequencies) {
  return static_cast<double>(frequencies.attention_factor());
}

/// ggml's YaRN, which was called Yarn once, takes other numbers in these places.
static_assert(!std::is_aggregate_v<Yarn<>> && !std::is_constructible_v<Yarn<>, double> &&
              !std::is_constructible_v<Yarn<>, double, Index>);

TEST(Linear, IsALinearScaleThatNeedNotBeADouble) {
  const Powers<> powers{64, 5e5, 1, 1.5};
  Powers<> scaled = powers;
  scaled.linear_scale = 0.125;
  expect_same(Frequencies(powers, Linear<>{8}), Frequencies::powers(scaled));
  const Frequencies third = Frequencies(powers, Linear<>{3});
  for (std::size_t k = 0; k < 32; ++k) {
    const Real whole = exactly(Frequencies::powers(powers).rates()[k]);
    EXPECT_LE(abs(exactly(third.rates()[k]) * 3 - whole), double_double_rounding * whole);
  }
}

TEST(Proportional, StopsThePairsBehindTheRotatedOnes) {
  const Powers<> powers{64, 1e6, 1, 1.25};
  for (const Index rotated : {Index{0}, Index{5}, Index{32}}) {
    const Frequencies frequencies = Frequencies(powers, Proportional<>{4.0, rotated});
    EXPECT_EQ(magnitude(frequencies), 1.25);
    ASSERT_EQ(frequencies.pairs(), 32);
    for (Index k = 0; k < 32; ++k)
      EXPECT_EQ(rate(frequencies, k), k < rotated ? rate(Frequencies::powers(powers), k) / 4 : 0);
  }
  EXPECT_EQ(proportional_pairs(512, 0.25), 64);
  EXPECT_EQ(proportional_pairs(10, 0.5), 2);
  EXPECT_EQ(proportional_pairs(10, 0), 0);
  EXPECT_EQ(proportional_pairs(10, 1), 5);
}

TEST(PartialRotary, IsAWindowWithPowersOfItsOwnWidth) {
  EXPECT_EQ(partial_rotary_dims(128, 0.5), 64);
  EXPECT_EQ(partial_rotary_dims(80, 0.4), 32);
  EXPECT_EQ(partial_rotary_dims(4, 1), 4);
  EXPECT_EQ(error_of([] { (void)partial_rotary_dims(10, 0.5); }),
            "[rope] head dims times the rotated fraction (10 * 0.5) must be even and not 0, got 5");
  EXPECT_EQ(error_of([] { (void)partial_rotary_dims(128, 0); }),
            "[rope] head dims times the rotated fraction (128 * 0) must be even and not 0, got 0");
  EXPECT_EQ(error_of([] { (void)partial_rotary_dims(128, 1.5); }),
            "[rope] the rotated fraction must be from 0 to 1, got 1.5");
  EXPECT_EQ(error_of([] { (void)partial_rotary_dims(128, std::nan("")); }),
            "[rope] the rotated fraction must be from 0 to 1, got nan");
  EXPECT_EQ(error_of([] { (void)proportional_pairs(0, 0.5); }),
            "[rope] head dims must be positive, got 0");
}

TEST(DynamicNtkBase, IsThePublishedOne) {
  // 128 dims, base 10000, context 2048, factor 10.
  constexpr double fourteen_digits = 1e-14;
  const DynamicNtkScaling<> ntk{10.0, 2048};
  for (const Index length : {Index{0}, Index{1}, Index{2047}, Index{2048}})
    EXPECT_EQ(dynamic_ntk_base(128, 1e4, ntk, length), 1e4);
  EXPECT_NEAR(dynamic_ntk_base(128, 1e4, ntk, 4096), 114267.50052658, fourteen_digits * 114267);
  EXPECT_NEAR(dynamic_ntk_base(128, 1e4, ntk, 16384), 759702.231148009, fourteen_digits * 759702);
  EXPECT_NEAR(dynamic_ntk_base(128, 1e4, ntk, 32768), 1635173.66088263, fourteen_digits * 1635173);
}

TEST(DynamicNtk, StretchesTheSlowestPairAndKeepsTheFastest) {
  const Powers<> powers{64, 5e5};
  const Frequencies plain = Frequencies::powers(powers);
  for (const Index length : {Index{4097}, Index{5000}, Index{1} << 40}) {
    const Frequencies stretched = Frequencies(powers, DynamicNtkScaling<>{3.0, 4096}, length);
    EXPECT_EQ(rate(stretched, 0), 1);
    const Real stretch = 1 + 3 * (Real(length) - 4096) / 4096;
    const Real last = exactly(plain.rates()[31]) / stretch;
    EXPECT_LE(abs(exactly(stretched.rates()[31]) - last), double_double_rounding * last) << length;
  }
  // vLLM's static rule: one length, factor times the context.
  constexpr double rounding = 64 * epsilon;
  const double fixed = ntk_base(64, 5e5, 4 * 4 - 4 + 1);
  EXPECT_NEAR(dynamic_ntk_base(64, 5e5, DynamicNtkScaling<>{4.0, 4096}, 4 * 4096), fixed,
              rounding * fixed);
}

TEST(Ntk, FixedIsTheStretchedBaseAndTheDivision) {
  const Powers<> powers{128, 1e4};
  Powers<> stretched = powers;
  stretched.base = 8e4;
  const Frequencies fixed = Frequencies(powers, NtkScaling<>{8});
  const Real divisor = pow(Real(8), Real(2) / 128);
  for (std::size_t k = 0; k < 64; ++k) {
    const Real expected = exactly(Frequencies::powers(stretched).rates()[k]) / divisor;
    EXPECT_LE(abs(exactly(fixed.rates()[k]) - expected), double_double_rounding * expected);
  }
}

TEST(Ntk, MixedDividesTheSlowestPairByTheFactorAndAllByItWhereBIsZero) {
  const Powers<> powers{64, 1e4};
  const Frequencies plain = Frequencies::powers(powers);
  for (const double b : {0.0, 0.625, 1.0, 3.0}) {
    const Frequencies mixed = Frequencies(powers, NtkScaling<>{8, b});
    EXPECT_NEAR(rate(mixed, 31) * 8, rate(plain, 31), epsilon * rate(plain, 31)) << b;
    for (Index k = 0; k < 31; ++k) {
      const double ratio = rate(plain, k) / rate(mixed, k);
      if (b == 0) {
        EXPECT_NEAR(ratio, 8, 16 * epsilon);
      } else {
        EXPECT_TRUE(ratio > 1 && ratio < 8) << "pair " << k << ", b " << b;
      }
    }
  }
}

TEST(Yarn, IsGgmlsWhereTheRampHasAWidth) {
  for (const RampEnds ends : {RampEnds::rounded, RampEnds::exact}) {
    for (const double factor : {4.0, 32.0}) {
      Powers<> powers{64, 150000.0};
      const Frequencies hugging_face =
          Frequencies(powers, test::yarn_of(factor, 4096, 32.0, 1.0, ends));
      powers.linear_scale = 1 / factor;
      expect_same(hugging_face, Frequencies(powers, GgmlYarn<>{1.0, 4096, 32.0, 1.0, ends}));
    }
  }
}

TEST(Yarn, EndsOfTheRamp) {
  struct Case {
    Index dims;
    double base;
    Index context;
    double beta_fast, low, high;
  };
  for (const Case& c : {Case{128, 1e4, 2048, 32, 16, 41}, Case{128, 1e4, 64, 32, 0, 17},
                        Case{128, 1e4, 2048, 1000, 0, 41}, Case{64, 1e4, 131072, 32, 22, 35},
                        Case{64, 1e4, 4096, 32, 10, 23}, Case{256, 1e4, 131072, 32, 90, 139},
                        Case{64, 150000, 4096, 32, 8, 18}}) {
    const Frequencies plain = Frequencies::powers({c.dims, c.base});
    const Frequencies yarn =
        Frequencies({c.dims, c.base}, test::yarn_of(4.0, c.context, c.beta_fast));
    for (Index k = 0; k < c.dims / 2; ++k) {
      const double place =
          std::min(1.0, std::max(0.0, (static_cast<double>(k) - c.low) / (c.high - c.low)));
      const double expected = rate(plain, k) * (place / 4 + 1 - place);
      EXPECT_NEAR(rate(yarn, k), expected, 8 * epsilon * expected)
          << c.dims << " dims, context " << c.context << ", pair " << k;
    }
  }
}

TEST(Yarn, ANegativeEndScalesNothing) {
  // 4 and 5 tokens are less than a turn of the fastest pair: c(1) = -1.57 and -0.79, which is
  // rounded to 0, the first pair.
  const Powers<> powers{64};
  const Frequencies plain = Frequencies::powers(powers);
  for (const Yarn<>& yarn :
       {test::yarn_of(4.0, 4), test::yarn_of(4.0, 4, 32.0, 1.0, RampEnds::exact),
        test::yarn_of(4.0, 5, 32.0, 1.0, RampEnds::exact)}) {
    for (Index k = 0; k < 32; ++k)
      EXPECT_EQ(rate(Frequencies(powers, yarn), k), rate(plain, k)) << "pair " << k;
  }
  const Frequencies at_zero = Frequencies(powers, test::yarn_of(4.0, 5));
  for (Index k = 0; k < 32; ++k)
    EXPECT_EQ(rate(at_zero, k), k == 0 ? 1 : rate(plain, k) / 4) << "pair " << k;
}

TEST(Yarn, EqualEndsAreAStep) {
  // Both ends 22.51...: up to pair 22 kept, then divided.
  const Powers<> powers{64};
  const Frequencies plain = Frequencies::powers(powers);
  const Frequencies yarn = Frequencies(powers, test::yarn_of(4.0, 4096, 1.0, 1.0, RampEnds::exact));
  for (Index k = 0; k < 32; ++k)
    EXPECT_EQ(rate(yarn, k), k <= 22 ? rate(plain, k) : rate(plain, k) / 4) << "pair " << k;
  // An end on a pair: it is kept. c(beta) = log2(turns) / 2 for 16 dims and base 2^16.
  const double beta = 32768 / 16.0 / 6.283185307179586;
  const Powers<> sixteen{16, 65536.0};
  const double kept =
      rate(Frequencies(sixteen, test::yarn_of(4.0, 32768, beta, beta, RampEnds::exact)), 2);
  EXPECT_NEAR(kept, rate(Frequencies::powers(sixteen), 2), 1e-11) << "within 0.001 of the end";
}

TEST(Yarn, EndsInTheWrongOrderTurnTheRampRound) {
  const Powers<> powers{64};
  const Frequencies plain = Frequencies::powers(powers);
  const Frequencies yarn =
      Frequencies(powers, test::yarn_of(4.0, 4096, 1.0, 32.0));  // low 22, high 11
  for (Index k = 0; k < 32; ++k) {
    const double place = std::min(1.0, std::max(0.0, (static_cast<double>(k) - 22) / (11 - 22)));
    EXPECT_NEAR(rate(yarn, k), rate(plain, k) * (place / 4 + 1 - place),
                8 * epsilon * rate(plain, k))
        << "pair " << k;
  }
}

TEST(Yarn, ExtrapolationWeighsTheKeptPart) {
  const Powers<> powers{64};
  Yarn<> yarn = test::yarn_of(4.0, 4096);
  yarn.extrapolation = 0;
  const Frequencies none = Frequencies(powers, yarn);
  for (Index k = 0; k < 32; ++k) EXPECT_EQ(rate(none, k), rate(Frequencies::powers(powers), k) / 4);
  yarn.extrapolation = 0.5;
  const double half = rate(Frequencies(powers, yarn), 0);
  EXPECT_EQ(half, 0.5 / 4 + 0.5);
}

double yarn_m(double factor, std::optional<double> mscale, double all_dim, YarnMagnitude rule,
              double attention_factor = 1) {
  Yarn<> yarn = test::yarn_of(factor, 4096);
  yarn.mscale = mscale;
  yarn.mscale_all_dim = all_dim;
  yarn.magnitude = rule;
  return magnitude(Frequencies({64, 1e4, 1, attention_factor}, yarn));
}

TEST(Yarn, MagnitudesByBothRules) {
  constexpr double two_ulp = 2 * epsilon;
  const YarnMagnitude hugging_face = YarnMagnitude::hugging_face;
  const YarnMagnitude deepseek = YarnMagnitude::deepseek;
  // The published pair of numbers the two rules differ by.
  EXPECT_NEAR(yarn_m(40, 0.707, 0, deepseek), 1.2608037774058553, two_ulp);
  EXPECT_NEAR(yarn_m(40, 0.707, 0, hugging_face), 1.3688879454113936, two_ulp);
  // DeepSeek V3: both 1.
  for (const YarnMagnitude rule : {hugging_face, deepseek}) EXPECT_EQ(yarn_m(40, 1.0, 1, rule), 1);
  const double ratio = 1.2608037774058553 / 1.3688879454113936;
  for (const YarnMagnitude rule : {hugging_face, deepseek})
    EXPECT_NEAR(yarn_m(40, 0.707, 1, rule), ratio, two_ulp);
  // Without mscale: 1 for DeepSeek's rule, no ratio for the other.
  EXPECT_NEAR(yarn_m(40, std::nullopt, 0.707, deepseek), 1 / ratio, two_ulp);
  EXPECT_NEAR(yarn_m(40, std::nullopt, 0.707, hugging_face), 1.3688879454113936, two_ulp);
  // gpt-oss.
  EXPECT_NEAR(yarn_m(32, std::nullopt, 0, hugging_face), 1.3465735902799727, two_ulp);
  // Up to a factor of 1 there is none, but for what was given.
  for (const YarnMagnitude rule : {hugging_face, deepseek}) {
    EXPECT_EQ(yarn_m(1, 0.707, 0, rule, 2), 2);
    EXPECT_EQ(yarn_m(0.5, 0.707, 0.5, rule, 2), 2);
    EXPECT_EQ(yarn_m(40, 1.0, 1, rule, -3), -3);
  }
  EXPECT_EQ(yarn_m(40, 0.707, 0, YarnMagnitude::given, 0.5), 0.5);
}

TEST(YarnSoftmaxMultiplier, IsThePublishedOne) {
  constexpr double one_ulp = epsilon;
  EXPECT_NEAR(yarn_softmax_multiplier(40.0, 0.707), 1.5896261651208735, one_ulp);
  EXPECT_NEAR(yarn_softmax_multiplier(40.0, 1.0), 1.8738542070926266, one_ulp);
  EXPECT_EQ(yarn_softmax_multiplier(40.0, 0.0), 1);
  EXPECT_EQ(yarn_softmax_multiplier(0.5, 1.0), 1);
  EXPECT_EQ(error_of([] { (void)yarn_softmax_multiplier(0.0, 1.0); }),
            "[rope] factor must be finite and greater than 0, got 0");
  EXPECT_EQ(error_of([] { (void)yarn_softmax_multiplier(1.0, infinity); }),
            "[rope] mscale all dim must be finite, got inf");
}

TEST(LongRope, SwitchesAboveTheOriginalContext) {
  const Powers<> powers{8, 1e4, 1, 1.5};
  const LongRope<> longrope{{1, 2, 3, 4}, {5, 6, 7, 8}, 4096, 32.0};
  Powers<> short_powers = powers;
  short_powers.factors = longrope.short_factor;
  Powers<> long_powers = powers;
  long_powers.factors = longrope.long_factor;
  // Phi-3 128k.
  constexpr double two_ulp = 2 * epsilon;
  for (const Index length :
       {Index{0}, Index{4096}, Index{4097}, std::numeric_limits<Index>::max()}) {
    const Frequencies frequencies = Frequencies(powers, longrope, length);
    const Frequencies expected = Frequencies::powers(length > 4096 ? long_powers : short_powers);
    for (Index k = 0; k < 4; ++k) EXPECT_EQ(rate(frequencies, k), rate(expected, k)) << length;
    EXPECT_NEAR(magnitude(frequencies), 1.5 * 1.1902380714238083, 1.5 * two_ulp);
  }
}

TEST(LongRope, MagnitudeIsOneUpToAFactorOfOneOrAsGiven) {
  LongRope<> longrope{{1, 1}, {2, 2}, 4096, 1.0};
  EXPECT_EQ(magnitude(Frequencies({4}, longrope, 0)), 1);
  longrope.factor = 0.25;
  EXPECT_EQ(magnitude(Frequencies({4}, longrope, 0)), 1);
  longrope.factor = 32;
  longrope.magnitude = LongRopeMagnitude::given;
  EXPECT_EQ(magnitude(Frequencies({4, 1e4, 1, 1.75}, longrope, 0)), 1.75);
}

TEST(Axial, IsTwoAxesWithThePowersOfHalfTheHead) {
  // What is no scaling: each axis has positions and a window of its own.
  Powers<> powers{16, 100.0};
  powers.exponent_dims = 8;
  for (Index k = 0; k < 8; ++k) powers.exponents.push_back(k % 4);
  const Frequencies both = Frequencies::powers(powers);
  const Frequencies one = Frequencies::powers({8, 100.0});
  for (Index k = 0; k < 8; ++k) EXPECT_EQ(rate(both, k), rate(one, k % 4));
}

TEST(Scalings, InDoubleAreThoseInDoubleDouble) {
  // (4 ln(5e5) + 4)/2 units for a power, and as much again for a scaling of its own.
  constexpr double rounding = 64 * epsilon;
  const Powers<> powers{64, 5e5, 0.5, 1.25};
  const std::vector<double> divisors(32, 1.7);
  const auto expect = [&](const Rates<double>& actual, const Frequencies& expected,
                          const char* what) {
    for (Index k = 0; k < 32; ++k) {
      EXPECT_NEAR(actual.rates[static_cast<std::size_t>(k)], rate(expected, k),
                  rounding * rate(expected, k))
          << what;
    }
    EXPECT_NEAR(actual.attention_factor, magnitude(expected), rounding) << what;
  };
  expect(Linear{3.0}.rates(powers), Frequencies(powers, Linear<>{3}), "linear");
  expect(Proportional<>{3.0, 7}.rates(powers), Frequencies(powers, Proportional<>{3.0, 7}),
         "proportional");
  expect(DynamicNtkScaling<>{3.0, 100}.rates(powers, 777),
         Frequencies(powers, DynamicNtkScaling<>{3.0, 100}, 777), "dynamic");
  expect(NtkScaling<>{3, 0.6}.rates(powers), Frequencies(powers, NtkScaling<>{3, 0.6}), "ntk");
  for (const RampEnds ends : {RampEnds::rounded, RampEnds::exact}) {
    const Yarn<> yarn =
        test::yarn_of(3.0, 4096, 31.0, 1.1, ends, YarnMagnitude::deepseek, {0.8}, 0.3, 0.9);
    expect(yarn.rates(powers), Frequencies(powers, yarn), "yarn");
  }
  const LongRope<> longrope{divisors, divisors, 100, 3.0};
  expect(longrope.rates(powers, 101), Frequencies(powers, longrope, 101), "longrope");
}

TEST(Scalings, RefuseWhatHasNoMeaning) {
  const Powers<> powers{4};
  const std::string factor = "[rope] factor must be finite and greater than 0, got 0";
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, Linear<>{0}); }), factor);
  EXPECT_EQ(error_of([&] { (void)Frequencies({7}, Linear<>{0}); }),
            "[rope] rotary dims must be even, got 7");
  EXPECT_EQ(error_of([&] {
              (void)Frequencies(powers, Proportional<>{1.0, 3});
            }),
            "[rope] rotated pairs must be from 0 to all of them (2), got 3");
  EXPECT_EQ(error_of([&] {
              (void)Frequencies(powers, Proportional<>{1.0, -1});
            }),
            "[rope] rotated pairs must be from 0 to all of them (2), got -1");
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, DynamicNtkScaling<>{0.0, 1}, 1); }), factor);
  EXPECT_EQ(error_of([&] {
              (void)Frequencies(powers, DynamicNtkScaling<>{1.0, 0}, 1);
            }),
            "[rope] original context must be positive, got 0");
  EXPECT_EQ(error_of([&] {
              (void)Frequencies(powers, DynamicNtkScaling<>{1.0, 1}, -1);
            }),
            "[rope] length must not be negative, got -1");
  EXPECT_EQ(error_of([&] {
              (void)Frequencies({2}, DynamicNtkScaling<>{1.0, 1}, 1);
            }),
            "[rope] rotary dims must be greater than 2 for NTK scaling, got 2");
  EXPECT_EQ(error_of([&] {
              (void)Frequencies(powers, DynamicNtkScaling<>{1e300, 1}, 1000);
            }),
            "[rope] length must not be so large that the base overflows, got 1000");
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, NtkScaling<>{0}); }), factor);
  EXPECT_EQ(error_of([&] {
              (void)Frequencies(powers, NtkScaling<>{1, -1});
            }),
            "[rope] mixed_b must be finite and not negative, got -1");
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, test::yarn_of(0.0, 4096)); }), factor);
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, test::yarn_of(1.0, 0)); }),
            "[rope] original context must be positive, got 0");
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, test::yarn_of(1.0, 1, 0.0)); }),
            "[rope] beta fast must be finite and greater than 0, got 0");
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, test::yarn_of(1.0, 1, 1.0, 0.0)); }),
            "[rope] beta slow must be finite and greater than 0, got 0");
  EXPECT_EQ(
      error_of([&] {
        (void)Frequencies({4, 1.0}, test::yarn_of(1.0, 4096));
      }),
      "[rope] base must not be 1 with YaRN, whose correction dims divide by its logarithm, got 1");
  Yarn<> yarn = test::yarn_of(4.0, 4096);
  yarn.mscale = infinity;
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, yarn); }),
            "[rope] mscale must be finite, got inf");
  yarn = test::yarn_of(4.0, 4096);
  yarn.mscale_all_dim = -infinity;
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, yarn); }),
            "[rope] mscale all dim must be finite, got -inf");
  yarn = test::yarn_of(4.0, 4096);
  yarn.extrapolation = infinity;
  EXPECT_EQ(error_of([&] { (void)Frequencies(powers, yarn); }),
            "[rope] extrapolation must be finite, got inf");
  const auto longrope = [&](const LongRope<>& scaling, Index length = 1) {
    return error_of([&] { (void)Frequencies(powers, scaling, length); });
  };
  EXPECT_EQ(longrope({{1}, {1, 1}}), "[rope] short factor must be one per pair (2), got 1");
  EXPECT_EQ(longrope({{1, 1}, {1, 1, 1}}), "[rope] long factor must be one per pair (2), got 3");
  EXPECT_EQ(longrope({{1, 0}, {1, 1}}), "[rope] short factor 1 must be finite and not 0, got 0");
  EXPECT_EQ(longrope({{1, 1}, {infinity, 1}}),
            "[rope] long factor 0 must be finite and not 0, got inf");
  EXPECT_EQ(longrope({{1, 1}, {1, 1}, 0}), "[rope] original context must be positive, got 0");
  EXPECT_EQ(longrope({{1, 1}, {1, 1}, 4096, 0.0}), factor);
  EXPECT_EQ(longrope({{1, 1}, {1, 1}}, -1), "[rope] length must not be negative, got -1");
  EXPECT_EQ(longrope({{1, 1}, {1, 1}, 1, 2.0}),
            "[rope] original context must be greater than 1 with LongRoPE, whose magnitude divides "
            "by its logarithm, got 1");
  EXPECT_EQ(error_of([] {
              (void)Frequencies({4, 1e4, 1, 1, {1, 1}}, LongRope<>{{1, 1}, {1, 1}}, 1);
            }),
            "[rope] frequency factors must be empty with LongRoPE, which brings its own, got 2");
}

}  // namespace
}  // namespace eigen_rope::scalings_tests
