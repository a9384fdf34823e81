// SPDX-License-Identifier: Apache-2.0
//
// A node of an ONNX graph as a model file has it: names, attributes and tensors whose types are
// known only when the program runs.
//
// Reads the attributes and inputs of the three operators in onnx.hpp and runs them; what the
// operator's schema does not allow (an unknown attribute, a missing required one, an input of a
// wrong element type, too many or too few inputs) throws eigen_rope::Error. Not a reader of model
// files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/onnx.hpp"

namespace eigen_rope::onnx {

/// Element types a tensor of these operators may claim to have; any other is not representable
/// here.
enum class ElementType { float32, float64, float16, bfloat16, int32, int64 };

/// An input of a node, dense and row-major; null data and an empty shape with `present` false for
/// an optional input left out.
struct Value {
  ElementType type = ElementType::float32;  ///< Of the elements.
  const void* data = nullptr;               ///< The first element; dense.
  Dims shape{};                             ///< Slowest axis first.
  bool present = true;                      ///< Whether the optional input is there.
};

using Attribute = std::variant<std::int64_t, double, Dims>;  ///< A number, or several.

/// A node as a model has it: names and values.
struct Node {
  std::string domain{};     ///< "" or "ai.onnx", or "com.microsoft"
  std::string op_type{};    ///< RotaryEmbedding or MRotaryEmbedding.
  std::int64_t opset = 23;  ///< of the domain: 23 and up for ai.onnx, 1 for com.microsoft
  std::map<std::string, Attribute> attributes{};  ///< By name.
  WideCache wide_cache = WideCache::refuse;       ///< for ai.onnx
};

/// Runs the node on its inputs, in the node's order. Y as in onnx.hpp.
EIGEN_ROPE_API void run(const Node& node, const std::vector<Value>& inputs, const Tensor& Y,
                        const Device& device = Device());

}  // namespace eigen_rope::onnx
