// SPDX-License-Identifier: Apache-2.0
//
// How a refusal's sentence is made. Which refusals there are is the bad input matrix (bad_input/).
#include "eigen_rope/numbers/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "support/error_of.hpp"
#include "support/extremes.hpp"

namespace eigen_rope::error_tests {
namespace {

using test::error_of;
using test::int64_max;
using test::int64_min;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Index huge = Index{1} << 62;

struct Fault {
  std::function<void()> call;
  /// Without the "[rope] " every message begins with.
  std::string message;
};

void expect_messages(const std::vector<Fault>& faults) {
  ASSERT_THAT(faults, testing::Not(testing::IsEmpty()));
  for (const Fault& fault : faults) EXPECT_EQ(error_of(fault.call), "[rope] " + fault.message);
}

TEST(Error, IsAnInvalidArgument) {
  static_assert(std::is_base_of_v<std::invalid_argument, Error>);
  EXPECT_THROW(Frequencies::powers({}), std::invalid_argument);
}

TEST(Error, SentencesNameTheRuleAndTheValue) {
  expect_messages({
      {[] { detail::fail("a rule"); }, "a rule"},
      {[] { detail::fail("a rule", std::int64_t{-7}); }, "a rule, got -7"},
      {[] { detail::fail("a rule", int64_min); }, "a rule, got -9223372036854775808"},
      {[] { detail::fail("a rule", 0.25); }, "a rule, got 0.25"},
      {[] { detail::fail("a rule", nan); }, "a rule, got nan"},
      {[] { detail::fail("a rule", -nan); }, "a rule, got nan"},
      {[] { detail::fail("a rule", "[1, 2]"); }, "a rule, got [1, 2]"},
      {[] { detail::fail("braces {} are not a format", "{}"); },
       "braces {} are not a format, got {}"},
      {[] { detail::checked_product("it", huge, 2); },
       "it must fit a 64-bit count, got 4611686018427387904 x 2"},
      {[] { detail::checked_product("it", 3, int64_max); },
       "it must fit a 64-bit count, got 3 x 9223372036854775807"},
  });
}

TEST(Error, CheckedProductsThatFitAreReturned) {
  EXPECT_EQ(detail::checked_product("it", int64_max, 1), int64_max);
  EXPECT_EQ(detail::checked_product("it", 1, int64_max), int64_max);
  EXPECT_EQ(detail::checked_product("it", int64_max, 0), 0);
  EXPECT_EQ(detail::checked_product("it", 0, int64_max), 0);
  EXPECT_EQ(detail::checked_product("it", int64_max / 7, 7), int64_max / 7 * 7);
}

}  // namespace
}  // namespace eigen_rope::error_tests
