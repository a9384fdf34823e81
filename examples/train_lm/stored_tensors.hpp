// SPDX-License-Identifier: Apache-2.0
//
// The safetensors file format (huggingface/safetensors): 8 bytes little-endian size of the header,
// a JSON header, the data.
//
//   {"__metadata__": {"key": "text", ...}, "name": {"dtype": "F32", "shape": [out, in],
//       "data_offsets": [begin, end]}, ...}
//
// Shapes are RowMajor, so a ColMajor tensor [in, out] is written with its extents reversed. Types
// F32 and F64 only. Beyond the format, the metadata holds a `checksum` over the header (with the
// sixteen digits of the checksum itself taken as zeros) and the data, so that any changed byte is
// noticed. Any safetensors reader can read the files; files without a checksum are refused here.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace train_lm {

/// One named array. `bytes` is little-endian, as in the file.
struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<std::ptrdiff_t> shape;
  std::string bytes;
};

struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;

  /// Appends a tensor of float or double.
  template <class S>
  void add(std::string name, std::vector<std::ptrdiff_t> shape, const S* data);

  /// Copies a tensor into data; throws train_lm::Error if it is missing or differs in type or
  /// shape.
  template <class S>
  void get(const std::string& name, const std::vector<std::ptrdiff_t>& shape, S* data) const;

  /// Throws train_lm::Error if there is none.
  const StoredTensor& tensor(const std::string& name) const;
};

/// The bytes of a file.
std::string encode(const Safetensors& content);

/// The content of a file. Throws train_lm::Error for bytes that are no such file, are cut short or
/// have changed.
Safetensors decode(std::string_view file);

}  // namespace train_lm
