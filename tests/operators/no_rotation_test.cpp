// SPDX-License-Identifier: Apache-2.0
//
// The operators check and translate: their sources hold no sine, no cosine and no rotation of their
// own.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "support/file_bytes.hpp"

namespace {

namespace fs = std::filesystem;

/// Without comments and string literals.
std::string code_of(const fs::path& path) {
  return std::regex_replace(eigen_rope::test::file_bytes(path),
                            std::regex(R"re(//[^\n]*|"(\\.|[^"\\\n])*")re"), " ");
}

std::vector<fs::path> operator_files() {
  std::vector<fs::path> files;
  for (const char* folder : {"include/eigen_rope/operators", "src/operators"}) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(EIGEN_ROPE_SOURCE_DIR) / folder))
      files.push_back(entry.path());
  }
  return files;
}

const std::regex trigonometry(
    R"((^|[^.>\w])(std::|::)?(sin|cos|tan|sincos|sinf|cosf|sinl|cosl|polar|exp|cis)\s*\()");
// c * a - s * b or c * b + s * a in whatever names, as the formatter writes them.
const std::regex rotation(R"([\w\])] \* [\w.\[\]]+ [-+] [\w.\[\]]+ \* [\w\[(])");

TEST(OperatorSources, HoldNoSineAndNoCosine) {
  ASSERT_GE(operator_files().size(), 8U);
  for (const fs::path& path : operator_files())
    EXPECT_FALSE(std::regex_search(code_of(path), trigonometry)) << path;
}

TEST(OperatorSources, HoldNoRotation) {
  for (const fs::path& path : operator_files()) {
    std::smatch found;
    const std::string code = code_of(path);
    EXPECT_FALSE(std::regex_search(code, found, rotation)) << path << ": " << found.str();
  }
}

// The patterns find what they are for.
TEST(OperatorSources, PatternsFindTheLoopOfTheCore) {
  EXPECT_TRUE(std::regex_search(
      code_of(fs::path(EIGEN_ROPE_SOURCE_DIR) / "include/eigen_rope/rows/detail/rows.hpp"),
      rotation));
  EXPECT_TRUE(std::regex_search(
      code_of(fs::path(EIGEN_ROPE_SOURCE_DIR) / "src/tables/float_recurrence.cpp"), trigonometry));
}

}  // namespace
