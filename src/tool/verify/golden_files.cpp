// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/golden_files.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

// A piece of a JSON value short enough for a sentence.
std::string excerpt(const Json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

bool fits_int64(const Json& value) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<std::int64_t>::max());
  return value.is_number_integer();
}

template <class Element>
std::vector<double> widened(const Array& array) {
  std::vector<double> result(static_cast<std::size_t>(array.count));
  for (std::size_t i = 0; i < result.size(); ++i) {
    Element element;
    std::memcpy(&element, array.bytes.data() + i * sizeof element, sizeof element);
    result[i] = static_cast<double>(element);
  }
  return result;
}

std::int64_t file_size(const Entry& owner, const std::string& name, const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    owner.refuse(fmt::format("{} must be a file that can be read", name));
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) owner.refuse(fmt::format("{} must be a file that can be read", name));
  return static_cast<std::int64_t>(size);
}

void require_inside(const Entry& owner, const std::string& name) {
  const fs::path path(name);
  bool inside = !name.empty() && path.is_relative();
  for (const fs::path& part : path) inside = inside && part != "..";
  if (!inside)
    owner.refuse(fmt::format("a data file must lie in the folder, got {}", excerpt(Json(name))));
}

}  // namespace

std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::i32: return 4;
    case DataType::f64:
    case DataType::i64: return 8;
    case DataType::f16:
    case DataType::bf16: break;
  }
  return 2;
}

std::optional<DataType> data_type_named(std::string_view name) {
  if (name == "f32" || name == "float32") return DataType::f32;
  if (name == "f64" || name == "float64") return DataType::f64;
  if (name == "f16" || name == "float16") return DataType::f16;
  if (name == "bf16" || name == "bfloat16") return DataType::bf16;
  if (name == "i32" || name == "int32") return DataType::i32;
  if (name == "i64" || name == "int64") return DataType::i64;
  return std::nullopt;
}

std::optional<ScalarType> scalar_type_of(DataType type) {
  switch (type) {
    case DataType::f32: return ScalarType::f32;
    case DataType::f64: return ScalarType::f64;
    case DataType::f16: return ScalarType::f16;
    case DataType::bf16: return ScalarType::bf16;
    case DataType::i32:
    case DataType::i64: break;
  }
  return std::nullopt;
}

Entry::Entry(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {
  if (!value.is_object()) refuse(fmt::format("must be an object, got {}", excerpt(value)));
}

bool Entry::has(const char* name) const {
  const auto found = value_->find(name);
  return found != value_->end() && !found->is_null();
}

const Json& Entry::field(const char* name) const {
  const auto found = value_->find(name);
  if (found == value_->end()) refuse(fmt::format("\"{}\" is missing", name));
  return *found;
}

void Entry::wrong(const char* name, std::string_view kind) const {
  refuse(fmt::format("\"{}\" must be {}, got {}", name, kind, excerpt(field(name))));
}

std::int64_t Entry::integer(const char* name) const {
  const Json& value = field(name);
  if (!fits_int64(value)) wrong(name, "an integer of 64 bits");
  return value.get<std::int64_t>();
}

std::int32_t Entry::integer32(const char* name) const {
  const Json& value = field(name);
  if (!fits_int64(value) ||
      value.get<std::int64_t>() != static_cast<std::int32_t>(value.get<std::int64_t>())) {
    wrong(name, "an integer of 32 bits");
  }
  return static_cast<std::int32_t>(value.get<std::int64_t>());
}

double Entry::number(const char* name) const {
  if (!field(name).is_number()) wrong(name, "a number");
  return field(name).get<double>();
}

float Entry::number32(const char* name) const {
  const double value = number(name);
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    wrong(name, "a number that fits float");
  return static_cast<float>(value);
}

std::string Entry::text(const char* name) const {
  if (!field(name).is_string()) wrong(name, "a text");
  return field(name).get<std::string>();
}

Dims Entry::integers(const char* name) const {
  const Json& value = field(name);
  if (!value.is_array()) wrong(name, "a list of integers");
  Dims result;
  for (const Json& element : value) {
    if (!fits_int64(element)) wrong(name, "a list of integers");
    result.push_back(element.get<std::int64_t>());
  }
  return result;
}

DataType Entry::data_type(const char* name) const {
  const std::optional<DataType> type = data_type_named(text(name));
  if (!type) wrong(name, "float32, float64, float16, bfloat16, int32 or int64");
  return *type;
}

const Json& Entry::list(const char* name) const {
  if (!field(name).is_array()) wrong(name, "a list");
  return field(name);
}

Entry Entry::object(const char* name, const std::string& what) const {
  return Entry(field(name), fmt::format("{}: {}", where_, what));
}

std::vector<double> Array::as_doubles() const {
  switch (type) {
    case DataType::f32: return widened<float>(*this);
    case DataType::f64: return widened<double>(*this);
    case DataType::f16: return widened<Eigen::half>(*this);
    case DataType::bf16: return widened<Eigen::bfloat16>(*this);
    case DataType::i32: return widened<std::int32_t>(*this);
    case DataType::i64: break;
  }
  return widened<std::int64_t>(*this);
}

std::vector<std::int64_t> Array::as_integers() const {
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (type == DataType::i32) {
      std::int32_t narrow;
      std::memcpy(&narrow, bytes.data() + i * sizeof narrow, sizeof narrow);
      result[i] = narrow;
    } else {
      std::memcpy(&result[i], bytes.data() + i * sizeof(std::int64_t), sizeof(std::int64_t));
    }
  }
  return result;
}

std::int64_t checked_count(const Entry& owner, const std::string& what, const Dims& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      owner.refuse(
          fmt::format("extents of {} must not be negative, got {}", what, excerpt(Json(shape))));
    empty = empty || extent == 0;
    const std::int64_t factor = extent == 0 ? 1 : extent;
    if (count > std::numeric_limits<std::int64_t>::max() / 8 / factor) {
      owner.refuse(fmt::format("the elements of {} must fit a 64-bit count of bytes, got {}", what,
                               excerpt(Json(shape))));
    }
    count *= factor;
  }
  return empty ? 0 : count;
}

Array read_span(const fs::path& folder, const Entry& owner, const std::string& what,
                const Span& span) {
  require_inside(owner, span.file);
  if (span.offset < 0)
    owner.refuse(fmt::format("the offset of {} must not be negative, got {}", what, span.offset));
  Array array;
  array.type = span.type;
  array.shape = span.shape;
  array.count = checked_count(owner, what, span.shape);
  const std::int64_t bytes = array.count * static_cast<std::int64_t>(size_of(span.type));
  const std::int64_t size = file_size(owner, span.file, folder / span.file);
  if (span.offset > size || bytes > size - span.offset) {
    // As unsigned numbers the sum of two counts cannot overflow.
    const std::uint64_t end =
        static_cast<std::uint64_t>(span.offset) + static_cast<std::uint64_t>(bytes);
    owner.refuse(fmt::format("{} ends at byte {} but {} has {} bytes", what, end, span.file, size));
  }
  array.bytes.resize(static_cast<std::size_t>(bytes));
  std::ifstream file(folder / span.file, std::ios::binary);
  file.seekg(span.offset);
  file.read(reinterpret_cast<char*>(array.bytes.data()), bytes);
  if (!file) owner.refuse(fmt::format("{} must be a file that can be read", span.file));
  return array;
}

std::vector<NamedTensor> read_tensors(const fs::path& folder, const Entry& owner,
                                      const std::string& data_file) {
  std::vector<NamedTensor> tensors;
  const Json& list = owner.list("tensors");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Entry unnamed(list[i], fmt::format("{}: tensor {}", owner.where(), i));
    NamedTensor tensor{unnamed.text("name"), unnamed.text("role"), {}};
    const std::string what = fmt::format("tensor \"{}\"", tensor.name);
    const Entry entry(list[i], fmt::format("{}: {}", owner.where(), what));
    if (tensor.role != "input" && tensor.role != "output") {
      entry.refuse(
          fmt::format("\"role\" must be input or output, got {}", excerpt(Json(tensor.role))));
    }
    const Span span{data_file, entry.integer("offset"), entry.data_type("dtype"),
                    entry.integers("shape")};
    const std::int64_t needed =
        checked_count(owner, what, span.shape) * static_cast<std::int64_t>(size_of(span.type));
    if (entry.integer("bytes") != needed) {
      owner.refuse(fmt::format("{} has {} bytes but its shape and type need {}", what,
                               entry.integer("bytes"), needed));
    }
    tensor.array = read_span(folder, owner, what, span);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::string parameters_of(const Entry& entry) {
  Json parameters = entry.json();
  for (const char* array : {"input", "output", "positions"}) parameters.erase(array);
  if (parameters.contains("tensors")) {
    for (Json& tensor : parameters["tensors"]) {
      for (const char* place : {"offset", "bytes"}) {
        if (tensor.is_object()) tensor.erase(place);
      }
    }
  }
  return parameters.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& GoldenIndex::cases() const {
  const Json& list = content.is_object() && content.contains("cases") ? content["cases"] : content;
  if (!list.is_array()) refuse(path.string(), "must hold a list of cases");
  if (list.empty()) refuse(path.string(), "must hold at least one case");
  return list;
}

Entry GoldenIndex::entry(std::size_t i) const {
  const Json& value = cases()[i];
  std::string name = fmt::format("{}", i);
  if (value.is_object() && value.contains("name")) {
    name = excerpt(value["name"]);
  } else if (value.is_object() && value.contains("id")) {
    name = excerpt(value["id"]);
  }
  return Entry(value, fmt::format("{}: case {}", path.string(), name));
}

std::string GoldenIndex::data_file() const {
  if (!content.is_object() || !content.contains("data")) return "data.bin";
  return Entry(content, path.string()).text("data");
}

GoldenIndex read_json_index(const fs::path& path) { return {path, read_json(path)}; }

}  // namespace eigen_rope::tool
