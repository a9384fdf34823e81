// SPDX-License-Identifier: Apache-2.0
//
// Shapes and layouts: which axis is which, the outer extents a table gets from them, and the order
// its rows are filled in.
#include "eigen_rope/choices/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::layout_tests {
namespace {

using testing::ElementsAre;
using Visit = std::tuple<Index, Index, Index>;  // row, batch, token

std::vector<AxisRole> roles(const Layout& layout) {
  std::vector<AxisRole> result;
  result.reserve(static_cast<std::size_t>(layout.axes()));
  for (int axis = 0; axis < layout.axes(); ++axis) result.push_back(layout[axis]);
  return result;
}

std::vector<Visit> visits(const Positions& positions, const Layout& layout) {
  std::vector<Visit> result;
  detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
    result.emplace_back(row, batch, token);
  });
  return result;
}

TEST(Layout, NamesAreReadFromTheirEnd) {
  constexpr AxisRole token = AxisRole::token;
  constexpr AxisRole batch = AxisRole::batch;
  constexpr AxisRole other = AxisRole::other;
  EXPECT_THAT(roles(Layout::bsnd()), ElementsAre(other, token, batch));
  EXPECT_THAT(roles(Layout::bnsd()), ElementsAre(token, other, batch));
  EXPECT_THAT(roles(Layout::sbnd()), ElementsAre(other, batch, token));
  EXPECT_THAT(roles(Layout::tnd()), ElementsAre(other, token));
  EXPECT_THAT(roles(Layout::bsd()), ElementsAre(token, batch));
  EXPECT_THAT(roles(Layout::sd()), ElementsAre(token));
}

TEST(Layout, KnowsWhetherItHasABatchAxis) {
  for (const Layout& layout : {Layout::bsnd(), Layout::bnsd(), Layout::sbnd(), Layout::bsd()})
    EXPECT_TRUE(layout.has_batch());
  for (const Layout& layout : {Layout::tnd(), Layout::sd()}) EXPECT_FALSE(layout.has_batch());
}

TEST(Layout, MayHaveSevenOuterAxes) {
  constexpr AxisRole other = AxisRole::other;
  const Layout layout{other, AxisRole::token, other, other, AxisRole::batch, other, other};
  EXPECT_EQ(layout.axes(), 7);
  const Cache<float> cache(Frequencies::powers({4}),
                           Positions::per_batch(std::vector<int>(6), Batches{2}), layout);
  EXPECT_EQ(cache.outer(), (Shape{1, 3, 1, 1, 2, 1, 1}));
}

TEST(Layout, TablesHaveXsExtentOnTokensAndBatchesAndOneElsewhere) {
  const Frequencies frequencies = Frequencies::powers({8});
  const Positions one = Positions::range(0, 5);
  const Positions two = Positions::per_batch(std::vector<int>(10), Batches{2});
  const auto outer = [&](const Positions& positions, const Layout& layout) {
    return Cache<float>(frequencies, positions, layout).outer();
  };
  EXPECT_EQ(outer(one, Layout::bsnd()), (Shape{1, 5, 1}));
  EXPECT_EQ(outer(one, Layout::bnsd()), (Shape{5, 1, 1}));
  EXPECT_EQ(outer(one, Layout::sbnd()), (Shape{1, 1, 5}));
  EXPECT_EQ(outer(one, Layout::tnd()), (Shape{1, 5}));
  EXPECT_EQ(outer(one, Layout::bsd()), (Shape{5, 1}));
  EXPECT_EQ(outer(one, Layout::sd()), (Shape{5}));
  EXPECT_EQ(outer(two, Layout::bsnd()), (Shape{1, 5, 2}));
  EXPECT_EQ(outer(two, Layout::bnsd()), (Shape{5, 1, 2}));
  EXPECT_EQ(outer(two, Layout::sbnd()), (Shape{1, 2, 5}));
  EXPECT_EQ(outer(two, Layout::bsd()), (Shape{5, 2}));
}

TEST(Layout, RowsAreVisitedInMemoryOrder) {
  const Positions positions = Positions::per_batch(std::vector<int>(6), Batches{2});
  const std::vector<Visit> tokens_inside{{0, 0, 0}, {1, 0, 1}, {2, 0, 2},
                                         {3, 1, 0}, {4, 1, 1}, {5, 1, 2}};
  const std::vector<Visit> batches_inside{{0, 0, 0}, {1, 1, 0}, {2, 0, 1},
                                          {3, 1, 1}, {4, 0, 2}, {5, 1, 2}};
  EXPECT_EQ(visits(positions, Layout::bsnd()), tokens_inside);
  EXPECT_EQ(visits(positions, Layout::bnsd()), tokens_inside);
  EXPECT_EQ(visits(positions, Layout::bsd()), tokens_inside);
  EXPECT_EQ(visits(positions, Layout::sbnd()), batches_inside);
  EXPECT_THAT(visits(Positions::range(0, 2), Layout::tnd()),
              ElementsAre(Visit{0, 0, 0}, Visit{1, 0, 1}));
  EXPECT_THAT(visits(Positions::range(0, 0), Layout::bsnd()), testing::IsEmpty());
}

TEST(Shape, CountsFromTheFeatureAxisOutwards) {
  const Shape shape{128, 32, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 128);
  EXPECT_EQ(shape[2], 5);
  EXPECT_EQ(shape[3], 1) << "axes beyond the rank count as 1";
  EXPECT_EQ(shape.size(), 128 * 32 * 5);
  EXPECT_EQ(shape.outer(), (Shape{32, 5}));
  EXPECT_EQ(shape.text(), "[128, 32, 5]");
}

TEST(Shape, EqualityMindsTheRank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 1}));
}

TEST(Shape, MayBeEmptyOrHaveNoAxes) {
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ(Shape{}.text(), "[]");
  EXPECT_EQ(Shape{}.outer(), Shape{});
  EXPECT_EQ((Shape{8, 0, 3}).size(), 0);
  EXPECT_EQ((Shape{0, std::numeric_limits<Index>::max()}).size(), 0);
  EXPECT_EQ((Shape{std::numeric_limits<Index>::max()}).size(), std::numeric_limits<Index>::max());
}

}  // namespace
}  // namespace eigen_rope::layout_tests
