// SPDX-License-Identifier: Apache-2.0
//
// The programs that pages show are programs that are compiled: functions of examples/ here, to the
// letter; the blocks of README.md and of all other pages by docs/CMakeLists.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <eigen_rope/version.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string content_of(const std::string& file) {
  std::ifstream stream(std::string(EIGEN_ROPE_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(stream) << "cannot read " << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> blocks_of(const std::string& page) {
  const std::string text = content_of(page);
  const std::string fence = "```cpp\n";
  std::vector<std::string> blocks;
  for (std::size_t begin = text.find(fence); begin != std::string::npos;
       begin = text.find(fence, begin)) {
    begin += fence.size();
    blocks.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return blocks;
}

/// Whether a program has these lines, inside a function or outside.
bool shows(const std::string& program, const std::string& block) {
  const std::string code = content_of(program);
  std::string outdented;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);)
    outdented += (line.rfind("  ", 0) == 0 ? line.substr(2) : line) + '\n';
  return code.find(block) != std::string::npos || outdented.find(block) != std::string::npos;
}

/// Without the commas that separate thousands.
std::string without_commas(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return text;
}

TEST(Readme, NamesTheVersion) {
  const std::string version = std::to_string(EIGEN_ROPE_VERSION_MAJOR) + '.' +
                              std::to_string(EIGEN_ROPE_VERSION_MINOR) + '.' +
                              std::to_string(EIGEN_ROPE_VERSION_PATCH);
  EXPECT_NE(content_of("README.md").find("Version " + version), std::string::npos) << version;
}

TEST(Readme, CountsWhatThePageOnTheToolCounts) {
  const std::string readme = without_commas(content_of("README.md"));
  const std::string tool = content_of("docs/tool.md");
  for (const auto& [here, there] :
       {std::pair("1935 recorded answers", "\n    1935 passed, 0 failed\n"),
        std::pair("41024 comparisons", "all 41024 checks")}) {
    EXPECT_NE(readme.find(here), std::string::npos) << here;
    EXPECT_NE(tool.find(there), std::string::npos) << there;
  }
}

TEST(GradientsPage, ShowsTheBackwardPassThatIsCompiled) {
  const std::vector<std::string> blocks = blocks_of("docs/gradients.md");
  EXPECT_EQ(blocks.size(), 1U);
  for (const std::string& block : blocks)
    EXPECT_TRUE(shows("examples/backward_pass.cpp", block)) << block;
}

TEST(OperatorsPage, ShowsConversionsThatAreCompiled) {
  const std::vector<std::string> blocks = blocks_of("docs/operators.md");
  EXPECT_EQ(blocks.size(), 3U);
  for (const std::string& block : blocks)
    EXPECT_TRUE(shows("examples/operator_conversions.cpp", block)) << block;
}

TEST(Pages, WithCppBlocksAreCompiledOrShowExamples) {
  std::vector<std::string> known{"gradients", "operators"};  // above
  std::istringstream compiled(EIGEN_ROPE_COMPILED_PAGES);
  for (std::string page; compiled >> page;) known.push_back(page);
  int pages = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(EIGEN_ROPE_SOURCE_DIR) + "/docs")) {
    if (entry.path().extension() != ".md") continue;
    ++pages;
    const std::string page = entry.path().stem().string();
    const bool has_blocks = !blocks_of("docs/" + page + ".md").empty();
    EXPECT_EQ(std::count(known.begin(), known.end(), page), has_blocks ? 1 : 0)
        << "docs/" << page << ".md";
  }
  EXPECT_GT(pages, 10);
}

}  // namespace
