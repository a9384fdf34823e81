// SPDX-License-Identifier: Apache-2.0
//
// Recorded answers on disk: an index (cases.json or cases.tsv) and the arrays it points to.
//
// Everything in these files is somebody else's claim. Types, ranges, shapes, offsets and byte
// counts are checked, against the size of the file they speak of, before anything is allocated or
// read; what does not hold is a FileError that names file, case and rule. Knows JSON and bytes;
// what the cases mean is left to verify_*.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {

using Dims = std::vector<std::int64_t>;

enum class DataType { f32, f64, f16, bf16, i32, i64 };

std::size_t size_of(DataType type);
/// "f32", "float32" and so on; nothing for an unknown name.
std::optional<DataType> data_type_named(std::string_view name);
/// Nothing for an integer.
std::optional<ScalarType> scalar_type_of(DataType type);

/// One object of an index, with the words that name it in a refusal.
class Entry {
 public:
  /// Refuses what is no object. `value` must outlive the entry.
  Entry(const Json& value, std::string where);

  const std::string& where() const { return where_; }
  const Json& json() const { return *value_; }
  [[noreturn]] void refuse(std::string_view rule) const { tool::refuse(where_, rule); }

  /// Is the field there, and not null?
  bool has(const char* name) const;
  std::int64_t integer(const char* name) const;
  std::int32_t integer32(const char* name) const;
  double number(const char* name) const;
  float number32(const char* name) const;
  std::string text(const char* name) const;
  Dims integers(const char* name) const;
  DataType data_type(const char* name) const;
  const Json& list(const char* name) const;
  /// The object in field `name`; `what` names it in a refusal.
  Entry object(const char* name, const std::string& what) const;

 private:
  const Json& field(const char* name) const;
  [[noreturn]] void wrong(const char* name, std::string_view kind) const;

  const Json* value_;
  std::string where_;
};

/// The bytes of an array, in its own type.
struct Array {
  DataType type = DataType::f32;
  Dims shape{};
  std::int64_t count = 0;
  std::vector<std::byte> bytes{};

  /// Elements widened to double; int64 values beyond 2^53 are rounded.
  std::vector<double> as_doubles() const;
  /// Elements of an i32 or i64 array.
  std::vector<std::int64_t> as_integers() const;
};

/// The product of the extents; refuses negative ones and products that do not fit 64 bits.
std::int64_t checked_count(const Entry& owner, const std::string& what, const Dims& shape);

/// A span of a binary file: where an index says an array lies.
struct Span {
  std::string file{};
  std::int64_t offset = 0;
  DataType type = DataType::f32;
  Dims shape{};
};

/// Reads the array called `what`; refuses names that leave the folder, missing files, and spans
/// that end after the file does.
Array read_span(const std::filesystem::path& folder, const Entry& owner, const std::string& what,
                const Span& span);

/// A tensor as the indices of ONNX and Ascend have it: name, role, dtype, shape, offset, bytes.
struct NamedTensor {
  std::string name{};
  std::string role{};
  Array array{};
};

/// The `tensors` of a case, read from `data_file`.
std::vector<NamedTensor> read_tensors(const std::filesystem::path& folder, const Entry& owner,
                                      const std::string& data_file);

/// Everything an index says of a case but where its arrays lie, as one line of JSON.
std::string parameters_of(const Entry& entry);

/// A parsed index with the path it came from. A table (cases.tsv) becomes the same objects as the
/// JSON beside it would.
struct GoldenIndex {
  std::filesystem::path path{};
  Json content{};

  std::filesystem::path folder() const { return path.parent_path(); }
  /// The list of cases, of at least one: the content itself or its field "cases".
  const Json& cases() const;
  /// Case `i`, named by its field "name" or "id".
  Entry entry(std::size_t i) const;
  /// Of the content, if it is an object: the field "data", or data.bin.
  std::string data_file() const;
};

GoldenIndex read_json_index(const std::filesystem::path& path);
GoldenIndex read_tsv_index(const std::filesystem::path& path);

}  // namespace eigen_rope::tool
