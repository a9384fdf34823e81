// SPDX-License-Identifier: Apache-2.0
//
// A sequence that grows, ends and begins again: which frequencies are in force, and when keys must
// be moved.
#include "eigen_rope/choices/dynamic_ntk.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "support/error_of.hpp"

namespace eigen_rope::dynamic_ntk_tests {
namespace {

using test::error_of;

const Powers<> powers{32, 5e5};
const DynamicNtkScaling<> scaling{4.0, 100};

void expect_length(const DynamicNtk& ntk, Index length) {
  EXPECT_EQ(ntk.length(), length);
  const Frequencies expected = Frequencies(powers, scaling, length);
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_EQ(ntk.frequencies().rates()[k].high, expected.rates()[k].high);
    EXPECT_EQ(ntk.frequencies().rates()[k].low, expected.rates()[k].low);
  }
}

TEST(DynamicNtkState, FollowsTheLongestAndIsRestoredBelowTheContext) {
  struct Step {
    Index length;
    CachedKeys keys;
    Index in_force;
  };
  DynamicNtk ntk(powers, scaling);
  expect_length(ntk, 100);
  const CachedKeys keep = CachedKeys::keep;
  const CachedKeys rerotate = CachedKeys::rerotate;
  for (const Step& step :
       {Step{0, keep, 100}, Step{99, keep, 100}, Step{100, keep, 100}, Step{101, rerotate, 101},
        Step{101, keep, 101}, Step{100, keep, 101},  // the context itself restores nothing
        Step{150, rerotate, 150}, Step{120, keep, 150}, Step{99, rerotate, 100},
        Step{99, keep, 100}, Step{120, rerotate, 120}, Step{0, rerotate, 100}}) {
    EXPECT_EQ(ntk.update(step.length), step.keys) << "at " << step.length;
    expect_length(ntk, step.in_force);
  }
}

TEST(DynamicNtkState, SaysRerotateExactlyWhenRatesChange) {
  DynamicNtk ntk(powers, scaling);
  std::uint32_t random = 1;
  int changes = 0;
  for (int i = 0; i < 500; ++i) {
    random = random * 1664525U + 1013904223U;
    const std::vector<DoubleDouble> before = ntk.frequencies().rates();
    const CachedKeys keys = ntk.update(static_cast<Index>(random >> 24));
    bool changed = false;
    for (std::size_t k = 0; k < 16; ++k)
      changed = changed || before[k].high != ntk.frequencies().rates()[k].high;
    EXPECT_EQ(keys == CachedKeys::rerotate, changed);
    changes += changed ? 1 : 0;
  }
  EXPECT_GT(changes, 50);
}

TEST(DynamicNtkState, RefusalsChangeNothing) {
  DynamicNtk ntk(powers, {1e300, 100});
  EXPECT_EQ(error_of([&] { ntk.update(-1); }), "[rope] length must not be negative, got -1");
  EXPECT_EQ(error_of([&] { ntk.update(std::numeric_limits<Index>::max()); }),
            "[rope] length must not be so large that the base overflows, got 9223372036854775807");
  EXPECT_EQ(ntk.length(), 100);
  EXPECT_EQ(static_cast<double>(ntk.frequencies().rates()[0]), 1);
  EXPECT_EQ(error_of([] {
              (void)DynamicNtk(powers, {0.0, 100});
            }),
            "[rope] factor must be finite and greater than 0, got 0");
}

}  // namespace
}  // namespace eigen_rope::dynamic_ntk_tests
