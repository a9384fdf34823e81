// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

namespace rope::tool {
namespace fs = std::filesystem;

namespace {

/// A pipe or a device would be replaced by a file of its name.
void require_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_other(path, error)) refuse(path.string(), "must be a file");
}

}  // namespace

void make_whole(const fs::path& path, const std::function<void(const fs::path& draft)>& make) {
  require_file(path);
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

void require_writable(const fs::path& path) {
  require_file(path);
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool possible = path.has_filename() && !fs::is_directory(path, error) && fs::is_directory(folder, error);
  if (!possible || ::access(folder.c_str(), W_OK) != 0) refuse(path.string(), "the results could not be written");
}

void write_whole(const fs::path& path, const std::string& text) {
  make_whole(path, [&](const fs::path& draft) {
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (file.fail()) refuse(path.string(), "the results could not be written");
  });
}

void write_json(const Json& json, const fs::path& path) {
  write_whole(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rope::tool
