// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

namespace rope::tool {
namespace fs = std::filesystem;

void make_whole(const fs::path& path, const std::function<void(const fs::path& draft)>& make) {
  const fs::path draft = path.string() + fmt::format(".{}.tmp", ::getpid());
  std::error_code error, ignored;
  try {
    make(draft);
  } catch (...) {
    fs::remove(draft, ignored);
    throw;
  }
  fs::rename(draft, path, error);
  if (!error) return;
  fs::remove(draft, ignored);
  refuse(path.string(), fmt::format("the results could not be written: {}", error.message()));
}

void write_whole(const fs::path& path, const std::string& text) {
  make_whole(path, [&](const fs::path& draft) {
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (file.fail()) refuse(path.string(), "the results could not be written");
  });
}

}  // namespace rope::tool
