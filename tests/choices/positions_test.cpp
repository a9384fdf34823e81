// SPDX-License-Identifier: Apache-2.0
//
// Where tokens stand: every kind of list, held exactly, and found under its axis, batch and token.
#include "eigen_rope/choices/positions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "support/extremes.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::positions_tests {
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

/// A list as other people's libraries have them: no iterators, and a size of their own type.
struct Range {
  const std::int16_t* data() const { return numbers.data(); }
  int size() const { return 4; }
  std::array<std::int16_t, 4> numbers{3, -1, 4, 1};
};

TEST(Positions, AnyContiguousListGivesWhatTheVectorGives) {
  const std::vector<int> vector{3, -1, 4, 1};
  const Positions expected = Positions::ids(vector);
  const int array[] = {3, -1, 4, 1};
  const std::initializer_list<std::int8_t> list{3, -1, 4, 1};
  const Index four = 4;
  EXPECT_EQ(Positions::ids({3, -1, 4, 1}), expected);
  EXPECT_EQ(Positions::ids({3.0, -1.0, 4.0, 1.0}), expected);
  EXPECT_EQ(Positions::ids({3, -1.0, four, std::int8_t{1}}), expected);
  EXPECT_EQ(Positions::ids(std::array<float, 4>{3, -1, 4, 1}), expected);
  EXPECT_EQ(Positions::ids(array), expected);
  EXPECT_EQ(Positions::ids(list), expected);
  EXPECT_EQ(Positions::ids(Range{}), expected);
  EXPECT_EQ(Positions::ids(vector.data(), 4), expected);
  EXPECT_EQ(Positions::ids({vector.data(), 4}), expected);
  EXPECT_EQ(Positions::ids({}).tokens(), 0);
  EXPECT_EQ(Positions::ids({7}), Positions::range(7, 1));
}

TEST(Positions, BatchesAndAxesTakeTheSameLists) {
  const std::vector<int> vector{3, -1, 4, 1};
  const Sections sections(SectionPattern::contiguous, {2, 2});
  const Positions two = Positions::per_batch(vector, Batches{2});
  EXPECT_EQ(two.at(0, 1, 0), 4);
  EXPECT_EQ(Positions::per_batch({3, -1, 4, 1}, Batches{2}), two);
  EXPECT_EQ(Positions::per_batch(Range{}, Batches{2}), two);
  EXPECT_EQ(Positions::per_batch(vector.data(), 4, Batches{2}), two);
  const Positions image = Positions::multi_axis(vector, sections);
  EXPECT_EQ(image.at(1, 0, 0), 4);
  EXPECT_EQ(Positions::multi_axis({3, -1, 4, 1}, sections), image);
  EXPECT_EQ(Positions::multi_axis(Range{}, sections), image);
  EXPECT_EQ(Positions::multi_axis(vector.data(), 4, sections), image);
  EXPECT_EQ(Positions::multi_axis(vector.data(), 4, sections, Batches{2}),
            Positions::multi_axis(vector, sections, Batches{2}));
}

TEST(Positions, NumbersInBracesOfSeveralTypesAreHeldExactly) {
  const Positions positions = Positions::ids({int64_max, 0.5, 3, 0.1F});
  EXPECT_EQ(exactly(positions.at(0, 0, 0)), Real(int64_max));
  EXPECT_EQ(exactly(positions.at(0, 0, 1)), exactly(0.5));
  EXPECT_EQ(exactly(positions.at(0, 0, 2)), Real(3));
  EXPECT_EQ(exactly(positions.at(0, 0, 3)), exactly(0.1F));
}

TEST(Positions, ListsAreCopied) {
  std::vector<int> ids{5, 6};
  const Positions positions = Positions::ids(ids);
  ids = {0, 0};
  EXPECT_EQ(row(positions), (std::vector<double>{5, 6}));
}

TEST(Positions, PackedSequencesBeginAtZeroEach) {
  EXPECT_EQ(row(Positions::packed({0, 3, 3, 5})), (std::vector<double>{0, 1, 2, 0, 1}));
  EXPECT_EQ(Positions::packed({0, 4}), Positions::range(0, 4));
  EXPECT_EQ(Positions::packed(std::vector<std::int32_t>{0, 2, 3}), Positions::ids({0, 1, 0}));
  EXPECT_EQ(Positions::packed(std::array<std::int64_t, 3>{0, 2, 3}), Positions::ids({0, 1, 0}));
  const Index tokens = 2;
  EXPECT_EQ(Positions::packed({0, tokens}), Positions::range(0, 2));
  EXPECT_EQ(Positions::packed({0}).tokens(), 0);
  EXPECT_EQ(Positions::packed({0, 0, 0}).tokens(), 0);
}

TEST(Positions, PackedSequencesMayBeginAnywhere) {
  EXPECT_EQ(row(Positions::packed({0, 2, 2, 5}, {70, 9, -1})),
            (std::vector<double>{70, 71, -1, 0, 1}));
  const Positions top = Positions::packed({0, 1, 3, 3}, {int64_min, int64_max - 1, int64_max});
  EXPECT_EQ(exactly(top.at(0, 0, 0)), Real(int64_min));
  EXPECT_EQ(exactly(top.at(0, 0, 1)), Real(int64_max - 1));
  EXPECT_EQ(exactly(top.at(0, 0, 2)), Real(int64_max));
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
}  // namespace eigen_rope::positions_tests
