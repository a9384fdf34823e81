// SPDX-License-Identifier: Apache-2.0
//
// A cache made for another layout than x has: the message says which one fits, if there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::fitting_layout_tests {
namespace {

using ::testing::HasSubstr;

const Frequencies four_pairs = Frequencies::powers({8});

/// What a rotation of an x of this shape by the cache is told.
std::string told(const Shape& shape, const Cache<float>& cache) {
  std::vector<float> x(static_cast<std::size_t>(shape.size()));
  StridedView<float> view{x.data(), shape, {}};
  Index stride = shape[0];
  for (int axis = 1; axis < shape.rank(); stride *= shape[axis++]) view.strides.push_back(stride);
  return test::error_of([&] { rotate_inplace(view, cache, split_half); });
}

Cache<float> cache_of(Index tokens, const Layout& layout = Layout::bsnd()) {
  return Cache<float>(four_pairs, Positions::range(0, tokens), layout);
}

Cache<float> cache_of(Index tokens, Index batches, const Layout& layout) {
  const std::vector<int> ids(static_cast<std::size_t>(tokens * batches));
  return Cache<float>(four_pairs, Positions::per_batch(ids, Batches{batches}), layout);
}

TEST(FittingLayout, OfHeadsOutsideTokens) {
  EXPECT_EQ(told({8, 16, 32}, cache_of(16)),
            "[rope] table must have 1 or 32 on axis 2 (counted outwards from the feature axis) for "
            "x with outer extents [16, 32], "
            "got 16 (a cache made for Layout::bnsd() instead of Layout::bsnd() fits this x)");
}

TEST(FittingLayout, OfAMatrixOfTokens) {
  EXPECT_EQ(told({8, 16}, cache_of(16)),
            "[rope] table must have 1 on axis 2 (counted outwards from the feature axis) for x "
            "with outer extents [16], "
            "got 16 (a cache made for Layout::sd() instead of Layout::bsnd() fits this x)");
}

TEST(FittingLayout, OfTokensOutside) {
  EXPECT_THAT(told({8, 4, 2, 16}, cache_of(16)),
              HasSubstr("(a cache made for Layout::sbnd() instead of Layout::bsnd() fits this x)"));
}

TEST(FittingLayout, OfTheDefaultGivenAnother) {
  EXPECT_THAT(
      told({8, 4, 16, 2}, cache_of(16, Layout::bnsd())),
      HasSubstr("got 16 (a cache made for Layout::bsnd() instead of Layout::bnsd() fits this x)"));
}

TEST(FittingLayout, TwoOfThem) {
  EXPECT_THAT(told({8, 16, 3, 16}, cache_of(16)),
              HasSubstr("(a cache made for Layout::bnsd() or Layout::sbnd() instead of "
                        "Layout::bsnd() fits this x)"));
}

TEST(FittingLayout, OfSeveralSequences) {
  EXPECT_THAT(
      told({8, 16, 4, 2}, cache_of(16, 2, Layout::bsnd())),
      HasSubstr("got 16 (a cache made for Layout::bnsd() instead of Layout::bsnd() fits this x)"));
}

/// Which of its extents counts tokens a table does not say.
TEST(FittingLayout, OfTokensAndSequencesExchanged) {
  EXPECT_THAT(told({8, 5, 3, 16}, cache_of(16, 3, Layout::bsnd())),
              HasSubstr("got 16 (a cache made for Layout::sbnd() instead of Layout::bsnd(), or for "
                        "Layout::bsnd() instead of "
                        "Layout::sbnd() fits this x)"));
}

TEST(FittingLayout, NoneOfAnotherNumberOfTokens) {
  EXPECT_EQ(told({8, 32, 15}, cache_of(16)),
            "[rope] table must have 1 or 15 on axis 2 (counted outwards from the feature axis) for "
            "x with outer extents [32, 15], "
            "got 16");
}

struct Named {
  const char* name;
  const Layout& layout;
};
const std::vector<Named> every_layout{{"bsnd", Layout::bsnd()}, {"bnsd", Layout::bnsd()},
                                      {"sbnd", Layout::sbnd()}, {"tnd", Layout::tnd()},
                                      {"bsd", Layout::bsd()},   {"sd", Layout::sd()}};

/// x of any layout with any cache of that many tokens and sequences: what is suggested fits, and
/// something is, if anything does.
TEST(FittingLayout, WhatIsSuggestedFits) {
  for (const Named& of_x : every_layout) {
    for (const Named& of_cache : every_layout) {
      for (const Index batches : {1, 3}) {
        if (batches != 1 && (!of_x.layout.has_batch() || !of_cache.layout.has_batch())) continue;
        Shape shape{8};
        for (int axis = 0; axis < of_x.layout.axes(); ++axis) {
          const AxisRole role = of_x.layout[axis];
          shape.push_back(role == AxisRole::token ? 16 : role == AxisRole::batch ? batches : 5);
        }
        const std::string message = told(shape, cache_of(16, batches, of_cache.layout));
        if (message == "no eigen_rope::Error") continue;
        SCOPED_TRACE(std::string("x ") + of_x.name + ", cache " + of_cache.name + ": " + message);
        // "for A or B instead of C"
        const std::string instead = std::string(" instead of Layout::") + of_cache.name + "()";
        ASSERT_THAT(message, HasSubstr(instead));
        const std::string before = message.substr(0, message.find(instead));
        const std::string suggestion = before.substr(before.rfind("for "));
        for (const Named& suggested : every_layout) {
          if (suggestion.find(std::string("Layout::") + suggested.name + "()") == std::string::npos)
            continue;
          EXPECT_EQ(told(shape, cache_of(16, batches, suggested.layout)), "no eigen_rope::Error");
        }
      }
    }
  }
}

}  // namespace
}  // namespace eigen_rope::fitting_layout_tests
