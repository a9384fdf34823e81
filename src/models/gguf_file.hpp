// SPDX-License-Identifier: Apache-2.0
//
// A GGUF file's metadata and list of tensors.
//
//   "GGUF" | version | tensor count | key count | keys: name, type, value | tensors: name, extents,
//       type, offset | padding | data
//
// Versions 2 and 3, in either byte order. What a file claims of itself (counts, lengths, offsets)
// is compared with its size before it is believed; texts and arrays stay in the file until they are
// asked for, and of the data only the tensors asked for are read. So the size of the weights does
// not matter. Refusals are eigen_rope::Error and begin with the file's name. Not what keys mean:
// that is gguf.cpp. Source: the format's description, docs/gguf.md of ggml 0.21.0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// The types of metadata, with the format's numbers.
enum class GgufType : std::uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12,
};

/// uint8 to float64; bool for boolean.
const char* gguf_type_name(GgufType type);

/// What is kept of one key: a scalar's bits, or where a text or an array lies.
struct GgufValue {
  GgufType type = GgufType::uint8;
  /// The bits of a scalar, in the low bytes.
  std::uint64_t bits = 0;
  /// Type of an array's elements.
  GgufType element = GgufType::uint8;
  /// Bytes of a text, elements of an array.
  std::uint64_t count = 0;
  /// Where they begin in the file.
  std::uint64_t place = 0;
};

struct GgufTensor {
  /// ggml's number of the type: 0 is f32, 1 f16.
  std::uint32_t type = 0;
  std::vector<std::uint64_t> extents{};
  /// Where its data begin in the file.
  std::uint64_t place = 0;
};

/// Reads on demand, through one stream: not for several threads at a time.
class GgufFile {
 public:
  /// Reads the header. Throws eigen_rope::Error for whatever is not a whole, well-formed file.
  explicit GgufFile(const std::filesystem::path& path);

  /// The file's name without its folder.
  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }
  const std::map<std::string, GgufValue, std::less<>>& values() const { return values_; }
  const std::map<std::string, GgufTensor, std::less<>>& tensors() const { return tensors_; }

  /// nullptr where there is none.
  const GgufValue* find(std::string_view key) const;

  // Each is empty where the key is missing and throws where its type is another.

  /// Of at most 256 bytes, UTF-8 without control characters.
  std::optional<std::string> text(std::string_view key);
  /// An integer or a floating-point value, finite.
  std::optional<double> number(std::string_view key);
  /// An integer from 0 to 2^53.
  std::optional<Index> integer(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  /// An array of integers or of booleans (0 and 1), of at most 65536 elements; each from 0 to 2^53.
  std::optional<std::vector<Index>> integers(std::string_view key);

  /// The values of a tensor of one extent, f32 or f16, of at most 65536 elements; empty where there
  /// is none of the name.
  std::optional<std::vector<double>> tensor_values(std::string_view tensor_name);

  /// In this file or in one of its parts.
  bool has_tensor(std::string_view tensor_name) const;

  /// Adds another part of a split model: its tensors are looked up too, its metadata are not.
  void add_part(GgufFile part) { parts_.push_back(std::move(part)); }

  /// Throws `<file>: <rule>, got <value>`.
  [[noreturn]] void refuse(std::string_view rule, std::string_view got) const;
  [[noreturn]] void refuse(std::string_view rule) const;
  /// Throws `<file>: metadata key "<key>" must <rule>, got <value>`.
  [[noreturn]] void refuse_key(std::string_view key, std::string_view rule,
                               std::string_view got) const;

 private:
  enum class ByteOrder { little, big };

  std::uint64_t left() const { return size_ - position_; }
  void seek(std::uint64_t place);
  void read_bytes(char* bytes, std::uint64_t count);
  void require_short_header(std::uint64_t end) const;
  void skip(std::uint64_t count);
  std::uint64_t read_unsigned(int bytes);
  std::string read_name(std::string_view what, std::uint64_t longest);
  GgufType read_type(std::string_view key);
  void read_version();
  void read_values(std::uint64_t count);
  void skip_array(std::string_view key, GgufType element, std::uint64_t count, int depth);
  void read_alignment();
  void read_tensors(std::uint64_t count);
  GgufTensor read_tensor(const std::string& tensor_name);
  std::uint64_t data_bytes(const std::string& tensor_name, const GgufTensor& tensor) const;

  std::string name_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  ByteOrder order_ = ByteOrder::little;
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 32;
  std::map<std::string, GgufValue, std::less<>> values_;
  std::map<std::string, GgufTensor, std::less<>> tensors_;
  std::vector<GgufFile> parts_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
