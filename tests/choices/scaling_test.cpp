// SPDX-License-Identifier: Apache-2.0
//
// A scaling held as a value gives what its own class gives.
#include "eigen_rope/choices/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::scaling_tests {
namespace {

const Powers<> powers{8, 10000.0};

/// The frequencies of a scaling held as a value are the formula of its class in double-double.
template <class OneScaling>
void expect_formula(const OneScaling& scaling, Index length = 0) {
  const Scaling any = scaling;
  const Frequencies frequencies(powers, any, length);
  const Rates<DoubleDouble> expected =
      scaling.template cast<DoubleDouble>().rates(powers.cast<DoubleDouble>(), length);
  EXPECT_EQ(frequencies.rates(), expected.rates) << scaling << ", length " << length;
  EXPECT_EQ(frequencies.attention_factor(), expected.attention_factor) << scaling;
}

template <class... Scalings>
std::vector<std::string> names_of(const std::variant<Scalings...>* /*any*/) {
  return {Scalings::name...};
}

TEST(Scaling, NamesAreDifferent) {
  const std::vector<std::string> names = names_of(static_cast<const Scaling*>(nullptr));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), std::variant_size_v<Scaling>);
}

TEST(Scaling, GivesTheFormulaOfItsClass) {
  expect_formula(Unscaled{});
  expect_formula(Linear{3.0});
  expect_formula(Proportional{2.0, 3});
  expect_formula(NtkScaling{4.0, 0.5});
  expect_formula(test::yarn_of(4.0, 100));
  expect_formula(GgmlYarn{1.0, 100});
  expect_formula(Llama3{8.0, 1.0, 4.0, 100});
  const LongRope<> longrope{{1, 2, 3, 4}, {5, 6, 7, 8}, 100, 4.0};
  for (const Index length : {Index{100}, Index{101}, Index{300}}) {
    expect_formula(DynamicNtkScaling{2.0, 100}, length);
    expect_formula(longrope, length);
  }
  EXPECT_NE(Frequencies(powers, longrope, 100), Frequencies(powers, longrope, 101));
  EXPECT_EQ(Frequencies(powers, Unscaled()), Frequencies::powers(powers));
}

TEST(Scaling, KnowsNameContextAndWhetherLengthMatters) {
  EXPECT_STREQ(scaling_name(Unscaled<>{}), "default");
  EXPECT_STREQ(scaling_name(Yarn<>{}), "yarn");
  EXPECT_STREQ(scaling_name(GgmlYarn<>{}), "yarn");
  EXPECT_STREQ(scaling_name(DynamicNtkScaling<>{}), "dynamic");
  EXPECT_EQ(original_context(Llama3<>{}), 8192);
  EXPECT_EQ(original_context(Linear<>{2}), std::nullopt);
  EXPECT_TRUE(depends_on_length(LongRope<>{}));
  EXPECT_TRUE(depends_on_length(DynamicNtkScaling<>{}));
  EXPECT_FALSE(depends_on_length(Yarn<>{}));
}

TEST(Scaling, RefusesWhatItsClassRefuses) {
  const auto message = [](const Scaling& scaling, Index length) -> std::string {
    try {
      Frequencies(powers, scaling, length);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(Unscaled<>{}, -1), "[rope] length must not be negative, got -1");
  EXPECT_THAT(message(Linear<>{0}, 0), testing::HasSubstr("factor"));
}

}  // namespace
}  // namespace eigen_rope::scaling_tests
