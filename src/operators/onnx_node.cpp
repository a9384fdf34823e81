// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/operators/onnx_node.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {
namespace {

using detail::fail;
using Names = std::vector<std::string_view>;

const char* name_of(ElementType type) {
  switch (type) {
    case ElementType::float32: return "float32";
    case ElementType::float64: return "float64";
    case ElementType::float16: return "float16";
    case ElementType::bfloat16: return "bfloat16";
    case ElementType::int32: return "int32";
    case ElementType::int64: break;
  }
  return "int64";
}

struct KindName {
  const char* operator()(std::int64_t) const { return "an integer"; }
  const char* operator()(double) const { return "a float"; }
  const char* operator()(const Dims&) const { return "a list of integers"; }
};

/// Which attributes an operator has and in which order its inputs come.
struct Schema {
  Names attributes;
  Names inputs;
};

const Schema& standard_schema() {
  static const Schema schema{{"interleaved", "num_heads", "rotary_embedding_dim"},
                             {"X", "cos_cache", "sin_cache", "position_ids"}};
  return schema;
}

const Schema& contrib_schema() {
  static const Schema schema{
      {"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"},
      {"X", "position_ids", "cos_cache", "sin_cache"}};
  return schema;
}

const Schema& multi_axis_schema() {
  static const Schema schema{{"interleaved", "mrope_layout", "mrope_section", "num_heads",
                              "rotary_embedding_dim", "scale"},
                             {"X", "position_ids", "cos_cache", "sin_cache"}};
  return schema;
}

void check_attribute_names(const Node& node, const Schema& schema) {
  for (const auto& [name, value] : node.attributes) {
    if (std::find(schema.attributes.begin(), schema.attributes.end(), name) ==
        schema.attributes.end()) {
      fail(fmt::format("attributes of {} must be among {}", node.op_type,
                       detail::joined(schema.attributes, ", ")),
           name);
    }
  }
}

/// The value of an attribute of one kind; the fallback where it is not set.
template <class Kind>
Kind attribute(const Node& node, const char* name, const Kind& fallback) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return fallback;
  if (const Kind* value = std::get_if<Kind>(&found->second)) return *value;
  fail(fmt::format("attribute {} must be {}", name, KindName()(fallback)),
       std::visit(KindName(), found->second));
}

template <class Operator>
void read_common_attributes(const Node& node, Operator& to) {
  to.interleaved = attribute(node, "interleaved", to.interleaved);
  to.num_heads = attribute(node, "num_heads", to.num_heads);
  to.rotary_embedding_dim = attribute(node, "rotary_embedding_dim", to.rotary_embedding_dim);
}

ScalarType scalar_type_of(std::string_view name, ElementType type) {
  switch (type) {
    case ElementType::float32: return ScalarType::f32;
    case ElementType::float64: return ScalarType::f64;
    case ElementType::float16: return ScalarType::f16;
    case ElementType::bfloat16: return ScalarType::bf16;
    case ElementType::int32:
    case ElementType::int64: break;
  }
  fail(fmt::format("{} must be float32, float16, bfloat16 or float64", name), name_of(type));
}

ConstTensor floating_tensor(std::string_view name, const Value& value) {
  return {scalar_type_of(name, value.type), value.data, value.shape};
}

PositionIds position_ids(const Value& value) {
  if (value.type != ElementType::int64) fail("position_ids must be int64", name_of(value.type));
  return {static_cast<const std::int64_t*>(value.data), value.shape};
}

Inputs read_inputs(const Node& node, const Schema& schema, const std::vector<Value>& values) {
  if (values.size() > schema.inputs.size()) {
    fail(fmt::format("{} must have at most {} inputs", node.op_type, schema.inputs.size()),
         static_cast<std::int64_t>(values.size()));
  }
  Inputs inputs;
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const std::string_view name = schema.inputs[i];
    const bool optional = &schema == &standard_schema() && name == "position_ids";
    if (i >= values.size() || !values[i].present) {
      if (!optional)
        fail(fmt::format("{} is a required input of {}, got none", name, node.op_type));
      continue;
    }
    if (name == "X") inputs.X = floating_tensor(name, values[i]);
    if (name == "cos_cache") inputs.cos_cache = floating_tensor(name, values[i]);
    if (name == "sin_cache") inputs.sin_cache = floating_tensor(name, values[i]);
    if (name == "position_ids") inputs.position_ids = position_ids(values[i]);
  }
  return inputs;
}

void run_standard(const Node& node, const std::vector<Value>& values, const Tensor& Y,
                  const Device& device) {
  if (node.opset < 23) fail("opset of ai.onnx must be at least 23", node.opset);
  check_attribute_names(node, standard_schema());
  RotaryEmbedding to;
  read_common_attributes(node, to);
  to.wide_cache = node.wide_cache;
  run(to, read_inputs(node, standard_schema(), values), Y, device);
}

void run_contrib(const Node& node, const std::vector<Value>& values, const Tensor& Y,
                 const Device& device) {
  check_attribute_names(node, contrib_schema());
  ContribRotaryEmbedding to;
  read_common_attributes(node, to);
  to.scale = attribute(node, "scale", to.scale);
  to.is_packed_batching = attribute(node, "is_packed_batching", to.is_packed_batching);
  run(to, read_inputs(node, contrib_schema(), values), Y, device);
}

void run_multi_axis(const Node& node, const std::vector<Value>& values, const Tensor& Y,
                    const Device& device) {
  check_attribute_names(node, multi_axis_schema());
  if (node.attributes.count("mrope_section") == 0)
    fail("attribute mrope_section is required, got none");
  MRotaryEmbedding to;
  read_common_attributes(node, to);
  to.scale = attribute(node, "scale", to.scale);
  to.mrope_section = attribute(node, "mrope_section", to.mrope_section);
  to.mrope_layout = attribute(node, "mrope_layout", to.mrope_layout);
  run(to, read_inputs(node, multi_axis_schema(), values), Y, device);
}

}  // namespace

void run(const Node& node, const std::vector<Value>& inputs, const Tensor& Y,
         const Device& device) {
  const bool is_standard = node.domain.empty() || node.domain == "ai.onnx";
  const bool is_contrib = node.domain == "com.microsoft";
  if (is_standard && node.op_type == "RotaryEmbedding")
    return run_standard(node, inputs, Y, device);
  if (is_contrib && node.opset != 1) fail("opset of com.microsoft must be 1", node.opset);
  if (is_contrib && node.op_type == "RotaryEmbedding") return run_contrib(node, inputs, Y, device);
  if (is_contrib && node.op_type == "MRotaryEmbedding")
    return run_multi_axis(node, inputs, Y, device);
  fail(
      "the operator must be RotaryEmbedding of ai.onnx, or RotaryEmbedding or MRotaryEmbedding of "
      "com.microsoft",
      fmt::format("{} of {}", node.op_type, is_standard ? "ai.onnx" : node.domain));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
