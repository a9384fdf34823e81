// SPDX-License-Identifier: Apache-2.0
//
// Running the program `eigen-rope` as a user would, in a folder that disappears.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::tool::test {

namespace fs = std::filesystem;

using eigen_rope::test::file_bytes;
using eigen_rope::test::TemporaryFolder;
using eigen_rope::test::write_bytes;

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// Runs the program with these words; paths are quoted by the caller's not having quotes in them.
inline Outcome run_tool(const std::string& words) {
  const TemporaryFolder folder;
  const std::string command = "'" EIGEN_ROPE_TOOL "' " + words + " >'" + (folder / "out").string() +
                              "' 2>'" + (folder / "err").string() + "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_bytes(folder / "out"),
          file_bytes(folder / "err")};
}

}  // namespace eigen_rope::tool::test
