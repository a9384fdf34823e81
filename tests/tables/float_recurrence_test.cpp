// SPDX-License-Identifier: Apache-2.0
//
// The float recurrence by hand for a few entries, its closeness to the exact table where floats
// suffice, and its decay where they do not. All of ggml's recorded answers are compared in
// golden_ggml_test.cpp.
#include "eigen_rope/tables/float_recurrence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "support/error_of.hpp"

namespace eigen_rope::float_recurrence_tests {
namespace {

Powers<> powers_of(Index dims) {
  Powers<> powers;
  powers.rotary_dims = dims;
  return powers;
}

GgmlYarn<> without_yarn() {
  GgmlYarn<> yarn;
  yarn.ext_factor = 0;
  return yarn;
}

double worst_difference(std::int64_t position) {
  const Positions at = Positions::range(position, 1);
  const Cache<float> exact(Frequencies::powers(powers_of(128)), at);
  const Cache<float> mine = float_recurrence_cache(powers_of(128), without_yarn(), at);
  double worst = 0;
  for (Index k = 0; k < exact.pairs(); ++k)
    worst = std::max(worst, static_cast<double>(std::abs(exact.cos()[k] - mine.cos()[k])));
  return worst;
}

TEST(FloatRecurrence, MultipliesTheAngleUp) {
  Powers<> powers = powers_of(6);
  powers.linear_scale = 0.5;
  powers.attention_factor = 1.25;
  powers.factors = {1, 2, 4};
  const Cache<float> table =
      float_recurrence_cache(powers, without_yarn(), Positions::ids(std::vector<int>{7}));
  const float theta_scale = std::pow(10000.0F, -2.0F / 6.0F);
  float theta = 7.0F;
  for (Index k = 0; k < 3; ++k) {
    const float angle =
        0.5F * (theta / static_cast<float>(powers.factors[static_cast<std::size_t>(k)]));
    EXPECT_EQ(table.cos()[k], std::cos(angle) * 1.25F);
    EXPECT_EQ(table.sin()[k], std::sin(angle) * 1.25F);
    theta *= theta_scale;
  }
}

TEST(FloatRecurrence, RestartsWhereTheExponentsDo) {
  Powers<> powers = powers_of(8);
  powers.exponents = {0, 1, 0, 1};
  powers.exponent_dims = 4;
  const Cache<float> table = float_recurrence_cache(powers, without_yarn(), Positions::range(3, 1));
  EXPECT_EQ(table.cos()[0], std::cos(3.0F));
  EXPECT_EQ(table.cos()[2], table.cos()[0]);
  EXPECT_EQ(table.cos()[3], table.cos()[1]);
}

// The figures of reference measurements of ggml: a few 1e-5 below 512, 1e-1 at a million, nothing
// beyond 2^24.
TEST(FloatRecurrence, LosesDigitsWithThePosition) {
  EXPECT_LT(worst_difference(500), 2e-4);
  EXPECT_GT(worst_difference(1000000), 1e-3);
  EXPECT_GT(worst_difference((std::int64_t{1} << 31) - 7), 0.5);
}

TEST(FloatRecurrence, RefusesWhatTheExactTableRefuses) {
  Powers<> powers = powers_of(7);
  EXPECT_EQ(test::error_of([&] {
              (void)float_recurrence_cache(powers, without_yarn(), Positions::range(0, 1));
            }),
            "[rope] rotary dims must be even, got 7");
  powers = powers_of(4);
  powers.exponents = {0, 2};
  EXPECT_EQ(test::error_of([&] {
              (void)float_recurrence_cache(powers, without_yarn(), Positions::range(0, 1));
            }),
            "[rope] exponents of a float recurrence must be 0 to 1, got 2");
  GgmlYarn<> yarn;
  yarn.original_context = 4096;
  yarn.ends = RampEnds::exact;
  EXPECT_EQ(test::error_of(
                [&] { (void)float_recurrence_cache(powers_of(4), yarn, Positions::range(0, 1)); }),
            "[rope] ends of YaRN's ramp must be rounded in the float recurrence, as ggml rounds "
            "them, got exact ends");
}

}  // namespace
}  // namespace eigen_rope::float_recurrence_tests
