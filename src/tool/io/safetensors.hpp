// SPDX-License-Identifier: Apache-2.0
//
// The header of a safetensors file, however large the file.
//
//   8 bytes   little-endian length N of the header
//   N bytes   {"__metadata__": {"key": "text", ...}, "name": {"dtype": "F32", "shape": [out, in],
//             "data_offsets": [begin, end]}, ...}
//   the rest  data: the tensors side by side, each from data_begin + begin to data_begin + end
//
// Everything in it is somebody else's claim and is checked against the file's size before anything
// of that size is allocated: known types, byte counts that fit the shapes, tensors that follow each
// other without gap or overlap to the end of the file, no name twice. Not the data: the trainer
// keeps that of its small files in memory, with a checksum (examples/train_lm/stored_tensors.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tool/io/byte_files.hpp"

namespace eigen_rope::tool {

struct SafetensorsEntry {
  std::string name{};
  std::string dtype{};
  std::vector<std::uint64_t> shape{};
  /// Bytes, counted from the beginning of the data.
  std::uint64_t begin = 0, end = 0;

  std::uint64_t bytes() const { return end - begin; }
};

struct SafetensorsHeader {
  /// In the order of the file, as the tensors.
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::vector<SafetensorsEntry> tensors{};
  /// Where the data begins in the file it was read from.
  std::uint64_t data_begin = 0;

  /// Nothing if the key is missing.
  std::optional<std::string> metadata_value(std::string_view key) const;
  void set_metadata(const std::string& key, const std::string& value);
};

/// The bits of an element; nothing for an unknown type.
std::optional<std::uint64_t> safetensors_bits(std::string_view dtype);

/// Refuses (FileError) what does not hold, in one sentence that names the file and the tensor.
/// O(header), whatever the file's size.
SafetensorsHeader read_safetensors_header(const InputFile& file);

/// The same of a file that is in memory, all of it; `name` is what refusals call it. data_begin
/// counts from its first byte.
SafetensorsHeader parse_safetensors(const std::string& name, std::string_view file);

/// The first bytes of a file with this header: length and text, padded with spaces to a multiple
/// of 8.
std::string encode(const SafetensorsHeader& header);

}  // namespace eigen_rope::tool
