// SPDX-License-Identifier: Apache-2.0
#include "tool/io/safetensors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "numbers/joined.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t largest_header = 100'000'000;
constexpr const char* metadata_name = "__metadata__";

// A name in a sentence: short, and without characters that would disturb a terminal.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 120;
  const std::string whole =
      Json(std::string(text)).dump(-1, ' ', true, Json::error_handler_t::replace);
  return whole.size() <= longest ? whole : whole.substr(0, longest) + "...\"";
}

// Takes the header apart as it is parsed, so that repeated names are seen and nothing nested deeper
// is kept.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(std::string file, SafetensorsHeader& header)
      : file_(std::move(file)), header_(header) {}

  bool null() override { return wrong_value("null"); }
  bool boolean(bool value) override { return wrong_value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return wrong_value(fmt::format("{}", value));
  }
  bool number_float(number_float_t, const string_t& text) override { return wrong_value(text); }
  bool binary(binary_t&) override { return wrong_value("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::shape_list) {
      header_.tensors.back().shape.push_back(value);
      return true;
    }
    if (state_ != State::offset_list) return wrong_value(fmt::format("{}", value));
    if (offsets_ == 0) header_.tensors.back().begin = value;
    if (offsets_ == 1) header_.tensors.back().end = value;
    ++offsets_;
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::metadata) {
      header_.metadata.emplace_back(key_, value);
      return true;
    }
    if (state_ != State::tensor || key_ != "dtype") return wrong_value(in_quotes(value));
    header_.tensors.back().dtype = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (state_ == State::outside) {
      state_ = State::names;
    } else if (state_ == State::names) {
      state_ = key_ == metadata_name ? State::metadata : State::tensor;
      keys_.clear();
      if (state_ == State::tensor) header_.tensors.emplace_back().name = key_;
    } else {
      return wrong_value("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    key_ = value;
    if (state_ == State::names && !names_.insert(value).second)
      refuse(file_, fmt::format("the name {} must occur once", in_quotes(value)));
    if (state_ == State::metadata && !keys_.insert(value).second)
      refuse_metadata(fmt::format("must have {} once", in_quotes(value)));
    if (state_ != State::tensor) return true;
    if (value != "dtype" && value != "shape" && value != "data_offsets") {
      refuse_tensor(
          fmt::format("must have dtype, shape and data_offsets only, got {}", in_quotes(value)));
    }
    if (!keys_.insert(value).second) refuse_tensor(fmt::format("must have {} once", value));
    return true;
  }

  bool end_object() override {
    if (state_ == State::tensor) {
      for (const char* needed : {"dtype", "shape", "data_offsets"}) {
        if (keys_.count(needed) == 0) refuse_tensor(fmt::format("must have {}", needed));
      }
    }
    state_ = state_ == State::names ? State::outside : State::names;
    return true;
  }

  bool start_array(std::size_t) override {
    if (state_ != State::tensor || key_ == "dtype") return wrong_value("a list");
    state_ = key_ == "shape" ? State::shape_list : State::offset_list;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (state_ == State::offset_list && offsets_ != 2)
      refuse_tensor(fmt::format("must have 2 data_offsets, got {}", offsets_));
    state_ = State::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    refuse(file_, fmt::format("the header must be JSON, got an error at its byte {}", position));
  }

 private:
  enum class State { outside, names, metadata, tensor, shape_list, offset_list };

  [[noreturn]] void refuse_tensor(const std::string& rule) const {
    refuse(file_, fmt::format("tensor {} {}", in_quotes(header_.tensors.back().name), rule));
  }
  [[noreturn]] void refuse_metadata(const std::string& rule) const {
    refuse(file_, fmt::format("{} {}", metadata_name, rule));
  }

  // What must have stood where `got` stands.
  bool wrong_value(const std::string& got) const {
    switch (state_) {
      case State::outside: refuse(file_, fmt::format("the header must be an object, got {}", got));
      case State::names:
        if (key_ == metadata_name) refuse_metadata(fmt::format("must be an object, got {}", got));
        refuse(file_, fmt::format("tensor {} must be an object, got {}", in_quotes(key_), got));
      case State::metadata:
        refuse_metadata(fmt::format("must hold strings only, got {} for {}", got, in_quotes(key_)));
      case State::tensor:
        refuse_tensor(fmt::format("must have {} as its {}, got {}",
                                  key_ == "dtype" ? "a string" : "a list", key_, got));
      case State::shape_list:
        refuse_tensor(fmt::format("must have counts in its shape, got {}", got));
      case State::offset_list: break;
    }
    refuse_tensor(fmt::format("must have counts in its data_offsets, got {}", got));
  }

  std::string file_;
  SafetensorsHeader& header_;
  State state_ = State::outside;
  std::string key_{};
  int offsets_ = 0;
  std::unordered_set<std::string> names_{}, keys_{};
};

void check_tensor(const std::string& file, const SafetensorsEntry& tensor,
                  std::uint64_t data_bytes) {
  const auto refuse_tensor = [&](const std::string& rule) {
    refuse(file, fmt::format("tensor {} {}", in_quotes(tensor.name), rule));
  };
  const std::optional<std::uint64_t> bits = safetensors_bits(tensor.dtype);
  if (!bits) refuse_tensor(fmt::format("must have a known dtype, got {}", in_quotes(tensor.dtype)));
  const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0U) != tensor.shape.end();
  std::uint64_t needed = empty ? 0 : *bits;
  for (const std::uint64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(needed, extent, &needed)) {
      refuse_tensor(fmt::format("must have a shape whose bits can be counted, got [{}]",
                                detail::joined(tensor.shape, ", ")));
    }
  }
  if (needed % 8 != 0) refuse_tensor(fmt::format("must fill whole bytes, got {} bits", needed));
  if (tensor.begin > tensor.end)
    refuse_tensor(fmt::format("must begin before it ends, got [{}, {}]", tensor.begin, tensor.end));
  if (tensor.end > data_bytes)
    refuse_tensor(
        fmt::format("must end within the {} bytes of data, got {}", data_bytes, tensor.end));
  if (tensor.bytes() != needed / 8)
    refuse_tensor(fmt::format("must have {} bytes, got {}", needed / 8, tensor.bytes()));
}

// Side by side, from the first byte of the data to the last.
void check_places(const std::string& file, const std::vector<SafetensorsEntry>& tensors,
                  std::uint64_t data_bytes) {
  std::vector<const SafetensorsEntry*> ordered;
  ordered.reserve(tensors.size());
  for (const SafetensorsEntry& tensor : tensors) ordered.push_back(&tensor);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const SafetensorsEntry* a, const SafetensorsEntry* b) {
                     return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
                   });
  std::uint64_t end = 0;
  for (const SafetensorsEntry* tensor : ordered) {
    if (tensor->begin != end) {
      refuse(file, fmt::format("tensor {} must begin where the one before it ends, at {}, got {}",
                               in_quotes(tensor->name), end, tensor->begin));
    }
    end = tensor->end;
  }
  if (end != data_bytes)
    refuse(file, fmt::format("the data must end with the last tensor, at {}, got {} bytes more",
                             end, data_bytes - end));
}

/// What the first bytes of a file of this size say.
std::uint64_t header_length(const std::string& name, std::string_view prefix,
                            std::uint64_t file_bytes) {
  if (file_bytes < length_bytes)
    refuse(name, fmt::format("must have at least {} bytes, got {}", length_bytes, file_bytes));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(prefix[i])} << (8 * i);
  const std::uint64_t rest = file_bytes - length_bytes;
  if (length > rest)
    refuse(name,
           fmt::format("the header must fit the {} bytes after its length, got {}", rest, length));
  if (length > largest_header)
    refuse(name,
           fmt::format("the header must have at most {} bytes, got {}", largest_header, length));
  return length;
}

SafetensorsHeader header_of(const std::string& name, std::string_view text,
                            std::uint64_t file_bytes) {
  SafetensorsHeader header;
  HeaderReader reader(name, header);
  Json::sax_parse(text, &reader);
  header.data_begin = length_bytes + text.size();
  const std::uint64_t data_bytes = file_bytes - header.data_begin;
  for (const SafetensorsEntry& tensor : header.tensors) check_tensor(name, tensor, data_bytes);
  check_places(name, header.tensors, data_bytes);
  return header;
}

}  // namespace

std::optional<std::string> SafetensorsHeader::metadata_value(std::string_view key) const {
  for (const auto& [name, value] : metadata) {
    if (name == key) return value;
  }
  return std::nullopt;
}

void SafetensorsHeader::set_metadata(const std::string& key, const std::string& value) {
  for (auto& [name, present] : metadata) {
    if (name != key) continue;
    present = value;
    return;
  }
  metadata.emplace_back(key, value);
}

std::optional<std::uint64_t> safetensors_bits(std::string_view dtype) {
  struct Type {
    std::string_view name;
    std::uint64_t bits;
  };
  static constexpr std::array<Type, 22> types{{
      {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
      {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
      {"I64", 64},        {"U64", 64},
  }};
  for (const Type& type : types) {
    if (type.name == dtype) return type.bits;
  }
  return std::nullopt;
}

SafetensorsHeader read_safetensors_header(const InputFile& file) {
  const std::string path = file.path().string();
  std::array<char, length_bytes> prefix{};
  if (file.size() >= length_bytes)
    file.read(0, reinterpret_cast<std::byte*>(prefix.data()), prefix.size());
  const std::uint64_t length =
      header_length(path, std::string_view(prefix.data(), prefix.size()), file.size());
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(length_bytes, reinterpret_cast<std::byte*>(text.data()), text.size());
  return header_of(path, text, file.size());
}

SafetensorsHeader parse_safetensors(const std::string& name, std::string_view file) {
  const std::uint64_t length = header_length(name, file.substr(0, length_bytes), file.size());
  return header_of(name, file.substr(length_bytes, static_cast<std::size_t>(length)), file.size());
}

std::string encode(const SafetensorsHeader& header) {
  std::string text = "{";
  const auto name_of = [](const std::string& name) { return Json(name).dump(); };
  if (!header.metadata.empty()) {
    text += fmt::format("\"{}\":{{", metadata_name);
    for (const auto& [key, value] : header.metadata)
      text += fmt::format("{}:{},", name_of(key), name_of(value));
    text.back() = '}';
    text += ',';
  }
  for (const SafetensorsEntry& tensor : header.tensors) {
    text += fmt::format("{}:{{\"dtype\":{},\"shape\":[{}],\"data_offsets\":[{},{}]}},",
                        name_of(tensor.name), name_of(tensor.dtype),
                        detail::joined(tensor.shape, ","), tensor.begin, tensor.end);
  }
  if (text.size() > 1) text.pop_back();
  text += '}';
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
  std::string file(length_bytes, '\0');
  for (std::size_t i = 0; i < length_bytes; ++i)
    file[i] = static_cast<char>((text.size() >> (8 * i)) & 0xff);
  return file + text;
}

}  // namespace eigen_rope::tool
