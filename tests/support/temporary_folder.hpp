// SPDX-License-Identifier: Apache-2.0
//
// A folder of a test's own, removed at the end with everything in it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace eigen_rope::test {

/// Memory, where there is a folder of it, is quicker, and flushes a file at once.
enum class Medium { disk, memory };

class TemporaryFolder {
 public:
  explicit TemporaryFolder(Medium medium = Medium::disk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool there = medium == Medium::memory && ::access(memory.c_str(), W_OK | X_OK) == 0;
    std::string name =
        ((there ? memory : std::filesystem::temp_directory_path()) / "rope_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace eigen_rope::test
