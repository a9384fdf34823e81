// SPDX-License-Identifier: Apache-2.0
//
// Running the program `rope` as a user would, in a folder that disappears.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "file_bytes.hpp"
#include "temporary_folder.hpp"

namespace rope::tool::test {

namespace fs = std::filesystem;

using rope::test::file_bytes;
using rope::test::TemporaryFolder;
using rope::test::write_bytes;

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
