// SPDX-License-Identifier: Apache-2.0
//
// A file that is never on a disk, for readers that want a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace eigen_rope::fuzz {

/// Kept open for all runs of a target; each puts its bytes in. Not for several threads.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("rope_fuzz", 0)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// The path of a file with these bytes, and no others.
  std::filesystem::path with(std::string_view bytes) const {
    const bool written =
        ::ftruncate(descriptor_, 0) == 0 &&
        ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    if (!written) throw std::runtime_error("the memory file could not be written");
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace eigen_rope::fuzz
