// SPDX-License-Identifier: Apache-2.0
//
// Strides are the numbers that they were made of, in their order.
#include "eigen_rope/numbers/strides.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/error_of.hpp"

namespace eigen_rope::strides_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Index> numbers(const Strides& strides) { return {strides.begin(), strides.end()}; }

TEST(Strides, AreOfAListOrAVector) {
  EXPECT_THAT(numbers({}), IsEmpty());
  EXPECT_THAT(numbers({64, -512, 0}), ElementsAre(64, -512, 0));
  EXPECT_THAT(numbers(std::vector<Index>{3, 2, 1}), ElementsAre(3, 2, 1));
  EXPECT_THAT(numbers(std::vector<Index>{}), IsEmpty());
}

TEST(Strides, GrowAndShrinkAtTheOutermostAxis) {
  Strides strides{64};
  strides.push_back(128);
  strides.push_back(256);
  strides.pop_back();
  EXPECT_THAT(numbers(strides), ElementsAre(64, 128));
  strides[0] = 32;
  EXPECT_THAT(numbers(strides), ElementsAre(32, 128));
}

TEST(Strides, AreEqualIfTheirNumbersAre) {
  Strides shrunk{1, 2, 3};
  shrunk.pop_back();
  EXPECT_EQ(shrunk, (Strides{1, 2}));
  EXPECT_NE(shrunk, (Strides{1, 2, 0}));
  EXPECT_NE(shrunk, (Strides{1, 3}));
}

TEST(Strides, AreZeroBehindTheLast) { EXPECT_EQ((Strides{5})[max_rank - 1], 0); }

TEST(Strides, AreAtMostMaxRank) {
  Strides strides{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(strides.size(), static_cast<std::size_t>(max_rank));
  EXPECT_EQ(test::error_of([&] { strides.push_back(9); }),
            "[rope] there must be at most 8 strides, got 9");
  EXPECT_EQ(test::error_of([] { (void)Strides(std::vector<Index>(12)); }),
            "[rope] there must be at most 8 strides, got 12");
  EXPECT_EQ(strides.size(), static_cast<std::size_t>(max_rank));
}

}  // namespace
}  // namespace eigen_rope::strides_tests
