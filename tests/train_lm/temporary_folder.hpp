// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for each test, removed afterwards.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

namespace train_lm {

class TemporaryFolderTest : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    eigen_rope::test::write_bytes(folder_ / name, bytes);
  }

  std::string read(const std::string& name) const {
    return eigen_rope::test::file_bytes(folder_ / name);
  }

 private:
  eigen_rope::test::TemporaryFolder folder_;
};

}  // namespace train_lm
