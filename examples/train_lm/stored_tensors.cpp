// SPDX-License-Identifier: Apache-2.0
#include "stored_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "checksum.hpp"
#include "error.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/safetensors.hpp"

namespace train_lm {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::string_view no_checksum = "0000000000000000";

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors data is little-endian");

template <class S>
constexpr const char* dtype_name() {
  return sizeof(S) == 4 ? "F32" : "F64";
}

/// The number of elements; throws if negative or absurd.
std::size_t element_count(const std::vector<std::ptrdiff_t>& shape) {
  std::size_t count = 1;
  for (const std::ptrdiff_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count))
      throw Error("a tensor has a bad shape");
  }
  return count;
}

/// Where the digits of the checksum stand in the header.
std::size_t checksum_position(std::string_view header) {
  constexpr std::string_view key = "\"checksum\":\"";
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos || at + key.size() + no_checksum.size() > header.size())
    throw Error("it has no checksum");
  return at + key.size();
}

std::string checksum_of(std::string header, std::string_view data) {
  header.replace(checksum_position(header), no_checksum.size(), no_checksum);
  return fmt::format("{:016x}",
                     fnv1a(data.data(), data.size(), fnv1a(header.data(), header.size())));
}

Safetensors read_tensors(std::string_view file) {
  const eigen_rope::tool::SafetensorsHeader header =
      eigen_rope::tool::parse_safetensors("its safetensors header", file);
  Safetensors content;
  for (const auto& [key, value] : header.metadata) {
    if (key != "checksum") content.metadata.emplace(key, value);
  }
  const std::string_view data = file.substr(static_cast<std::size_t>(header.data_begin));
  for (const eigen_rope::tool::SafetensorsEntry& entry : header.tensors) {
    StoredTensor tensor{
        entry.name, entry.dtype, {}, std::string(data.substr(entry.begin, entry.bytes()))};
    if (tensor.dtype != "F32" && tensor.dtype != "F64") {
      throw Error(fmt::format("a tensor has type {}; only F32 and F64 are known", tensor.dtype));
    }
    for (const std::uint64_t extent : entry.shape)
      tensor.shape.push_back(static_cast<std::ptrdiff_t>(extent));
    content.tensors.push_back(std::move(tensor));
  }
  return content;
}

}  // namespace

template <class S>
void Safetensors::add(std::string name, std::vector<std::ptrdiff_t> shape, const S* data) {
  StoredTensor tensor{std::move(name), dtype_name<S>(), std::move(shape), {}};
  tensor.bytes.resize(element_count(tensor.shape) * sizeof(S));
  if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
  tensors.push_back(std::move(tensor));
}

const StoredTensor& Safetensors::tensor(const std::string& name) const {
  for (const StoredTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw Error(fmt::format("it has no tensor {}", name));
}

template <class S>
void Safetensors::get(const std::string& name, const std::vector<std::ptrdiff_t>& shape,
                      S* data) const {
  const StoredTensor& found = tensor(name);
  if (found.dtype != dtype_name<S>() || found.shape != shape) {
    throw Error(fmt::format("tensor {} is {} [{}], expected {} [{}]", name, found.dtype,
                            fmt::join(found.shape, ", "), dtype_name<S>(), fmt::join(shape, ", ")));
  }
  if (!found.bytes.empty()) std::memcpy(data, found.bytes.data(), found.bytes.size());
}

template void Safetensors::add<float>(std::string, std::vector<std::ptrdiff_t>, const float*);
template void Safetensors::add<double>(std::string, std::vector<std::ptrdiff_t>, const double*);
template void Safetensors::get<float>(const std::string&, const std::vector<std::ptrdiff_t>&,
                                      float*) const;
template void Safetensors::get<double>(const std::string&, const std::vector<std::ptrdiff_t>&,
                                       double*) const;

std::string encode(const Safetensors& content) {
  eigen_rope::tool::SafetensorsHeader header;
  header.metadata.assign(content.metadata.begin(), content.metadata.end());
  header.set_metadata("checksum", std::string(no_checksum));
  std::string data;
  for (const StoredTensor& tensor : content.tensors) {
    const std::uint64_t begin = data.size();
    data += tensor.bytes;
    header.tensors.push_back({tensor.name,
                              tensor.dtype,
                              {tensor.shape.begin(), tensor.shape.end()},
                              begin,
                              data.size()});
  }
  const std::string head = encode(header);
  std::string text = head.substr(length_bytes);
  text.replace(checksum_position(text), no_checksum.size(), checksum_of(text, data));
  return head.substr(0, length_bytes) + text + data;
}

Safetensors decode(std::string_view file) {
  if (file.size() < length_bytes) throw Error("it is too short for a safetensors file");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(file[i])} << (8 * i);
  if (length > file.size() - length_bytes) throw Error("it is cut short, or no safetensors file");
  const std::string_view header = file.substr(length_bytes, static_cast<std::size_t>(length));
  const std::string_view data = file.substr(length_bytes + static_cast<std::size_t>(length));
  const std::string_view stored = header.substr(checksum_position(header), no_checksum.size());
  if (stored != checksum_of(std::string(header), data))
    throw Error("its checksum is wrong: the file is damaged");
  try {
    return read_tensors(file);
  } catch (const eigen_rope::tool::FileError& error) {
    constexpr std::string_view mark = "[rope] ";
    throw Error(std::string(error.what()).substr(mark.size()));
  }
}

}  // namespace train_lm
