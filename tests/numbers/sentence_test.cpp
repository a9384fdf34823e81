// SPDX-License-Identifier: Apache-2.0
//
// Words of files in sentences: one line, without control characters, of bounded length.
#include "eigen_rope/numbers/detail/sentence.hpp"

#include <gtest/gtest.h>

#include "eigen_rope/numbers/error.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail::sentence_tests {
namespace {

TEST(Sentence, OrdinaryTextIsLeftAlone) {
  EXPECT_EQ(one_line("", 8), "");
  EXPECT_EQ(one_line("12345678", 8), "12345678");
  EXPECT_EQ(one_line("a \\ \"b\" {} ü €", 80), "a \\ \"b\" {} ü €");
}

TEST(Sentence, ControlCharactersAreEscaped) {
  using namespace std::string_view_literals;
  EXPECT_EQ(one_line("a\nb\t\x1b[31m\x7f\0c"sv, 80), "a\\x0ab\\x09\\x1b[31m\\x7f\\x00c");
  // U+009B begins a terminal's sequences as ESC [ does; U+00A0 is a space.
  EXPECT_EQ(one_line("\xc2\x9b"
                     "1m\xc2\xa0\xc2",
                     80),
            "\\x9b1m\xc2\xa0\xc2");
}

TEST(Sentence, TheMiddleOfLongTextIsLeftOut) {
  EXPECT_EQ(one_line("abcdefghijk", 9), "abc...ijk");
  EXPECT_EQ(one_line(std::string(1000000, 'a') + "z", 9), "aaa...aaz");
  for (std::size_t size = 0; size < 100; ++size) {
    for (const char* letter : {"a", "\n", "ü", "€"}) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i) text += letter;
      EXPECT_LE(one_line(text, 40).size(), 40u);
    }
  }
}

TEST(Sentence, CharactersAreNotCut) {
  for (const std::size_t most : {8, 9, 10, 11, 12, 13}) {
    std::string euros;
    for (int i = 0; i < 20; ++i) euros += "€";
    const std::string line = one_line(euros, most);
    std::string rest = line;
    for (const std::string part : {"€", "..."}) {
      for (std::size_t at = rest.find(part); at != std::string::npos; at = rest.find(part))
        rest.erase(at, part.size());
    }
    EXPECT_EQ(rest, "") << line;
  }
}

TEST(Sentence, RefusalsAreOneShortLine) {
  const std::string rule = "name\n" + std::string(5000, 'r') + " must be short",
                    value = std::string(5000, 'v') + "\n";
  for (const std::string& message :
       {test::error_of([&] { fail(rule); }), test::error_of([&] { fail(rule, value); }),
        test::error_of([&] { fail(rule, 0.5); }),
        test::error_of([&] { fail(rule, std::int64_t{7}); })}) {
    EXPECT_LT(message.size(), 600u);
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(message.rfind("[rope] name\\x0arrr", 0), 0u);
    EXPECT_NE(message.find("must be short"), std::string::npos);
  }
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::sentence_tests
