// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <unistd.h>

#include <system_error>

#include "byte_files.hpp"

namespace rope::tool {
namespace fs = std::filesystem;

void require_writable(const fs::path& path) {
  std::error_code error;
  if (fs::is_other(path, error)) refuse(path.string(), "must be a file");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool possible = path.has_filename() && !fs::is_directory(path, error) && fs::is_directory(folder, error);
  if (!possible || ::access(folder.c_str(), W_OK) != 0) refuse(path.string(), "the results could not be written");
}

void write_whole(const fs::path& path, const std::string& text) { TextDraft(path, text).publish(); }

void write_json(const Json& json, const fs::path& path) {
  write_whole(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rope::tool
