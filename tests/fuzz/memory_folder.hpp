// SPDX-License-Identifier: Apache-2.0
//
// A folder for readers that want one: in memory where there is such a place; removed at the end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "targets.hpp"

namespace rope::fuzz {

/// Kept for all runs of a target. Not for several threads.
class MemoryFolder {
 public:
  explicit MemoryFolder(const std::string& target) {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    path_ = (std::filesystem::is_directory(memory, error) ? memory : std::filesystem::temp_directory_path()) /
            ("rope_fuzz_" + target + "." + std::to_string(::getpid()));
    std::filesystem::create_directory(path_);
  }
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const char* name, Bytes bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rope::fuzz
