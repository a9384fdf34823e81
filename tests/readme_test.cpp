// SPDX-License-Identifier: Apache-2.0
//
// The README's example is the example that is compiled.
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

}  // namespace
