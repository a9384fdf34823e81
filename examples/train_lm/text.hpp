// SPDX-License-Identifier: Apache-2.0
//
// The text: read, coded, split.
//
// A file, or all regular files below a folder, sorted by path and concatenated. Symlinks are
// skipped, so that a text with two names (GPL and GPL-3 in /usr/share/common-licenses) does not
// come twice. A character is a byte; the vocabulary is the bytes that occur, in ascending order.
// The validation split is the tail of the concatenation. Not a tokenizer, and encodings are not
// looked at.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace train_lm {

/// The bytes that occur in a text, numbered from 0.
class Vocabulary {
 public:
  explicit Vocabulary(std::string_view text);

  int size() const { return static_cast<int>(bytes_.size()); }
  /// Throws train_lm::Error for a byte that is not in it.
  std::vector<int> encode(std::string_view text) const;
  char decode(int code) const { return bytes_[static_cast<std::size_t>(code)]; }

 private:
  std::string bytes_;
  std::array<int, 256> codes_{};
};

/// The bytes of a file, or of the files of a folder as described above. Throws train_lm::Error if
/// there is nothing to read.
std::string read_text(const std::filesystem::path& path);

/// A text with its vocabulary, cut in two.
struct Corpus {
  /// `validation_share` of the characters, rounded down, are the tail. Throws train_lm::Error for
  /// an empty text or one with a single kind of character.
  explicit Corpus(const std::string& text, double validation_share = 0.1);

  Vocabulary vocabulary;
  std::vector<int> train;
  std::vector<int> validation;
  /// Tells one text from another in a checkpoint.
  std::uint64_t checksum = 0;
};

/// Throws train_lm::Error unless both splits hold a window of `context` characters and the one
/// after it.
void require_context_fits(const Corpus& corpus, std::ptrdiff_t context);

}  // namespace train_lm
