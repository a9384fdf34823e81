// SPDX-License-Identifier: Apache-2.0
//
// Running the program `rope` as a user would, in a folder that disappears.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "file_bytes.hpp"

namespace rope::tool::test {

namespace fs = std::filesystem;

using rope::test::file_bytes;

inline void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  ASSERT_TRUE(file.flush());
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "rope_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// Runs the program with these words; paths are quoted by the caller's not having quotes in them.
inline Outcome run_tool(const std::string& words) {
  const TemporaryFolder folder;
  const std::string command =
      "'" ROPE_TOOL "' " + words + " >'" + (folder / "out").string() + "' 2>'" + (folder / "err").string() + "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_bytes(folder / "out"), file_bytes(folder / "err")};
}

}  // namespace rope::tool::test
