// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "checksum.hpp"
#include "error.hpp"
#include "json_integer.hpp"

namespace train_lm {
namespace {

using nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr std::string_view no_checksum = "0000000000000000";

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors data is little-endian");

template <class S>
constexpr const char* dtype_name() {
  return sizeof(S) == 4 ? "F32" : "F64";
}

std::size_t dtype_size(const std::string& dtype) {
  if (dtype == "F32") return 4;
  if (dtype == "F64") return 8;
  throw Error(fmt::format("a tensor has type {}; only F32 and F64 are known", dtype));
}

/// The number of elements; throws if negative or absurd.
std::size_t element_count(const std::vector<std::ptrdiff_t>& shape) {
  std::size_t count = 1;
  for (const std::ptrdiff_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count)) throw Error("a tensor has a bad shape");
  }
  return count;
}

/// Where the digits of the checksum stand in the header.
std::size_t checksum_position(std::string_view header) {
  constexpr std::string_view key = "\"checksum\":\"";
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos || at + key.size() + no_checksum.size() > header.size()) throw Error("it has no checksum");
  return at + key.size();
}

std::string checksum_of(std::string header, std::string_view data) {
  header.replace(checksum_position(header), no_checksum.size(), no_checksum);
  return fmt::format("{:016x}", fnv1a(data.data(), data.size(), fnv1a(header.data(), header.size())));
}

template <class T>
std::vector<T> integers(const json& list) {
  std::vector<T> values;
  for (const json& value : list.get_ref<const json::array_t&>()) values.push_back(integer<T>(value));
  return values;
}

StoredTensor read_tensor(const std::string& name, const json& entry, std::string_view data, std::size_t& expected_begin) {
  StoredTensor tensor;
  tensor.name = name;
  tensor.dtype = entry.at("dtype").get<std::string>();
  tensor.shape = integers<std::ptrdiff_t>(entry.at("shape"));
  const auto offsets = integers<std::size_t>(entry.at("data_offsets"));
  const std::size_t count = element_count(tensor.shape);
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
      (offsets[1] - offsets[0]) / dtype_size(tensor.dtype) != count || (offsets[1] - offsets[0]) % dtype_size(tensor.dtype) != 0) {
    throw Error(fmt::format("the place of tensor {} is wrong", name));
  }
  expected_begin += offsets[1] - offsets[0];
  tensor.bytes = std::string(data.substr(offsets[0], offsets[1] - offsets[0]));
  return tensor;
}

Safetensors read_header(std::string_view header, std::string_view data) {
  Safetensors content;
  const json parsed = json::parse(header);
  std::size_t covered = 0;
  for (const auto& [name, entry] : parsed.items()) {
    if (name == "__metadata__") {
      content.metadata = entry.get<std::map<std::string, std::string>>();
    } else {
      content.tensors.push_back(read_tensor(name, entry, data, covered));
    }
  }
  if (covered != data.size()) throw Error("the tensors do not cover the data");
  content.metadata.erase("checksum");
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
void Safetensors::get(const std::string& name, const std::vector<std::ptrdiff_t>& shape, S* data) const {
  const StoredTensor& found = tensor(name);
  if (found.dtype != dtype_name<S>() || found.shape != shape) {
    throw Error(fmt::format("tensor {} is {} [{}], expected {} [{}]", name, found.dtype, fmt::join(found.shape, ", "), dtype_name<S>(),
                            fmt::join(shape, ", ")));
  }
  if (!found.bytes.empty()) std::memcpy(data, found.bytes.data(), found.bytes.size());
}

template void Safetensors::add<float>(std::string, std::vector<std::ptrdiff_t>, const float*);
template void Safetensors::add<double>(std::string, std::vector<std::ptrdiff_t>, const double*);
template void Safetensors::get<float>(const std::string&, const std::vector<std::ptrdiff_t>&, float*) const;
template void Safetensors::get<double>(const std::string&, const std::vector<std::ptrdiff_t>&, double*) const;

std::string encode(const Safetensors& content) {
  json header;
  header["__metadata__"] = content.metadata;
  header["__metadata__"]["checksum"] = no_checksum;
  std::string data;
  for (const StoredTensor& tensor : content.tensors) {
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  std::string text = header.dump();
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
  text.replace(checksum_position(text), no_checksum.size(), checksum_of(text, data));
  std::string file(length_bytes, '\0');
  for (std::size_t i = 0; i < length_bytes; ++i) file[i] = static_cast<char>((text.size() >> (8 * i)) & 0xff);
  return file + text + data;
}

Safetensors decode(std::string_view file) {
  if (file.size() < length_bytes) throw Error("it is too short for a safetensors file");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::uint64_t{static_cast<unsigned char>(file[i])} << (8 * i);
  if (length > file.size() - length_bytes) throw Error("it is cut short, or no safetensors file");
  const std::string_view header = file.substr(length_bytes, static_cast<std::size_t>(length));
  const std::string_view data = file.substr(length_bytes + static_cast<std::size_t>(length));
  const std::string_view stored = header.substr(checksum_position(header), no_checksum.size());
  if (stored != checksum_of(std::string(header), data)) throw Error("its checksum is wrong: the file is damaged");
  try {
    return read_header(header, data);
  } catch (const json::exception&) {
    throw Error("its header cannot be read: the file is damaged");
  }
}

}  // namespace train_lm
