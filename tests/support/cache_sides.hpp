// SPDX-License-Identifier: Apache-2.0
//
// Tests that run on both sides of the caches. What a nested rotation does depends on whether its
// result stays in them: there its elements are made at once, beyond them blocks of rows come from
// x, and elements are made by the first who needs them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "eigen_rope/machine/streaming.hpp"

namespace eigen_rope::test {

enum class CacheSide {
  within,
  beyond,  // every tensor is taken for one that outgrows the caches
};

class OnBothSidesOfTheCaches : public ::testing::TestWithParam<CacheSide> {
 protected:
  void SetUp() override {
    if (GetParam() == CacheSide::beyond) set_streaming_threshold(0);
  }
  void TearDown() override { reset_streaming_threshold(); }
};

inline std::string name_of(const ::testing::TestParamInfo<CacheSide>& side) {
  return side.param == CacheSide::within ? "WithinTheCaches" : "BeyondTheCaches";
}

}  // namespace eigen_rope::test

#define EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(Suite)                                              \
  class Suite : public eigen_rope::test::OnBothSidesOfTheCaches {};                                \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      , Suite,                                                                                     \
      ::testing::Values(eigen_rope::test::CacheSide::within, eigen_rope::test::CacheSide::beyond), \
      eigen_rope::test::name_of)
