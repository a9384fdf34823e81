// SPDX-License-Identifier: Apache-2.0
//
// The trainer built without MPI: one process as always, and a sentence for whoever asks for more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error.hpp"
#include "start_ranks.hpp"

namespace train_lm {
namespace {

class WithoutMpi : public testing::Test {
 protected:
  WithoutMpi() {
    int argc = 0;
    char** argv = nullptr;
    started_ = start_ranks(argc, argv);
  }

  std::unique_ptr<StartedRanks> started_;
};

TEST_F(WithoutMpi, OneRankIsTheProcess) {
  Ranks& ranks = started_->arrange({1, 1}, 1);
  EXPECT_EQ(ranks.count(), 1);
  EXPECT_TRUE(ranks.first());
  EXPECT_EQ(ranks.sum(1.5), 1.5);
  EXPECT_TRUE(ranks.any(true));
  EXPECT_FALSE(ranks.any(false));
  EXPECT_EQ(ranks.broadcast("all"), "all");
  ranks.meet();
  started_->leave();
}

TEST_F(WithoutMpi, MoreRanksNeedAPackage) {
  for (const RankGrid grid : {RankGrid{2, 1}, RankGrid{1, 2}}) {
    try {
      started_->arrange(grid, 1);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("install libopenmpi-dev"));
    }
  }
}

}  // namespace
}  // namespace train_lm
