// SPDX-License-Identifier: Apache-2.0
//
// The programs that README and docs show are programs that are compiled.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string content_of(const std::string& file) {
  std::ifstream stream(std::string(ROPE_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(stream) << "cannot read " << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Readme, ShowsTheQuickstartThatIsCompiled) {
  const std::string program = content_of("examples/quickstart.cpp");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(content_of("README.md").find("```cpp\n" + program + "```"), std::string::npos)
      << "README.md does not contain examples/quickstart.cpp to the letter";
}

TEST(OperatorsPage, ShowsConversionsThatAreCompiled) {
  const std::string program = content_of("examples/operator_conversions.cpp");
  const std::string page = content_of("docs/operators.md");
  const std::string fence = "```cpp\n";
  int blocks = 0;
  for (std::size_t begin = page.find(fence); begin != std::string::npos; begin = page.find(fence, begin)) {
    begin += fence.size();
    const std::string block = page.substr(begin, page.find("```", begin) - begin);
    EXPECT_NE(program.find(block), std::string::npos) << block;
    ++blocks;
  }
  EXPECT_EQ(blocks, 3);
}

}  // namespace
