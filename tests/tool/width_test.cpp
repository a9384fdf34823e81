// SPDX-License-Identifier: Apache-2.0
//
// No line of what the program prints to a pipe is wider than 120 columns, whatever it reports on.
// Scripts for shells are not for reading.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/run_tool.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool::width_tests {
namespace {

namespace fs = std::filesystem;

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, columns_of(line));
  return widest;
}

/// The program's lines, and that there are any.
void expect_narrow(const std::string& words, std::size_t columns = 120) {
  const test::Outcome outcome = test::run_tool(words);
  EXPECT_FALSE(outcome.out.empty()) << words << "\n" << outcome.err;
  EXPECT_LE(widest_line(outcome.out), columns) << words << "\n" << outcome.out;
}

class Width : public testing::Test {
 protected:
  // Names of files are a part of some lines: short ones here.
  Width() : before_(fs::current_path()) {
    ::unsetenv("COLUMNS");
    fs::current_path(fs::path(EIGEN_ROPE_SOURCE_DIR) / "tests/data");
  }
  ~Width() override { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST_F(Width, OfEveryHelp) {
  expect_narrow("--help");
  for (const char* command : {"inspect", "compare", "plan", "convert", "verify", "gradcheck",
                              "bench", "completion", "man", "help"}) {
    expect_narrow(std::string("help ") + command);
    expect_narrow(std::string(command) + " --help");
  }
  expect_narrow("man");
}

TEST_F(Width, OfWhatIsSaidOfEveryModel) {
  std::string before = "default:dims=64,context=4096";
  for (const char* folder : {"models/hugging_face", "models/gguf"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".gguf" && entry.path().parent_path().filename() == "gguf")
        continue;
      const std::string file = entry.path().string();
      expect_narrow("inspect --lenient --all " + file);
      expect_narrow("inspect --lenient --context 1e6 " + file);
      expect_narrow("compare --lenient " + file + " " + before);
      before = file;
    }
  }
}

TEST_F(Width, OfLongWords) {
  std::string factors = "1";
  for (int k = 1; k < 64; ++k) factors += "/" + std::to_string(k) + ".123456789";
  const std::string word = "default:dims=128,context=4096,factors=" + factors;
  expect_narrow("inspect " + word);
  expect_narrow("compare " + word + " linear:dims=128,factor=2");
}

TEST_F(Width, OfAPlan) {
  const std::string config = "plan --config models/hugging_face/llama_3_1.json ";
  expect_narrow(config + "--ranks 64");
  expect_narrow(config + "--context 1e9 --ranks 1000 --sharding contiguous --memory 80");
}

TEST_F(Width, OfTheChecks) {
  expect_narrow("verify golden");
  expect_narrow("gradcheck --pairing split_half --layout bsnd");
  expect_narrow("compare default:dims=64,context=4096 linear:dims=64,factor=2");
}

TEST_F(Width, IsThatOfColumnsWhereItIsSet) {
  ::setenv("COLUMNS", "70", 1);
  expect_narrow("help", 70);
  expect_narrow("inspect models/hugging_face/gemma_3.json", 80);
  ::unsetenv("COLUMNS");
}

}  // namespace
}  // namespace eigen_rope::tool::width_tests
