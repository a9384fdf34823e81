// SPDX-License-Identifier: Apache-2.0
//
// safetensors files for tests, written and read by the format's definition and not by the tool's
// own reader.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "support/run_tool.hpp"
#include "support/safetensors_bytes.hpp"

namespace eigen_rope::tool::test {

using eigen_rope::test::safetensors_bytes;
using Numbers = std::vector<double>;

struct TestTensor {
  std::string dtype{};
  std::vector<std::int64_t> shape{};
  std::string bytes{};
};

/// In the order in which they lie in a file.
using TestModel = std::vector<std::pair<std::string, TestTensor>>;

inline std::string file_of(const TestModel& model,
                           const std::string& metadata = "{\"format\":\"pt\"}") {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = nlohmann::ordered_json::parse(metadata);
  std::string data;
  for (const auto& [name, tensor] : model) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  return safetensors_bytes(header.dump(), data);
}

struct ReadModel {
  nlohmann::ordered_json metadata{};
  TestModel tensors{};

  const TestTensor& at(const std::string& name) const {
    for (const auto& [found, tensor] : tensors) {
      if (found == name) return tensor;
    }
    throw std::runtime_error("no tensor " + name);
  }
};

inline ReadModel read_model(const fs::path& path) {
  const std::string file = file_bytes(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  ReadModel model;
  const auto header = nlohmann::ordered_json::parse(file.substr(8, length));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      model.metadata = entry;
      continue;
    }
    const std::size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    model.tensors.push_back(
        {name, {entry["dtype"], entry["shape"], file.substr(8 + length + begin, end - begin)}});
  }
  return model;
}

inline ScalarType scalar_of(const std::string& dtype) {
  return dtype == "F64"   ? ScalarType::f64
         : dtype == "F32" ? ScalarType::f32
         : dtype == "F16" ? ScalarType::f16
                          : ScalarType::bf16;
}

inline Numbers numbers_of(const TestTensor& tensor) {
  return eigen_rope::detail::with_scalar(scalar_of(tensor.dtype), [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    Numbers numbers;
    for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(Scalar)) {
      Scalar value;
      std::memcpy(&value, tensor.bytes.data() + at, sizeof(Scalar));
      numbers.push_back(static_cast<double>(value));
    }
    return numbers;
  });
}

inline TestTensor random_tensor(const std::string& dtype, const std::vector<std::int64_t>& shape,
                                unsigned seed) {
  TestTensor tensor{dtype, shape, {}};
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  eigen_rope::detail::with_scalar(scalar_of(dtype), [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    for (std::size_t i = 0; i < count; ++i) {
      const Scalar value = static_cast<Scalar>(normal(random));
      tensor.bytes.append(reinterpret_cast<const char*>(&value), sizeof(Scalar));
    }
  });
  return tensor;
}

/// [rows] of a matrix [rows, columns] times a vector of `columns` numbers; a vector counts as a
/// matrix of one column, times 1.
inline Numbers times(const TestTensor& tensor, const Numbers& x) {
  const Numbers values = numbers_of(tensor);
  const std::size_t columns =
      tensor.shape.size() == 2 ? static_cast<std::size_t>(tensor.shape[1]) : 1;
  Numbers result(values.size() / columns);
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t i = 0; i < columns; ++i)
      result[row] += values[row * columns + i] * (columns == 1 ? 1.0 : x[i]);
  }
  return result;
}

}  // namespace eigen_rope::tool::test
