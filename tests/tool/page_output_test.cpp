// SPDX-License-Identifier: Apache-2.0
//
// What README and docs/tool.md show of the program's output is what it prints: each block that
// begins with `$ eigen-rope ...` is run, in a folder with the files its commands name. A line of
// dots stands for lines left out; a comment behind the command says that lines may be left out
// everywhere.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/model_files.hpp"
#include "support/run_tool.hpp"

namespace eigen_rope::tool::test::page_output_tests {
namespace {

struct Shown {
  std::string words;  // behind the program's name
  std::vector<std::string> lines;
  bool excerpt = false;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

bool is_gap(const std::string& line) {
  return line.find_first_not_of(" .") == std::string::npos && line.find("...") != std::string::npos;
}

std::vector<Shown> shown_in(const std::string& page) {
  const std::string indent = "    ", prefix = "eigen-rope ";
  std::vector<Shown> blocks;
  bool inside = false;
  for (const std::string& line : lines_of(file_bytes(fs::path(EIGEN_ROPE_SOURCE_DIR) / page))) {
    if (line.rfind(indent + "$ ", 0) == 0) {
      std::string command = line.substr(indent.size() + 2);
      const std::size_t comment = command.find("  #");
      const std::size_t program = command.find(prefix);
      if (program == std::string::npos) continue;
      const bool excerpt = comment != std::string::npos;
      command = command.substr(program + prefix.size(),
                               excerpt ? comment - program - prefix.size() : std::string::npos);
      command = command.substr(0, command.find(" --plot"));
      blocks.push_back({command, {}, excerpt});
      inside = true;
    } else if (inside && (line.empty() || line.rfind(indent, 0) == 0)) {
      blocks.back().lines.push_back(line.empty() ? line : line.substr(indent.size()));
    } else {
      inside = false;
    }
  }
  for (Shown& block : blocks) {
    while (!block.lines.empty() && block.lines.back().empty()) block.lines.pop_back();
  }
  return blocks;
}

/// The first line that is not printed where it is shown; empty if all are.
std::string first_missing(const Shown& shown, const std::vector<std::string>& printed) {
  std::size_t next = 0;
  bool gap = shown.excerpt;
  for (const std::string& line : shown.lines) {
    if (is_gap(line)) {
      gap = true;
      continue;
    }
    while (gap && next < printed.size() && printed[next] != line) ++next;
    if (next == printed.size() || printed[next] != line)
      return line.empty() ? "(an empty line)" : line;
    gap = shown.excerpt;
    ++next;
  }
  return gap || shown.excerpt || next == printed.size() ? "" : "(nothing) before " + printed[next];
}

/// A checkpoint of two layers with 4 query heads and 1 key head of 16.
TestModel small_model() {
  std::mt19937 random(1);
  TestModel model;
  for (int layer = 0; layer < 2; ++layer) {
    for (const auto& [name, rows] :
         {std::pair<const char*, int>{"q_proj", 64}, {"k_proj", 16}, {"v_proj", 16}}) {
      std::vector<float> values(static_cast<std::size_t>(rows) * 64);
      for (float& value : values)
        value = static_cast<float>(static_cast<double>(random()) * 0x1p-32 - 0.5);
      TestTensor tensor{"F32", {rows, 64}, std::string(values.size() * sizeof(float), '\0')};
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
      model.push_back(
          {"model.layers." + std::to_string(layer) + ".self_attn." + name + ".weight", tensor});
    }
  }
  return model;
}

TEST(PageOutput, IsWhatTheProgramPrints) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::create_symlink(fs::path(EIGEN_ROPE_SOURCE_DIR) / "tests", folder / "tests");
  fs::create_directory(folder / "Llama-3.1-8B");
  fs::copy(fs::path(EIGEN_ROPE_SOURCE_DIR) / "tests/data/models/hugging_face/llama_3_1.json",
           folder / "Llama-3.1-8B/config.json");
  write_bytes(folder / "model.safetensors", file_of(small_model()));
  const std::vector<Shown> blocks = shown_in("docs/tool.md");
  EXPECT_GE(blocks.size(), 2U);
  fs::current_path(folder.path());
  for (const Shown& block : blocks) {
    ASSERT_FALSE(block.lines.empty()) << block.words;
    const std::string printed = run_tool(block.words).out;
    EXPECT_EQ(first_missing(block, lines_of(printed)), "") << "eigen-rope " << block.words << "\n"
                                                           << printed;
  }
  fs::current_path(before);
}

}  // namespace
}  // namespace eigen_rope::tool::test::page_output_tests
