// SPDX-License-Identifier: Apache-2.0
//
// Pairings, directions and layouts from their names, positions from memory.
#include "eigen_rope/any/choices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "eigen_rope/choices/sections.hpp"

namespace eigen_rope::test::any_choices_tests {
namespace {

using any::PositionType;

TEST(AnyChoices, PairingsHaveTheirNames) {
  EXPECT_EQ(any::pairing_of("split_half"), split_half);
  EXPECT_EQ(any::pairing_of("interleaved"), interleaved);
  EXPECT_EQ(any::pairing_of("quarter"), quarter);
  EXPECT_EQ(any::pairing_of("interleaved_to_split_half"), interleaved_to_split_half);
}

TEST(AnyChoices, DirectionsHaveTheirNames) {
  EXPECT_EQ(any::direction_of("forward"), Direction::forward);
  EXPECT_EQ(any::direction_of("backward"), Direction::backward);
  EXPECT_EQ(any::direction_of("inverse"), Direction::inverse);
}

TEST(AnyChoices, LayoutsHaveTheNamesOfTheirAxesFromTheSlowestToTheFastest) {
  for (const std::string name :
       {"bsnd", "bnsd", "sbnd", "tnd", "bsd", "sd", "dnsb", "dsnb", "dns", "dsb", "ds"}) {
    std::string text;
    for (auto letter = name.rbegin(); letter != name.rend(); ++letter) {
      // The features are understood where they are fastest.
      if (*letter == 'd' && letter == name.rbegin()) continue;
      text += text.empty() ? "[" : ", ";
      text += *letter == 'b'   ? "batch"
              : *letter == 'n' ? "other"
              : *letter == 'd' ? "feature"
                               : "token";
    }
    EXPECT_EQ(any::layout_of(name).text(), text + "]");
  }
}

TEST(AnyChoices, PositionsOfEveryTypeAreTheNumbers) {
  const std::vector<std::int32_t> i32{-7, 0, std::numeric_limits<std::int32_t>::max()};
  const std::vector<std::int64_t> i64{std::numeric_limits<std::int64_t>::max(), -1,
                                      (std::int64_t{1} << 53) + 1};
  const std::vector<float> f32{0.5F, -3.25F, 1e30F};
  const std::vector<double> f64{0.1, -1e300, 7};
  EXPECT_EQ(any::positions({PositionType::i32, i32.data(), 3}), Positions::ids(i32));
  EXPECT_EQ(any::positions({PositionType::i64, i64.data(), 3}), Positions::ids(i64));
  EXPECT_EQ(any::positions({PositionType::f32, f32.data(), 3}), Positions::ids(f32));
  EXPECT_EQ(any::positions({PositionType::f64, f64.data(), 3}), Positions::ids(f64));
}

TEST(AnyChoices, PositionsOfBatchesAndAxesAreThoseOfTheList) {
  const std::vector<std::int64_t> ids{7, 8, 9, 500, 501, 502};
  const any::PositionIds two{PositionType::i64, ids.data(), 6, Batches{2}};
  EXPECT_EQ(any::positions(two), Positions::per_batch(ids, Batches{2}));
  any::PositionIds axes{PositionType::i64, ids.data(), 6};
  axes.sections = Sections(SectionPattern::contiguous, {2, 1, 1});
  EXPECT_EQ(any::positions(axes), Positions::multi_axis(ids, *axes.sections));
  EXPECT_EQ(any::positions(axes).tokens(), 2);
}

TEST(AnyChoices, NoPositionsNeedNoMemory) {
  EXPECT_EQ(any::positions({}), Positions::ids(std::vector<int>{}));
}

}  // namespace
}  // namespace eigen_rope::test::any_choices_tests
