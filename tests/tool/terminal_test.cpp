// SPDX-License-Identifier: Apache-2.0
//
// How texts are laid out, and what the program prints on a terminal of each sort.
#include "tool/io/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "support/run_tool.hpp"

namespace eigen_rope::tool::terminal_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Wrapped, LinesFitAndLongWordsAreBroken) {
  EXPECT_EQ(wrapped("one two three", 9, "! "), "! one two\n  three\n");
  EXPECT_EQ(wrapped("abcdefghijklmn op", 8, "! "), "! abcdef\n  ghijkl\n  mn op\n");
  EXPECT_EQ(wrapped("a abcdefghijk", 6, ""), "a\nabcdef\nghijk\n");
  EXPECT_EQ(wrapped("", 6, "! "), "! \n");
  // Two bytes each and one column; no character is cut.
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4", 5, ""),
            "\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\n");
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xb6\xc3\xbc", 2, ""), "\xc3\xa4\xc3\xb6\n\xc3\xbc\n");
}

TEST(Folded, WhatIsTooLongStandsUnderItsColumn) {
  EXPECT_EQ(folded("  --json FILE   write it there for them\n  short   \n", 32),
            "  --json FILE   write it there\n                for them\n  short\n");
  EXPECT_EQ(folded("one two three four\n", 9), "one two\nthree\nfour\n");
  EXPECT_EQ(folded("  one two three\n", 9), "  one two\n  three\n");
}

/// What a command prints on a terminal.
std::string printed_on_terminal(const std::string& environment, const std::string& words) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return "no terminal";
  const std::string name = ::ptsname(terminal);
  // Held open so that the terminal keeps what was printed until it is read.
  const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  const std::string command = "env -u NO_COLOR -u TERM " + environment + " '" EIGEN_ROPE_TOOL "' " +
                              words + " >'" + name + "' 2>&1";
  // The reader runs beside the command: a terminal holds a few KiB.
  const std::string reader = "(" + command + "; echo END >'" + name + "') &";
  EXPECT_EQ(std::system(reader.c_str()), 0);
  std::string text;
  char buffer[4096];
  while (text.find("END") == std::string::npos) {
    const ssize_t got = ::read(terminal, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(other_end);
  ::close(terminal);
  return text;
}

TEST(Terminal, HasColoursUnlessItIsDumbOrNoneAreWanted) {
  const std::string words = "inspect yarn:dims=8,factor=4,original=4096";
  ASSERT_NE(printed_on_terminal("TERM=xterm", words), "no terminal")
      << "the tests need a system that gives terminals to programs (/dev/ptmx)";
  EXPECT_THAT(printed_on_terminal("TERM=xterm", words), HasSubstr("\033[1m"));
  EXPECT_THAT(printed_on_terminal("TERM=xterm NO_COLOR=", words), HasSubstr("\033[1m"));
  for (const char* environment : {"TERM=dumb", "TERM=", "", "TERM=xterm NO_COLOR=1"}) {
    const std::string text = printed_on_terminal(environment, words);
    EXPECT_THAT(text, HasSubstr("attention_factor")) << environment;
    EXPECT_THAT(text, Not(HasSubstr("\033"))) << environment;
  }
}

}  // namespace
}  // namespace eigen_rope::tool::terminal_tests
