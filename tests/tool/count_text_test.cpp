// SPDX-License-Identifier: Apache-2.0
#include "tool/io/count_text.hpp"

#include <gtest/gtest.h>

namespace eigen_rope::tool::count_text_tests {
namespace {

TEST(CountText, IsAWholeNumberHoweverItIsWritten) {
  EXPECT_EQ(parse_count("131072"), 131072);
  EXPECT_EQ(parse_count("-5"), -5);
  EXPECT_EQ(parse_count("1e6"), 1000000);
  EXPECT_EQ(parse_count("1E6"), 1000000);
  EXPECT_EQ(parse_count("1.28e5"), 128000);
  EXPECT_EQ(parse_count("4096.0"), 4096);
  EXPECT_EQ(parse_count("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(parse_count("9007199254740992e0"), eigen_rope::Index{1} << 53);
}

TEST(CountText, NothingElseIsOne) {
  for (const char* text :
       {"", "x", "1.5", "1e-1", "1.2345e3", "1e6x", "1 ", " 1", "+1", "0x10", "inf", "nan", "1e16",
        "1e999", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace eigen_rope::tool::count_text_tests
