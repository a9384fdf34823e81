// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "checksum.hpp"
#include "error.hpp"

namespace train_lm {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("cannot open the text {}", path.string()));
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw Error(fmt::format("cannot read the text {}", path.string()));
  return bytes;
}

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (!it->is_symlink() && it->is_regular_file()) files.push_back(it->path());
  }
  if (error)
    throw Error(fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Vocabulary::Vocabulary(std::string_view text) {
  std::array<bool, 256> occurs{};
  for (const char c : text) occurs[static_cast<unsigned char>(c)] = true;
  codes_.fill(-1);
  for (std::size_t byte = 0; byte < occurs.size(); ++byte) {
    if (!occurs[byte]) continue;
    codes_[byte] = size();
    bytes_.push_back(static_cast<char>(byte));
  }
}

std::vector<int> Vocabulary::encode(std::string_view text) const {
  std::vector<int> codes;
  codes.reserve(text.size());
  for (const char c : text) {
    const int code = codes_[static_cast<unsigned char>(c)];
    if (code < 0)
      throw Error(fmt::format("byte {} does not occur in the text the vocabulary was made from",
                              static_cast<unsigned char>(c)));
    codes.push_back(code);
  }
  return codes;
}

std::string read_text(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error(fmt::format("the text {} does not exist; name a file or a folder with --text",
                            path.string()));
  std::string text;
  if (fs::is_directory(status)) {
    const std::vector<fs::path> files = sorted_files(path);
    if (files.empty())
      throw Error(fmt::format("the folder {} has no files (symlinks are skipped)", path.string()));
    for (const fs::path& file : files) text += read_file(file);
  } else {
    text = read_file(path);
  }
  if (text.empty()) throw Error(fmt::format("the text {} is empty", path.string()));
  return text;
}

Corpus::Corpus(const std::string& text, double validation_share)
    : vocabulary(text), checksum(fnv1a(text.data(), text.size())) {
  if (text.empty()) throw Error("the text is empty");
  if (vocabulary.size() < 2)
    throw Error("the text has only one kind of character: nothing to learn");
  const std::vector<int> codes = vocabulary.encode(text);
  const auto tail =
      static_cast<std::ptrdiff_t>(validation_share * static_cast<double>(codes.size()));
  train.assign(codes.begin(), codes.end() - tail);
  validation.assign(codes.end() - tail, codes.end());
}

void require_context_fits(const Corpus& corpus, std::ptrdiff_t context) {
  const auto check = [context](const char* name, std::size_t characters) {
    if (static_cast<std::ptrdiff_t>(characters) > context) return;
    throw Error(
        fmt::format("a context of {} characters does not fit: the {} split has {} characters and "
                    "needs {}; use a longer text or a "
                    "smaller --context",
                    context, name, characters, context + 1));
  };
  check("training", corpus.train.size());
  check("validation", corpus.validation.size());
}

}  // namespace train_lm
