// SPDX-License-Identifier: Apache-2.0
//
// Writes GGUF files byte by byte, wrong ones too, from the format's description. Not a copy of the
// reader: it knows no meanings.
//
//   GgufWriter w;
//   w.text("general.architecture", "llama").uint32("llama.block_count",
//       2).tensor("rope_freqs.weight", {2}, 0, w.floats({1, 8}));
//   w.save(path);
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_bytes.hpp"

namespace eigen_rope::test {

class GgufWriter {
 public:
  enum class Order { little, big };

  explicit GgufWriter(std::uint32_t version = 3, Order order = Order::little)
      : order_(order), version_(version) {}

  std::string number(std::uint64_t value, int bytes) const {
    std::string result;
    for (int i = 0; i < bytes; ++i) {
      const int from_low_end = order_ == Order::little ? i : bytes - 1 - i;
      result.push_back(static_cast<char>((value >> (8 * from_low_end)) & 0xFFU));
    }
    return result;
  }
  std::string string(std::string_view text) const {
    return number(text.size(), 8) + std::string(text);
  }
  std::string real(float value) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return number(bits, 4);
  }
  std::string real(double value) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return number(bits, 8);
  }
  std::string floats(const std::vector<float>& values) const {
    std::string result;
    for (const float value : values) result += real(value);
    return result;
  }
  std::string halves(const std::vector<std::uint16_t>& values) const {
    std::string result;
    for (const std::uint16_t value : values) result += number(value, 2);
    return result;
  }
  /// Element type, count and elements, as they follow the type of an array.
  std::string array(std::uint32_t element, std::uint64_t count, std::string_view elements) const {
    return number(element, 4) + number(count, 8) + std::string(elements);
  }

  /// A key with any type and any bytes.
  GgufWriter& key(std::string_view name, std::uint32_t type, std::string_view value) {
    keys_ += string(name) + number(type, 4) + std::string(value);
    ++key_count;
    return *this;
  }
  GgufWriter& text(std::string_view name, std::string_view value) {
    return key(name, 8, string(value));
  }
  GgufWriter& uint32(std::string_view name, std::uint32_t value) {
    return key(name, 4, number(value, 4));
  }
  GgufWriter& float32(std::string_view name, float value) { return key(name, 6, real(value)); }
  GgufWriter& boolean(std::string_view name, bool value) {
    return key(name, 7, number(value ? 1 : 0, 1));
  }
  GgufWriter& int32s(std::string_view name, const std::vector<std::int32_t>& values) {
    std::string elements;
    for (const std::int32_t value : values)
      elements += number(static_cast<std::uint32_t>(value), 4);
    return key(name, 9, array(5, values.size(), elements));
  }
  GgufWriter& booleans(std::string_view name, const std::vector<int>& values) {
    std::string elements;
    for (const int value : values) elements += number(static_cast<std::uint64_t>(value), 1);
    return key(name, 9, array(7, values.size(), elements));
  }

  /// A tensor behind the others; its offset is where its data will be, `shift` bytes on.
  GgufWriter& tensor(std::string_view name, const std::vector<std::uint64_t>& extents,
                     std::uint32_t type, std::string_view data, std::uint64_t shift = 0) {
    tensors_ += string(name) + number(extents.size(), 4);
    for (const std::uint64_t extent : extents) tensors_ += number(extent, 8);
    tensors_ += number(type, 4) + number(data_.size() + shift, 8);
    data_ += data;
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    ++tensor_count;
    return *this;
  }

  std::string header() const {
    return "GGUF" + number(version_, 4) + number(tensor_count, 8) + number(key_count, 8) + keys_ +
           tensors_;
  }
  std::string bytes() const {
    std::string all = header();
    all.resize((all.size() + alignment - 1) / alignment * alignment);
    return all + data_;
  }
  void save(const std::filesystem::path& path) const { write_bytes(path, bytes()); }

  // What the header claims; set them to lie.
  std::uint64_t key_count = 0;
  std::uint64_t tensor_count = 0;
  std::uint64_t alignment = 32;

 private:
  Order order_;
  std::uint32_t version_;
  std::string keys_;
  std::string tensors_;
  std::string data_;
};

}  // namespace eigen_rope::test
