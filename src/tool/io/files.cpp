// SPDX-License-Identifier: Apache-2.0
#include "tool/io/files.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tool/io/byte_files.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;

void require_writable(const fs::path& path) {
  if (is_stream(path)) return require_stream(path);
  const auto because = [&](const std::string& why) {
    refuse(path.string(), "cannot be written: " + why);
  };
  std::error_code error;
  if (fs::is_directory(path, error)) because("it is a folder");
  if (!path.has_filename()) because("the name of a file must be given");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::exists(folder, error)) because(fmt::format("there is no folder {}", folder.string()));
  if (!fs::is_directory(folder, error)) because(fmt::format("{} is no folder", folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    because(fmt::format("folder {}: {}", folder.string(),
                        std::error_code(errno, std::generic_category()).message()));
  }
}

void write_whole(const fs::path& path, const std::string& text) { TextDraft(path, text).publish(); }

void write_json(const Json& json, const fs::path& path) {
  write_whole(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace eigen_rope::tool
