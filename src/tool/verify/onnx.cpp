// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/onnx.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "eigen_rope/operators/onnx_node.hpp"

namespace eigen_rope::tool {
namespace {

constexpr std::int64_t share_not_rounded_once = 5000;

using Values = std::vector<double>;

struct Case {
  onnx::Node node{};
  ScalarType type = ScalarType::f32;
  std::vector<NamedTensor> inputs{};
  NamedTensor output{};
  bool distance_known = false;  ///< the index says how far the recording is from the exact result
};

onnx::ElementType element_type(DataType type) {
  switch (type) {
    case DataType::f32: return onnx::ElementType::float32;
    case DataType::f64: return onnx::ElementType::float64;
    case DataType::f16: return onnx::ElementType::float16;
    case DataType::bf16: return onnx::ElementType::bfloat16;
    case DataType::i32: return onnx::ElementType::int32;
    case DataType::i64: break;
  }
  return onnx::ElementType::int64;
}

onnx::Attribute attribute(const Entry& attributes, const std::string& name) {
  const Json& value = attributes.json()[name];
  if (value.is_array()) return attributes.integers(name.c_str());
  // A number of type float may be written without a point.
  if (value.is_number_float() || name == "scale") return attributes.number(name.c_str());
  return attributes.integer(name.c_str());
}

onnx::WideCache wide_cache_of(const Entry& entry) {
  if (!entry.has("origin")) return onnx::WideCache::slice;
  const std::string origin = entry.text("origin");
  const auto names = [&](const char* version) { return origin.find(version) != std::string::npos; };
  return names("v1.18.0") || names("v1.19.0") ? onnx::WideCache::slice : onnx::WideCache::refuse;
}

onnx::Node read_node(const Entry& entry) {
  onnx::Node node;
  node.domain = entry.text("domain");
  node.op_type = entry.text("op");
  node.opset = entry.has("opset")               ? entry.integer("opset")
               : node.domain == "com.microsoft" ? 1
                                                : 23;
  node.wide_cache = wide_cache_of(entry);
  if (!entry.has("attributes")) return node;
  const Entry attributes = entry.object("attributes", "attributes");
  for (const auto& item : attributes.json().items())
    node.attributes[item.key()] = attribute(attributes, item.key());
  return node;
}

Case read_case(const GoldenIndex& index, const Entry& entry) {
  Case c;
  c.node = read_node(entry);
  c.distance_known = entry.has("max_abs_err_vs_f64");
  int outputs = 0;
  for (NamedTensor& tensor : read_tensors(index.folder(), entry, index.data_file())) {
    if (tensor.role == "input") {
      c.inputs.push_back(std::move(tensor));
    } else {
      c.output = std::move(tensor);
      ++outputs;
    }
  }
  if (outputs != 1) entry.refuse(fmt::format("there must be one output, got {}", outputs));
  if (c.inputs.empty()) entry.refuse("there must be inputs");
  const std::optional<ScalarType> type = scalar_type_of(c.inputs[0].array.type);
  if (!type) entry.refuse(fmt::format("tensor \"{}\" must hold floats", c.inputs[0].name));
  if (c.output.array.type != c.inputs[0].array.type) {
    entry.refuse(
        fmt::format("tensor \"{}\" must have the type of \"{}\"", c.output.name, c.inputs[0].name));
  }
  if (c.output.array.shape != c.inputs[0].array.shape) {
    entry.refuse(fmt::format("tensor \"{}\" must have the shape of \"{}\"", c.output.name,
                             c.inputs[0].name));
  }
  c.type = *type;
  return c;
}

template <class Scalar>
Values run_as(const Case& c, const std::vector<onnx::Value>& inputs) {
  std::vector<Scalar> y(static_cast<std::size_t>(c.output.array.count));
  onnx::run(c.node, inputs, onnx::tensor(y.data(), c.output.array.shape));
  return Values(y.begin(), y.end());
}

Values run_stored(const Case& c) {
  std::vector<onnx::Value> inputs;
  inputs.reserve(c.inputs.size());
  for (const NamedTensor& tensor : c.inputs) {
    inputs.push_back(
        {element_type(tensor.array.type), tensor.array.bytes.data(), tensor.array.shape, true});
  }
  return eigen_rope::detail::with_scalar(
      c.type, [&](auto tag) { return run_as<typename decltype(tag)::type>(c, inputs); });
}

// Runs the node in double on changed values. Of a node's float inputs the first is X, the second
// the cosines, the third the sines.
template <class Change>
Values run_in_double(const Case& c, const Change& change) {
  std::vector<Values> floats;
  floats.reserve(c.inputs.size());
  std::vector<onnx::Value> inputs;
  for (const NamedTensor& tensor : c.inputs) {
    const Array& array = tensor.array;
    onnx::Value value{element_type(array.type), array.bytes.data(), array.shape, true};
    if (scalar_type_of(array.type)) {
      const bool sines = floats.size() == 2;
      floats.push_back(array.as_doubles());
      for (double& element : floats.back()) element = change(sines, element);
      value.type = onnx::ElementType::float64;
      value.data = floats.back().data();
    }
    inputs.push_back(value);
  }
  return run_as<double>(c, inputs);
}

Values magnitudes(const Case& c) {
  const Values plus = run_in_double(c, [](bool, double value) { return std::abs(value); });
  const Values minus = run_in_double(
      c, [](bool sines, double value) { return sines ? -std::abs(value) : std::abs(value); });
  Values result(plus.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = std::max(std::abs(plus[i]), std::abs(minus[i]));
  return result;
}

Check check_case(const Case& c) {
  const Values mine = run_stored(c);
  const Values stored = c.output.array.as_doubles();
  const Values magnitude = magnitudes(c);
  const bool narrow = c.type == ScalarType::f16 || c.type == ScalarType::bf16;
  constexpr double of_numpy = 2e-7;
  Bounds bounds{c.type, run_in_double(c, [](bool, double value) { return value; }),
                Values(stored.size())};
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const double relative =
        4 * half_unit(c.type == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32);
    double& allowed = bounds.allowed[i];
    allowed = relative * magnitude[i] + smallest_positive(c.type);
    if (c.type == ScalarType::f32 && !c.distance_known) allowed = std::max(allowed, of_numpy);
    if (narrow) allowed = std::max({allowed, unit_at(c.type, stored[i]), unit_at(c.type, mine[i])});
  }
  Check check = compare(mine, stored, bounds);
  check.policy = "exact";
  check.output = c.output.name;
  if (narrow) count_unequal(check, mine, stored, share_not_rounded_once);
  return check;
}

}  // namespace

bool is_onnx(const GoldenIndex& index) {
  const Json& first = index.cases()[0];
  return first.is_object() && first.contains("domain") && first.contains("op");
}

void verify_onnx(Report& report, const GoldenIndex& index) {
  for (std::size_t i = 0; i < index.cases().size(); ++i) {
    const Entry entry = index.entry(i);
    const Case c = read_case(index, entry);
    CaseResult result = run_case(index, entry, [&] { return std::vector<Check>{check_case(c)}; });
    result.name = entry.text("name");
    result.group = fmt::format(
        "{} {}.{}", std::filesystem::weakly_canonical(index.folder()).filename().string(),
        c.node.domain, c.node.op_type);
    report.cases.push_back(std::move(result));
  }
}

}  // namespace eigen_rope::tool
