// SPDX-License-Identifier: Apache-2.0
//
// A node of an ONNX graph as a model file has it: names, attributes, and tensors whose types are
// known only when the program runs.
//
// run() reads the attributes and inputs of one of the three operators in onnx.hpp and computes it.
// It throws eigen_rope::Error for what the operator's schema does not allow: an unknown attribute,
// a missing required one, an input of a wrong element type, too many or too few inputs. Reading
// model files is left to the program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/onnx.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {

/// The element types that a tensor of these operators may have.
enum class ElementType {
  float32,   ///< 32-bit floating point.
  float64,   ///< 64-bit floating point.
  float16,   ///< 16-bit floating point, IEEE half.
  bfloat16,  ///< 16-bit floating point, bfloat16.
  int32,     ///< 32-bit integers.
  int64      ///< 64-bit integers.
};

/// A view of an input of a node, dense and row-major; it does not own its data.
///
/// \code{.cpp}
/// er::onnx::Value X;
/// X.data = x.data();
/// X.shape = {batch, tokens, heads * D};
/// \endcode
struct Value {
  ElementType type = ElementType::float32;  ///< The type of the elements.
  const void* data = nullptr;               ///< The first of the elements, which are dense.
  Dims shape{};                             ///< The extents, slowest axis first.
  bool present = true;                      ///< False for an optional input that is left out.
};

/// The value of an attribute: an integer, a number, or a list of integers.
using Attribute = std::variant<std::int64_t, double, Dims>;

/// A node as a model has it: the operator's name, and attributes by name.
///
/// \code{.cpp}
/// er::onnx::Node node;
/// node.op_type = "RotaryEmbedding";
/// node.attributes["num_heads"] = std::int64_t{heads};
/// \endcode
struct Node {
  std::string domain{};     ///< "" or "ai.onnx", or "com.microsoft".
  std::string op_type{};    ///< "RotaryEmbedding", or "MRotaryEmbedding" of com.microsoft.
  std::int64_t opset = 23;  ///< The domain's version: 23 and up for ai.onnx, 1 for com.microsoft.
  std::map<std::string, Attribute> attributes{};  ///< The attributes that are set, by name.
  /// The treatment of caches of too many columns, for ai.onnx.
  WideCache wide_cache = WideCache::refuse;
};

/// Computes the output Y of a node.
///
/// \code{.cpp}
/// er::onnx::Node node;
/// node.op_type = "RotaryEmbedding";
/// node.attributes["num_heads"] = std::int64_t{heads};
/// std::vector<er::onnx::Value> inputs(3);  // views of X, cos_cache and sin_cache
/// er::onnx::run(node, inputs, er::onnx::tensor(y.data(), {batch, tokens, heads * D}));
/// \endcode
///
/// \param node    the operator and its attributes
/// \param inputs  the inputs in the operator's order: X, cos_cache, sin_cache, position_ids for
///                ai.onnx; X, position_ids, cos_cache, sin_cache for com.microsoft
/// \param Y       the result, of X's type and shape
/// \param device  the threads of an Eigen device
///
/// - Errors:   eigen_rope::Error for an unknown operator or opset, for what the operator's schema
///             does not allow, and in the cases of run() for the operator itself.
/// - Aliasing: Y may be X's own data; every other overlap with an input is refused.
/// \see \ref operators "Operators"
EIGEN_ROPE_API void run(const Node& node, const std::vector<Value>& inputs, const Tensor& Y,
                        const Device& device = Device());

}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
