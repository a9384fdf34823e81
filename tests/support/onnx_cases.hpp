// SPDX-License-Identifier: Apache-2.0
//
// Calls of the ONNX operators as the golden files record them, and the operator's formula as plain
// loops in double.
//
//   split-half pairs (k, k + R/2), neighbours (2k, 2k+1):   y_a = c x_a - s x_b
//                       y_b = c x_b + s x_a   the rest as it is
//
// The reader keeps tensors as bytes with a name and a type, as a model file does. A missing, short
// or malformed file is an exception, never an empty list. Uses nothing of the library but the types
// of a node.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "eigen_rope/operators/onnx_node.hpp"
#include "support/file_bytes.hpp"

namespace eigen_rope::test {

struct OnnxTensor {
  std::string name;
  std::string dtype;
  onnx::Dims shape;
  std::vector<unsigned char> bytes;

  std::size_t count() const {
    std::size_t product = 1;
    for (const std::int64_t extent : shape) product *= static_cast<std::size_t>(extent);
    return product;
  }
  template <class Element>
  Element element(std::size_t i) const {
    Element value;
    std::memcpy(&value, bytes.data() + i * sizeof(Element), sizeof(Element));
    return value;
  }
  double operator[](std::size_t i) const {
    if (dtype == "float32") return static_cast<double>(element<float>(i));
    if (dtype == "float64") return element<double>(i);
    if (dtype == "float16") return static_cast<double>(element<Eigen::half>(i));
    if (dtype == "bfloat16") return static_cast<double>(element<Eigen::bfloat16>(i));
    throw std::runtime_error("not a floating type: " + dtype);
  }
  template <class Element>
  void set(std::size_t i, Element value) {
    std::memcpy(bytes.data() + i * sizeof(Element), &value, sizeof(Element));
  }
};

inline std::size_t onnx_element_size(const std::string& dtype) {
  if (dtype == "float64" || dtype == "int64") return 8;
  if (dtype == "float32" || dtype == "int32") return 4;
  if (dtype == "float16" || dtype == "bfloat16") return 2;
  throw std::runtime_error("unknown dtype " + dtype);
}

inline onnx::ElementType onnx_element_type(const std::string& dtype) {
  if (dtype == "float32") return onnx::ElementType::float32;
  if (dtype == "float64") return onnx::ElementType::float64;
  if (dtype == "float16") return onnx::ElementType::float16;
  if (dtype == "bfloat16") return onnx::ElementType::bfloat16;
  if (dtype == "int32") return onnx::ElementType::int32;
  if (dtype == "int64") return onnx::ElementType::int64;
  throw std::runtime_error("unknown dtype " + dtype);
}

inline ScalarType onnx_scalar_type(const std::string& dtype) {
  if (dtype == "float32") return ScalarType::f32;
  if (dtype == "float64") return ScalarType::f64;
  if (dtype == "float16") return ScalarType::f16;
  if (dtype == "bfloat16") return ScalarType::bf16;
  throw std::runtime_error("not a floating type: " + dtype);
}

struct OnnxCase {
  std::string name;
  onnx::Node node;
  std::vector<OnnxTensor> inputs;  ///< in the node's order
  OnnxTensor output;               ///< the recorded one; without bytes where none is

  std::vector<onnx::Value> values() const {
    std::vector<onnx::Value> list;
    for (const OnnxTensor& t : inputs)
      list.push_back({onnx_element_type(t.dtype), t.bytes.data(), t.shape, true});
    return list;
  }
  /// "X", "cos_cache", "sin_cache" or "position_ids"; null where the node has no such input.
  const OnnxTensor* input(const std::string& role) const {
    const bool contrib = node.domain == "com.microsoft";
    const std::size_t place = role == "X" ? 0
                              : role == "position_ids"
                                  ? (contrib ? 1 : 3)
                                  : (role == "cos_cache" ? 1 : 2) + (contrib ? 1 : 0);
    return place < inputs.size() ? &inputs[place] : nullptr;
  }
  std::int64_t attribute(const std::string& attribute_name) const {
    const auto found = node.attributes.find(attribute_name);
    return found == node.attributes.end() ? 0 : std::get<std::int64_t>(found->second);
  }
};

/// An element of Y by the definition: its value and the sum of its terms' magnitudes; no terms for
/// an element that is copied.
struct ExactElement {
  double value;
  double terms;
  bool copied;
};

/// What the shapes and attributes of a call mean.
struct OnnxMeaning {
  const OnnxCase& call;
  const OnnxTensor& x = *call.input("X");
  const OnnxTensor& cos = *call.input("cos_cache");
  const OnnxTensor& sin = *call.input("sin_cache");
  const OnnxTensor* ids = call.input("position_ids");
  std::int64_t columns = cos.shape.back();
  /// [batch, heads, sequence, head] rather than [batch, sequence, heads * head].
  bool rank_4 = x.shape.size() == 4;
  std::int64_t batch = x.shape[0];
  std::int64_t sequence = rank_4 ? x.shape[2] : x.shape[1];
  std::int64_t heads = heads_of();
  std::int64_t head = rank_4 ? x.shape[3] : x.shape[2] / heads;
  std::int64_t rotary = rotary_of();
  bool neighbours = call.attribute("interleaved") == 1;
  double scale = scale_of();

  /// The list of position ids that column k takes its position from.
  std::int64_t list_of(std::int64_t k) const {
    const auto section_at = call.node.attributes.find("mrope_section");
    if (section_at == call.node.attributes.end()) return 0;
    const auto& section = std::get<onnx::Dims>(section_at->second);
    if (call.attribute("mrope_layout") == 1) {
      if (k % 3 == 1 && k < 3 * section[1]) return 1;
      if (k % 3 == 2 && k < 3 * section[2]) return 2;
      return 0;
    }
    if (k < section[0]) return 0;
    return k < section[0] + section[1] ? 1 : 2;
  }
  /// The entry of the caches that turns pair k of a token.
  std::size_t entry_of(std::int64_t k, std::int64_t b, std::int64_t s) const {
    return static_cast<std::size_t>(row_of(k, b, s) * columns + k);
  }

 private:
  std::int64_t heads_of() const {
    if (rank_4) return x.shape[1];
    const std::int64_t set = call.attribute("num_heads");
    return set != 0 ? set : x.shape[2] / (2 * columns);
  }
  std::int64_t rotary_of() const {
    const std::int64_t set = call.attribute("rotary_embedding_dim");
    return set != 0 ? set : head;
  }
  double scale_of() const {
    const auto scale_at = call.node.attributes.find("scale");
    return scale_at == call.node.attributes.end() ? 1.0 : std::get<double>(scale_at->second);
  }
  std::int64_t row_of(std::int64_t k, std::int64_t b, std::int64_t s) const {
    if (ids == nullptr) return b * sequence + s;
    if (ids->shape.size() < 2) return ids->element<std::int64_t>(0) + s;
    return ids->element<std::int64_t>(
        static_cast<std::size_t>((list_of(k) * batch + b) * sequence + s));
  }
};

/// The whole output by plain loops.
inline std::vector<ExactElement> onnx_formula(const OnnxCase& call) {
  const OnnxMeaning is{call};
  const OnnxTensor& x = is.x;
  std::vector<ExactElement> y(x.count());
  for (std::int64_t b = 0; b < is.batch; ++b) {
    for (std::int64_t n = 0; n < is.heads; ++n) {
      for (std::int64_t s = 0; s < is.sequence; ++s) {
        const std::int64_t base = is.rank_4 ? ((b * is.heads + n) * is.sequence + s) * is.head
                                            : ((b * is.sequence + s) * is.heads + n) * is.head;
        for (std::int64_t d = is.rotary; d < is.head; ++d) {
          const auto i = static_cast<std::size_t>(base + d);
          y[i] = {x[i], 0.0, true};
        }
        for (std::int64_t k = 0; k < is.rotary / 2; ++k) {
          const std::size_t entry = is.entry_of(k, b, s);
          const double c = is.scale * is.cos[entry];
          const double t = is.scale * is.sin[entry];
          const auto a_at = static_cast<std::size_t>(base + (is.neighbours ? 2 * k : k));
          const auto b_at =
              static_cast<std::size_t>(base + (is.neighbours ? 2 * k + 1 : k + is.rotary / 2));
          const double a = x[a_at];
          const double z = x[b_at];
          y[a_at] = {c * a - t * z, std::abs(c * a) + std::abs(t * z), false};
          y[b_at] = {c * z + t * a, std::abs(c * z) + std::abs(t * a), false};
        }
      }
    }
  }
  return y;
}

namespace onnx_reader {

inline onnx::Attribute attribute_of(const nlohmann::json& value) {
  if (value.is_array()) return value.get<onnx::Dims>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
}

inline OnnxCase head_of(const nlohmann::json& entry) {
  OnnxCase c;
  c.name = entry.at("name");
  c.node.domain = entry.at("domain");
  c.node.op_type = entry.at("op");
  c.node.opset = entry.at("opset");
  for (const auto& [name, value] : entry.at("attributes").items())
    c.node.attributes[name] = attribute_of(value);
  return c;
}

}  // namespace onnx_reader

/// The cases of a folder with recorded outputs: cases.json and data.bin.
inline std::vector<OnnxCase> read_onnx_folder(const std::string& folder) {
  const std::string data = file_bytes(folder + "/data.bin");
  std::vector<OnnxCase> cases;
  const nlohmann::json index = nlohmann::json::parse(file_bytes(folder + "/cases.json"));
  for (const nlohmann::json& entry : index.at("cases")) {
    OnnxCase c = onnx_reader::head_of(entry);
    for (const nlohmann::json& place : entry.at("tensors")) {
      OnnxTensor tensor{
          place.at("name"), place.at("dtype"), place.at("shape").get<onnx::Dims>(), {}};
      const auto offset = place.at("offset").get<std::size_t>();
      const auto size = place.at("bytes").get<std::size_t>();
      if (offset > data.size() || size > data.size() - offset)
        throw std::runtime_error(c.name + ": an array ends early");
      if (size != tensor.count() * onnx_element_size(tensor.dtype))
        throw std::runtime_error(c.name + ": an array does not fit its shape");
      tensor.bytes.assign(data.begin() + static_cast<std::ptrdiff_t>(offset),
                          data.begin() + static_cast<std::ptrdiff_t>(offset + size));
      (place.at("role") == "output" ? c.output : c.inputs.emplace_back()) = std::move(tensor);
    }
    if (c.output.bytes.empty() || c.inputs.size() < 3)
      throw std::runtime_error(c.name + ": a tensor is missing");
    cases.push_back(std::move(c));
  }
  if (cases.empty()) throw std::runtime_error("no cases in " + folder);
  return cases;
}

/// Numbers in [-1, 1], the same for the same seed.
inline void fill_onnx_tensor(OnnxTensor& tensor, unsigned seed) {
  std::mt19937 generator(seed);
  tensor.bytes.assign(tensor.count() * onnx_element_size(tensor.dtype), 0);
  for (std::size_t i = 0; i < tensor.count(); ++i) {
    const double number = static_cast<double>(generator() >> 8) / (1 << 23) - 1.0;
    if (tensor.dtype == "float64") tensor.set(i, number);
    if (tensor.dtype == "float32") tensor.set(i, static_cast<float>(number));
    if (tensor.dtype == "float16")
      tensor.set(i, static_cast<Eigen::half>(static_cast<float>(number)));
    if (tensor.dtype == "bfloat16")
      tensor.set(i, static_cast<Eigen::bfloat16>(static_cast<float>(number)));
  }
}

}  // namespace eigen_rope::test
