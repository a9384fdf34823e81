// SPDX-License-Identifier: Apache-2.0
#include "tool/io/json_file.hpp"

#include <fmt/core.h>

#include <fstream>
#include <string>
#include <system_error>

#include "tool/io/file_error.hpp"
#include "tool/io/file_kind.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;

Json read_json(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || !fs::is_regular_file(path, error))
    refuse(path.string(), "must be a file that can be read");
  refuse_other_kinds(path, beginning_of(path));
  constexpr int deepest = 64;
  const auto bounded = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest)
      refuse(path.string(), fmt::format("must not be nested deeper than {} levels", deepest));
    return true;
  };
  try {
    return Json::parse(file, bounded);
  } catch (const Json::exception& malformed) {
    const std::string words = malformed.what();  // "[its kind] where and what"
    refuse(path.string(),
           fmt::format("must be JSON, got a {}", words.substr(words.find("] ") + 2)));
  }
}

}  // namespace eigen_rope::tool
