// SPDX-License-Identifier: Apache-2.0
#include "tool/io/file_kind.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>
#include <system_error>

#include "eigen_rope/numbers/detail/sentence.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

/// White space and a byte order mark may stand before the page.
bool begins_as_page(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (begins_with(text, mark)) text.remove_prefix(mark.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  std::string lower(text.substr(0, 16));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return begins_with(lower, "<!doctype html") || begins_with(lower, "<html") ||
         begins_with(lower, "<head");
}

}  // namespace

void refuse_other_kinds(const fs::path& path, std::string_view beginning) {
  const auto is = [&](std::string_view what) {
    constexpr std::size_t longest = 560;
    throw FileError(fmt::format(
        "[rope] {}", detail::one_line(fmt::format("{} is {}", path.string(), what), longest)));
  };
  if (begins_with(beginning, "version https://git-lfs.github.com/spec/"))
    is("a Git LFS pointer, not the file itself: run git lfs pull");
  if (begins_as_page(beginning))
    is("an HTML page, not the file itself: download it again, logged in where its site asks for "
       "it");
  if (begins_with(beginning, "\x1f\x8b")) is("a gzip archive, not the file itself: unpack it");
  if (begins_with(beginning, "PK\x03\x04"))
    is("a zip archive (a PyTorch checkpoint is one), not the file itself");
}

bool has_model_extension(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".gguf" || extension == ".json" || extension == ".safetensors";
}

std::string beginning_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string text(telling_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace eigen_rope::tool
