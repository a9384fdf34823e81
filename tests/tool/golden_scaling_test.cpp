// SPDX-License-Identifier: Apache-2.0
//
// Every set of data/golden/scaling/inv_freq.json, whatever it holds, against its decimal digits in
// 200 bits, and the lists published in Hugging Face transformers' tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "support/published_rates.hpp"
#include "support/real_number.hpp"
#include "support/yarn.hpp"
#include "tool/verify/scaling.hpp"

namespace eigen_rope::golden_scaling_tests {
namespace {

using test::exactly;
using test::Real;

const tool::GoldenIndex& sets() {
  static const tool::GoldenIndex index =
      tool::read_scaling_index(EIGEN_ROPE_TEST_DATA "/golden/scaling/inv_freq.json");
  return index;
}

/// Both as doubles: what was computed is rounded once, the digits are not.
void expect_within(double units, DoubleDouble actual, const tool::Json& digits,
                   const std::string& what) {
  const Real expected(digits.get<std::string>());
  const double rounded = static_cast<double>(actual);
  EXPECT_LE(abs(exactly(rounded) - expected), units * test::ulp(rounded))
      << what << ": " << rounded << " for " << digits;
}

class GoldenScaling : public testing::TestWithParam<std::size_t> {};

TEST_P(GoldenScaling, IsWithinFourUlp) {
  constexpr double allowed = 4;
  const tool::Entry set = sets().entry(GetParam());
  const Frequencies frequencies = tool::frequencies_of(set);
  const tool::Json& digits = set.list("inv_freq");
  ASSERT_EQ(static_cast<std::size_t>(frequencies.pairs()), digits.size());
  for (std::size_t k = 0; k < digits.size(); ++k)
    expect_within(allowed, frequencies.rates()[k], digits[k], "rate " + std::to_string(k));
  expect_within(allowed, frequencies.attention_factor(), set.json()["attention_factor"],
                "attention factor");
}

/// Not only to 4 units: rates are carried finer than double, so that rounding them once gives the
/// digits rounded.
TEST_P(GoldenScaling, IsTheDigitsRounded) {
  constexpr double half_a_unit_and_the_last_digit = 0.51;
  const tool::Entry set = sets().entry(GetParam());
  const Frequencies frequencies = tool::frequencies_of(set);
  const tool::Json& digits = set.list("inv_freq");
  ASSERT_EQ(static_cast<std::size_t>(frequencies.pairs()), digits.size());
  for (std::size_t k = 0; k < digits.size(); ++k) {
    expect_within(half_a_unit_and_the_last_digit, frequencies.rates()[k], digits[k],
                  "rate " + std::to_string(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, GoldenScaling, testing::Range(std::size_t{0}, sets().cases().size()),
                         [](const auto& set) {
                           std::string name =
                               sets().cases()[set.param]["name"].template get<std::string>();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(GoldenScalings, AreNineteen) { EXPECT_EQ(sets().cases().size(), 19U); }

// Hugging Face's lists: 128 dims, base 10000, factor 10, original context 2048.

const Powers<> llama{128};
constexpr Index context = 2048;

TEST(PublishedScaling, Default) {
  test::expect_published(Frequencies::powers(llama), test::published_default);
}

TEST(PublishedScaling, LinearIsTheDefaultDivided) {
  for (const double factor : {2.0, 10.0, 20.0})
    test::expect_published(Frequencies(llama, Linear<>{factor}), test::published_default, factor);
}

TEST(PublishedScaling, Dynamic) {
  for (const Index length : {Index{0}, Index{1}, context}) {
    test::expect_published(Frequencies(llama, DynamicNtkScaling<>{10.0, context}, length),
                           test::published_default);
  }
  test::expect_published(Frequencies(llama, DynamicNtkScaling<>{10.0, context}, 16384),
                         test::published_dynamic);
}

TEST(PublishedScaling, GgmlYarn) {
  Yarn<> yarn = test::yarn_of(10.0, context);
  test::expect_published(Frequencies(llama, yarn), test::published_yarn);
  // beta_fast 1000: the last 20 are divided.
  yarn.beta_fast = 1000;
  const Frequencies steep = Frequencies(llama, yarn);
  for (std::size_t k = 44; k < 64; ++k) {
    EXPECT_NEAR(static_cast<double>(steep.rates()[k]) * 10, test::published_default[k],
                6e-5 * test::published_default[k])
        << "pair " << k;
  }
}

TEST(PublishedScaling, YarnOfGemma) {
  // Gemma 3, 256 dims, original context 131072: from index 90 on.
  const Frequencies gemma = Frequencies({256}, test::yarn_of(10.0, 131072));
  const std::vector<std::pair<std::size_t, double>> published{
      {90, 1.5399e-03}, {91, 1.4067e-03},  {92, 1.2845e-03},  {93, 1.1726e-03}, {94, 1.0699e-03},
      {95, 9.7592e-04}, {100, 6.1216e-04}, {126, 3.9121e-05}, {127, 3.4431e-05}};
  constexpr double five_digits = 6e-5;
  for (const auto& [pair, rate] : published) {
    EXPECT_NEAR(static_cast<double>(gemma.rates()[pair]), rate, five_digits * rate)
        << "pair " << pair;
  }
}

TEST(PublishedScaling, Proportional) {
  const Index pairs = proportional_pairs(128, 0.25);
  ASSERT_EQ(pairs, 16);
  const Frequencies frequencies = Frequencies(llama, Proportional<>{1.0, pairs});
  ASSERT_EQ(frequencies.pairs(), 64);
  for (std::size_t k = 0; k < 64; ++k) {
    const double published = k < 16 ? test::published_default[k] : 0;
    EXPECT_NEAR(static_cast<double>(frequencies.rates()[k]), published, 6e-5 * published)
        << "pair " << k;
  }
}

TEST(PublishedScaling, AttentionFactors) {
  constexpr double two_ulp = 4.5e-16;
  const std::vector<std::pair<double, double>> yarn{
      {2, 1.0693147180559945}, {10, 1.2302585092994046}, {20, 1.2995732273553991}};
  for (const auto& [factor, published] : yarn) {
    const Frequencies frequencies = Frequencies(llama, test::yarn_of(factor, context));
    EXPECT_NEAR(static_cast<double>(frequencies.attention_factor()), published, two_ulp);
  }
  const std::vector<std::pair<double, double>> longrope{
      {2, 1.044465935734187}, {10, 1.141049281657711}, {20, 1.1802129274332955}};
  const std::vector<double> ones(64, 1);
  for (const auto& [factor, published] : longrope) {
    const Frequencies frequencies = Frequencies(llama, LongRope<>{ones, ones, context, factor}, 0);
    EXPECT_NEAR(static_cast<double>(frequencies.attention_factor()), published, two_ulp);
  }
  EXPECT_EQ(static_cast<double>(Frequencies(llama, Linear<>{10}).attention_factor()), 1);
  EXPECT_EQ(static_cast<double>(
                Frequencies(llama, DynamicNtkScaling<>{10.0, context}, 16384).attention_factor()),
            1);
  Powers<> half = llama;
  half.attention_factor = 0.5;
  Yarn<> given = test::yarn_of(10.0, context);
  given.magnitude = YarnMagnitude::given;
  EXPECT_EQ(static_cast<double>(Frequencies(half, given).attention_factor()), 0.5);
}

}  // namespace
}  // namespace eigen_rope::golden_scaling_tests
