// SPDX-License-Identifier: Apache-2.0
//
// A scaling held as a value gives what its own factory gives.
#include "eigen_rope/choices/scaling_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eigen_rope/numbers/error.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::scaling_choice_tests {
namespace {

const Powers powers{8, 10000.0};

void expect_same(const Frequencies& mine, const Frequencies& named) {
  ASSERT_EQ(mine.pairs(), named.pairs());
  for (std::size_t k = 0; k < mine.rates().size(); ++k) {
    EXPECT_EQ(mine.rates()[k].high, named.rates()[k].high) << k;
    EXPECT_EQ(mine.rates()[k].low, named.rates()[k].low) << k;
  }
  EXPECT_EQ(mine.attention_factor().high, named.attention_factor().high);
}

TEST(ScalingChoice, GivesWhatTheFactoryGives) {
  const LongRope longrope{{1, 2, 3, 4}, {5, 6, 7, 8}, 100, 4.0};
  expect_same(frequencies(powers, Unscaled{}), Frequencies::powers(powers));
  expect_same(frequencies(powers, Linear{3}), Frequencies::linear(powers, 3));
  expect_same(frequencies(powers, Proportional{2.0, 3}), Frequencies::proportional(powers, {2.0, 3}));
  expect_same(frequencies(powers, DynamicNtkScaling{2.0, 100}, 300), Frequencies::dynamic_ntk(powers, {2.0, 100}, 300));
  expect_same(frequencies(powers, NtkScaling{4, 0.5}), Frequencies::ntk(powers, {4, 0.5}));
  expect_same(frequencies(powers, test::yarn_of(4.0, 100)), Frequencies::yarn(powers, test::yarn_of(4.0, 100)));
  expect_same(frequencies(powers, GgmlYarn{1.0, 100}), Frequencies::ggml_yarn(powers, {1.0, 100}));
  expect_same(frequencies(powers, Llama3{8.0, 1.0, 4.0, 100}), Frequencies::llama3(powers, {8.0, 1.0, 4.0, 100}));
  expect_same(frequencies(powers, longrope, 100), Frequencies::longrope(powers, longrope, 100));
  expect_same(frequencies(powers, longrope, 101), Frequencies::longrope(powers, longrope, 101));
}

TEST(ScalingChoice, KnowsNameContextAndWhetherLengthMatters) {
  EXPECT_STREQ(scaling_name(Unscaled{}), "default");
  EXPECT_STREQ(scaling_name(Yarn{}), "yarn");
  EXPECT_STREQ(scaling_name(GgmlYarn{}), "yarn");
  EXPECT_STREQ(scaling_name(DynamicNtkScaling{}), "dynamic");
  EXPECT_EQ(original_context(Llama3{}), 8192);
  EXPECT_EQ(original_context(Linear{2}), std::nullopt);
  EXPECT_TRUE(depends_on_length(LongRope{}));
  EXPECT_TRUE(depends_on_length(DynamicNtkScaling{}));
  EXPECT_FALSE(depends_on_length(Yarn{}));
}

TEST(ScalingChoice, RefusesWhatTheFactoryRefuses) {
  const auto message = [](const Scaling& scaling, Index length) -> std::string {
    try {
      frequencies(powers, scaling, length);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(Unscaled{}, -1), "[rope] the length of a sequence must be at least 0, got -1");
  EXPECT_THAT(message(Linear{0}, 0), testing::HasSubstr("factor"));
}

}  // namespace
}  // namespace eigen_rope::scaling_choice_tests
