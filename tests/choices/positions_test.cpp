// SPDX-License-Identifier: Apache-2.0
//
// Where tokens stand: every kind of list, held exactly, and found under its axis, batch and token.
#include "eigen_rope/choices/positions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/extremes.hpp"
#include "support/real_number.hpp"

namespace eigen_rope {
namespace {

using test::exactly;
using test::int64_max;
using test::int64_min;
using test::Real;

/// The positions of one batch on one axis.
std::vector<double> row(const Positions& positions, int axis = 0, Index batch = 0) {
  std::vector<double> values;
  for (Index s = 0; s < positions.tokens(); ++s)
    values.push_back(static_cast<double>(positions.at(axis, batch, s)));
  return values;
}

TEST(Positions, RangeCountsFromItsStart) {
  const Positions positions = Positions::range(-2, 5);
  EXPECT_EQ(positions.tokens(), 5);
  EXPECT_EQ(positions.batches(), 1);
  EXPECT_EQ(positions.axes(), 1);
  EXPECT_EQ(positions.axis(7), 0);
  EXPECT_EQ(row(positions), (std::vector<double>{-2, -1, 0, 1, 2}));
}

TEST(Positions, RangeReachesBothEndsOfInt64) {
  const Positions top = Positions::range(int64_max - 2, 3);
  for (int s = 0; s < 3; ++s) EXPECT_EQ(exactly(top.at(0, 0, s)), Real(int64_max - 2 + s));
  const Positions bottom = Positions::range(int64_min, 3);
  for (int s = 0; s < 3; ++s) EXPECT_EQ(exactly(bottom.at(0, 0, s)), Real(int64_min + s));
}

TEST(Positions, RangeMayBeEmptyAnywhere) {
  EXPECT_EQ(Positions::range(7, 0).tokens(), 0);
  EXPECT_EQ(Positions::range(int64_max, 0).tokens(), 0);
}

TEST(Positions, IdsMayRepeatJumpAndGoBack) {
  EXPECT_EQ(row(Positions::ids(std::vector<std::int32_t>{0, 1, 2, 0, 1, 100000, -5})),
            (std::vector<double>{0, 1, 2, 0, 1, 100000, -5}));
  EXPECT_EQ(Positions::ids(std::vector<std::int64_t>{}).tokens(), 0);
}

TEST(Positions, EveryInt64IsHeldExactly) {
  const std::vector<std::int64_t> ids{int64_min,
                                      int64_min + 1,
                                      -(std::int64_t{1} << 53) - 1,
                                      -1,
                                      0,
                                      (std::int64_t{1} << 53) + 1,
                                      int64_max - 1,
                                      int64_max};
  const Positions positions = Positions::ids(ids);
  for (std::size_t s = 0; s < ids.size(); ++s)
    EXPECT_EQ(exactly(positions.at(0, 0, static_cast<Index>(s))), Real(ids[s]));
}

TEST(Positions, OtherIntegerTypesKeepTheirValues) {
  EXPECT_EQ(row(Positions::ids(std::vector<std::uint32_t>{0, 4294967295U})),
            (std::vector<double>{0, 4294967295.0}));
  EXPECT_EQ(row(Positions::ids(std::vector<std::int8_t>{-128, 127})),
            (std::vector<double>{-128, 127}));
  EXPECT_EQ(row(Positions::ids(std::vector<std::uint16_t>{65535})), (std::vector<double>{65535}));
}

TEST(Positions, FractionsAreHeldExactly) {
  const std::vector<double> fractions{0.1, -2.75, 1e-300, 123456.789, 1e300};
  const Positions positions = Positions::ids(fractions);
  for (std::size_t s = 0; s < fractions.size(); ++s) {
    EXPECT_EQ(exactly(positions.at(0, 0, static_cast<Index>(s))), exactly(fractions[s]));
  }
  EXPECT_EQ(exactly(Positions::ids(std::vector<float>{0.1F}).at(0, 0, 0)), exactly(0.1F));
}

TEST(Positions, PerBatchListsAreBatchMajor) {
  const Positions positions =
      Positions::per_batch(std::vector<int>{0, 1, 2, 10, 11, 12}, Batches{2});
  EXPECT_EQ(positions.batches(), 2);
  EXPECT_EQ(positions.tokens(), 3);
  EXPECT_EQ(row(positions, 0, 0), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(row(positions, 0, 1), (std::vector<double>{10, 11, 12}));
}

TEST(Positions, MayHaveNoBatchesOrNoTokens) {
  const Positions no_batches = Positions::per_batch(std::vector<int>{}, Batches{0});
  EXPECT_EQ(no_batches.batches(), 0);
  EXPECT_EQ(no_batches.tokens(), 0);
  const Positions no_tokens = Positions::per_batch(std::vector<int>{}, Batches{3});
  EXPECT_EQ(no_tokens.batches(), 3);
  EXPECT_EQ(no_tokens.tokens(), 0);
}

TEST(Positions, MultiAxisListsAreAxisMajorAndSectionsGivePairsTheirAxis) {
  const Sections sections(SectionPattern::contiguous, {2, 1, 1});
  const Positions positions =
      Positions::multi_axis(std::vector<int>{0, 1, 10, 11, 20, 21}, sections);
  EXPECT_EQ(positions.axes(), 3);
  EXPECT_EQ(positions.batches(), 1);
  EXPECT_EQ(positions.tokens(), 2);
  for (int axis = 0; axis < 3; ++axis)
    EXPECT_EQ(row(positions, axis), (std::vector<double>{10.0 * axis, 10.0 * axis + 1}));
  for (Index pair = 0; pair < 8; ++pair) EXPECT_EQ(positions.axis(pair), sections.axis(pair));
}

TEST(Positions, MultiAxisListsMayHaveBatches) {
  // [axis][batch][token]
  const Positions positions =
      Positions::multi_axis(std::vector<double>{0, 1, 10, 11, 100, 101, 110, 110.5},
                            Sections(SectionPattern::vision, {1, 1}), Batches{2});
  EXPECT_EQ(positions.tokens(), 2);
  EXPECT_EQ(row(positions, 0, 0), (std::vector<double>{0, 1}));
  EXPECT_EQ(row(positions, 0, 1), (std::vector<double>{10, 11}));
  EXPECT_EQ(row(positions, 1, 0), (std::vector<double>{100, 101}));
  EXPECT_EQ(row(positions, 1, 1), (std::vector<double>{110, 110.5}));
}

TEST(Positions, OneAxisOfSectionsIsLikeIds) {
  const std::vector<int> ids{3, 1, 4};
  EXPECT_EQ(row(Positions::multi_axis(ids, Sections(SectionPattern::contiguous, {4}))),
            row(Positions::ids(ids)));
}

}  // namespace
}  // namespace eigen_rope
