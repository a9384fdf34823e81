// SPDX-License-Identifier: Apache-2.0
//
// Files compiled with different flags, in one program: each computes the same bits, those of the
// definition, whichever of their copies of the library's inline functions the linker kept. It keeps
// the one it meets first, so the files are linked in two orders.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "flags/results.hpp"

namespace eigen_rope::test {
namespace {

::testing::AssertionResult same(const Result& expected, const Result& actual) {
  if (expected.bytes.size() != actual.bytes.size() || expected.bytes.empty()) {
    return ::testing::AssertionFailure() << expected.name << ": " << expected.bytes.size()
                                         << " and " << actual.bytes.size() << " bytes";
  }
  if (expected.reach != Reach::near) {
    std::size_t i = 0;
    while (i < expected.bytes.size() && expected.bytes[i] == actual.bytes[i]) ++i;
    if (i == expected.bytes.size()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << actual.name << ": other bits from byte " << i << " on";
  }
  for (std::size_t i = 0; i < expected.bytes.size(); i += sizeof(double)) {
    double a, b;
    std::memcpy(&a, expected.bytes.data() + i, sizeof(double));
    std::memcpy(&b, actual.bytes.data() + i, sizeof(double));
    // Two products of numbers below 3/2 and a sum, divided by determinants above 1/2, fused or not.
    if (!(std::abs(a - b) <= 0x1p-49))
      return ::testing::AssertionFailure() << actual.name << ": " << a << " and " << b;
  }
  return ::testing::AssertionSuccess();
}

void compare(const std::vector<Result>& expected, const std::vector<Result>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].name, actual[i].name);
    EXPECT_TRUE(same(expected[i], actual[i]));
  }
}

/// Rotations and references against what stands behind them.
void compare_with_definition(const std::vector<Result>& results) {
  int compared = 0;
  for (std::size_t i = 0; i + 2 < results.size(); ++i) {
    if (results[i].name.rfind("rotation of ", 0) != 0 ||
        results[i + 2].name.rfind("definition of ", 0) != 0)
      continue;
    EXPECT_TRUE(same(results[i + 2], results[i]));
    EXPECT_TRUE(same(results[i + 2], results[i + 1]));
    ++compared;
  }
  EXPECT_EQ(compared, 11 * 4 * 3 * 2);
}

TEST(Flags, WithTheTestsFlags) { compare_with_definition(results_with_the_tests_flags()); }
TEST(Flags, ForThisProcessor) { compare_with_definition(results_for_this_processor()); }
TEST(Flags, BothAlike) { compare(results_with_the_tests_flags(), results_for_this_processor()); }

}  // namespace
}  // namespace eigen_rope::test
