// SPDX-License-Identifier: Apache-2.0
//
// What the bench calls a cliff and a slope, on curves made by hand.
#include "growth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace bench::bench_growth_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A point for each time, of 1, 2, 3 ... KiB and tokens.
Curve curve_of(const std::vector<double>& ns_per_kib) {
  Curve curve{"tokens", "2 heads of 64", {}};
  for (const double time : ns_per_kib) {
    const auto number = static_cast<std::int64_t>(curve.points.size()) + 1;
    const auto kib = static_cast<double>(number);
    curve.points.push_back({number, number, 2, 64, kib * 1024, time * kib * 1e-9});
  }
  return curve;
}

std::vector<std::size_t> places(const std::vector<Cliff>& cliffs) {
  std::vector<std::size_t> result;
  for (const Cliff& cliff : cliffs) result.push_back(cliff.point);
  return result;
}

TEST(Growth, TimesAreForAKiB) { EXPECT_DOUBLE_EQ(curve_of({3, 7}).points[1].ns_per_kib(), 7); }

TEST(Growth, ACliffStandsAboveTheMeanOfItsNeighbours) {
  EXPECT_THAT(cliffs(curve_of({10, 10, 10, 10})), IsEmpty());
  const std::vector<Cliff> found = cliffs(curve_of({10, 10, 15, 14, 10}));
  ASSERT_THAT(places(found), ElementsAre(2));  // 14 is 1.12 times the mean of 15 and 10
  EXPECT_DOUBLE_EQ(found[0].over_neighbours, 15 / 12.0);
}

TEST(Growth, ACliffIsAboveTheLimitAndNotAtIt) {
  EXPECT_THAT(cliffs(curve_of({8, 10, 8})), IsEmpty());
  EXPECT_THAT(places(cliffs(curve_of({8, 10.01, 8}))), ElementsAre(1));
  EXPECT_THAT(places(cliffs(curve_of({8, 10, 8}), 1.2)), ElementsAre(1));
}

TEST(Growth, AStepIsACliffWhereItIsHigh) {
  EXPECT_THAT(cliffs(curve_of({10, 10, 16, 16})), IsEmpty());
  EXPECT_THAT(places(cliffs(curve_of({10, 10, 20, 20}))), ElementsAre(2));
}

TEST(Growth, FallingTimesAndEndsAreNoCliffs) {
  EXPECT_THAT(cliffs(curve_of({100, 50, 25, 12})), IsEmpty());
  EXPECT_THAT(cliffs(curve_of({100, 1, 1, 100})), IsEmpty());
  EXPECT_THAT(cliffs(curve_of({})), IsEmpty());
  EXPECT_THAT(cliffs(curve_of({1})), IsEmpty());
  EXPECT_THAT(cliffs(curve_of({1, 9})), IsEmpty());
}

TEST(Growth, TheSlopeCountsOnlyPointsBeyondTheCaches) {
  const Curve curve = curve_of({90, 10, 12, 11});
  EXPECT_DOUBLE_EQ(slope(curve, 1024).value(), 1.2);
  EXPECT_DOUBLE_EQ(slope(curve, 0).value(), 9);
  EXPECT_FALSE(slope(curve, 3 * 1024).has_value());
}

TEST(Growth, FindingsNameThePointAndTheCurve) {
  EXPECT_THAT(findings(curve_of({10, 11, 12, 11}), 1024), IsEmpty());
  EXPECT_THAT(
      findings(curve_of({10, 10, 20, 10}), 1024),
      ElementsAre(HasSubstr("cliff: 3 tokens takes 2.00 times as long as its neighbours (2 heads"),
                  HasSubstr("up to 2.00 times the least time (2 heads of 64 by tokens)")));
}

TEST(Growth, TheFilesHaveEveryPoint) {
  const std::vector<Curve> curves{curve_of({10, 20}), curve_of({30})};
  EXPECT_EQ(to_dat(curves, "tokens"),
            "\"2 heads of 64\"\n1 10.0000 1024\n2 20.0000 2048\n\n\n"
            "\"2 heads of 64\"\n1 30.0000 1024\n");
  EXPECT_EQ(to_dat(curves, "heads"), "");
  const nlohmann::json file = to_json(curves);
  ASSERT_EQ(file.size(), 2U);
  EXPECT_EQ(file[0]["points"].size(), 2U);
  EXPECT_EQ(file[0]["points"][1]["tokens"], 2);
  EXPECT_DOUBLE_EQ(file[0]["points"][1]["ns_per_kib"], 20);
}

}  // namespace
}  // namespace bench::bench_growth_tests
