// SPDX-License-Identifier: Apache-2.0
#include "tool/io/suggestion.hpp"

#include <gtest/gtest.h>

namespace eigen_rope::tool::suggestion_tests {
namespace {

const std::vector<std::string> commands{"inspect", "compare", "convert", "verify", "man"};

TEST(Suggestion, IsTheWordWithTheFewestEdits) {
  EXPECT_EQ(did_you_mean("inspekt", commands), " (did you mean inspect?)");
  EXPECT_EQ(did_you_mean("isnpect", commands), " (did you mean inspect?)") << "neighbours swapped";
  EXPECT_EQ(did_you_mean("comprae", commands), " (did you mean compare?)");
  EXPECT_EQ(did_you_mean("convrt", commands), " (did you mean convert?)");
  EXPECT_EQ(did_you_mean("mann", commands), " (did you mean man?)");
  EXPECT_EQ(did_you_mean("--jsn", {"--json", "--seed"}), " (did you mean --json?)");
  EXPECT_EQ(did_you_mean("yarm", {"yarn", "linear"}), " (did you mean yarn?)");
}

TEST(Suggestion, MayBeALongerWord) {
  EXPECT_EQ(did_you_mean("interl", {"split_half", "interleaved", "quarter"}),
            " (did you mean interleaved?)");
  EXPECT_EQ(did_you_mean("interl", {"interleaved", "interleaved_to_split_half"}), "")
      << "either could be meant";
  EXPECT_EQ(did_you_mean("in", {"interleaved"}), "");
}

TEST(Suggestion, IsNoneForWhatIsFarFromAll) {
  EXPECT_EQ(did_you_mean("", commands), "");
  EXPECT_EQ(did_you_mean("dance", commands), "");
  EXPECT_EQ(did_you_mean("xyz", commands), "");
  EXPECT_EQ(did_you_mean("woman", {}), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'i'), commands), "");
}

}  // namespace
}  // namespace eigen_rope::tool::suggestion_tests
