// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/aclnn.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "eigen_rope/operators/aclnn.hpp"

namespace eigen_rope::tool {
namespace {

constexpr std::int64_t share_not_rounded_once = 1000;

using Values = std::vector<double>;

// What is computed, by the recording's names.
struct Outputs {
  Values y{}, dx{}, dcos{}, dsin{};
};

struct Case {
  aclnn::Mode mode = aclnn::Mode::half;
  ScalarType type = ScalarType::f32;
  std::map<std::string, Array> tensors{};

  bool has(const char* name) const { return tensors.count(name) != 0; }
  const Array& array(const char* name) const { return tensors.at(name); }
  bool forward() const { return has("y"); }
  bool gradient() const { return has("dx") || table_gradients(); }
  bool table_gradients() const { return has("dcos") || has("dsin"); }
};

void require(const Entry& entry, const Case& c, const char* name, const char* needed_for) {
  if (!c.has(name))
    entry.refuse(fmt::format("tensor \"{}\" is missing, {} needs it", name, needed_for));
}

Case read_case(const GoldenIndex& index, const Entry& entry) {
  Case c;
  const std::string op = entry.text("op");
  if (op != "RotaryPositionEmbedding")
    entry.refuse(fmt::format("\"op\" must be RotaryPositionEmbedding, got \"{}\"", op));
  c.mode = static_cast<aclnn::Mode>(entry.integer("mode"));
  for (NamedTensor& tensor : read_tensors(index.folder(), entry, index.data_file())) {
    if (!scalar_type_of(tensor.array.type))
      entry.refuse(fmt::format("tensor \"{}\" must hold floats", tensor.name));
    if (!c.tensors.emplace(tensor.name, std::move(tensor.array)).second)
      entry.refuse(fmt::format("tensor \"{}\" is there twice", tensor.name));
  }
  require(entry, c, "cos", "every case");
  require(entry, c, "sin", "every case");
  if (!c.forward() && !c.gradient()) entry.refuse("there must be an output: y, dx, dcos or dsin");
  if (c.forward()) require(entry, c, "x", "y");
  if (c.gradient()) require(entry, c, "dy", "a gradient");
  if (c.table_gradients()) require(entry, c, "x", "a gradient of the tables");
  c.type = *scalar_type_of(c.array("cos").type);
  const auto same_shape = [&](const char* output, const char* input) {
    if (c.has(output) && c.array(output).shape != c.array(input).shape) {
      entry.refuse(fmt::format("tensor \"{}\" must have the shape of \"{}\"", output, input));
    }
  };
  same_shape("y", "x");
  same_shape("dx", "dy");
  same_shape("dcos", "cos");
  same_shape("dsin", "sin");
  return c;
}

aclnn::ConstTensor stored_tensor(const Case& c, const char* name) {
  const Array& array = c.array(name);
  return {*scalar_type_of(array.type), array.bytes.data(), array.shape, {}};
}

template <class Scalar>
Values widened(const std::vector<Scalar>& values) {
  return Values(values.begin(), values.end());
}

// Runs the operators on `tensor(name)`; the outputs have `Scalar`.
template <class Scalar, class TensorOf>
Outputs run(const Case& c, const TensorOf& tensor) {
  Outputs outputs;
  const auto room = [&](const char* like) {
    return std::vector<Scalar>(static_cast<std::size_t>(c.array(like).count));
  };
  if (c.forward()) {
    std::vector<Scalar> y = room("x");
    rotary_position_embedding(aclnn::tensor(y.data(), c.array("x").shape),
                              {tensor("x"), tensor("cos"), tensor("sin")}, c.mode);
    outputs.y = widened(y);
  }
  if (c.gradient()) {
    std::vector<Scalar> dx = room("dy");
    std::vector<Scalar> dcos = room("cos");
    std::vector<Scalar> dsin = room("sin");
    aclnn::GradInputs inputs{tensor("dy"), tensor("cos"), tensor("sin"), {}};
    aclnn::GradOutputs results{aclnn::tensor(dx.data(), c.array("dy").shape), {}, {}};
    if (c.table_gradients()) {
      inputs.x = tensor("x");
      results.dcos = aclnn::tensor(dcos.data(), c.array("cos").shape);
      results.dsin = aclnn::tensor(dsin.data(), c.array("sin").shape);
    }
    rotary_position_embedding_grad(results, inputs, c.mode);
    outputs.dx = widened(dx);
    outputs.dcos = widened(dcos);
    outputs.dsin = widened(dsin);
  }
  return outputs;
}

// Runs them in double on changed values.
template <class Change>
Outputs run_in_double(const Case& c, const Change& change) {
  std::map<std::string, Values> values;
  for (const char* name : {"x", "dy", "cos", "sin"}) {
    if (!c.has(name)) continue;
    Values& changed = values[name] = c.array(name).as_doubles();
    for (double& value : changed) value = change(name, value);
  }
  return run<double>(c, [&](const char* name) {
    return aclnn::tensor(static_cast<const double*>(values.at(name).data()), c.array(name).shape);
  });
}

Values larger_magnitudes(const Values& a, const Values& b) {
  Values result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = std::max(std::abs(a[i]), std::abs(b[i]));
  return result;
}

// The sums of the terms' magnitudes: with all values positive one member of each pair has them,
// with all sines negative the other. The terms of one entry of dcos or dsin have the same sign, so
// one run has them all.
Outputs magnitudes(const Case& c) {
  const Outputs plus = run_in_double(c, [](const char*, double value) { return std::abs(value); });
  const Outputs minus = run_in_double(c, [](const std::string& name, double value) {
    return name == "sin" ? -std::abs(value) : std::abs(value);
  });
  return {larger_magnitudes(plus.y, minus.y), larger_magnitudes(plus.dx, minus.dx),
          larger_magnitudes(plus.dcos, plus.dcos), larger_magnitudes(plus.dsin, plus.dsin)};
}

Check check_output(const Case& c, const char* name, const Values& mine, const Values& magnitude) {
  const Array& array = c.array(name);
  const ScalarType recorded = *scalar_type_of(array.type);
  const bool narrow = c.type == ScalarType::f16 || c.type == ScalarType::bf16;
  const Values exact = array.as_doubles();
  Values stored = exact;
  Bounds bounds{c.type, exact, Values(exact.size())};
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (narrow) stored[i] = round_to(c.type, exact[i]);
    const double relative =
        c.type == ScalarType::f64 ? 4 * half_unit(c.type) : 4 * half_unit(ScalarType::f32);
    const double rounding = recorded == ScalarType::f64 ? 0 : half_unit(recorded);
    bounds.allowed[i] =
        (relative + rounding) * magnitude[i] + (narrow ? 0 : smallest_positive(c.type));
    if (narrow)
      bounds.allowed[i] =
          std::max({bounds.allowed[i], unit_at(c.type, stored[i]), unit_at(c.type, mine[i])});
  }
  Check check = compare(mine, stored, bounds);
  check.policy = "exact";
  check.output = name;
  if (narrow) count_unequal(check, mine, stored, share_not_rounded_once);
  return check;
}

std::vector<Check> check_case(const Case& c) {
  const Outputs mine = eigen_rope::detail::with_scalar(c.type, [&](auto tag) {
    return run<typename decltype(tag)::type>(
        c, [&](const char* name) { return stored_tensor(c, name); });
  });
  const Outputs magnitude = magnitudes(c);
  std::vector<Check> checks;
  if (c.has("y")) checks.push_back(check_output(c, "y", mine.y, magnitude.y));
  if (c.has("dx")) checks.push_back(check_output(c, "dx", mine.dx, magnitude.dx));
  if (c.has("dcos")) checks.push_back(check_output(c, "dcos", mine.dcos, magnitude.dcos));
  if (c.has("dsin")) checks.push_back(check_output(c, "dsin", mine.dsin, magnitude.dsin));
  return checks;
}

std::string group_of(const Entry& entry) {
  static constexpr const char* names[] = {"half", "interleave", "quarter", "interleave-half"};
  const std::int64_t mode = entry.integer("mode");
  std::string name = fmt::format("mode {}", mode);
  if (mode >= 0 && mode < 4) name = names[mode];
  if (entry.has("mode_name")) name = entry.text("mode_name");
  return fmt::format("{} {}", name, entry.text("layout"));
}

}  // namespace

bool is_aclnn(const GoldenIndex& index) {
  const Json& first = index.cases()[0];
  return first.is_object() && !first.contains("domain") && first.contains("op") &&
         first["op"].is_string() && first.contains("mode");
}

void verify_aclnn(Report& report, const GoldenIndex& index) {
  for (std::size_t i = 0; i < index.cases().size(); ++i) {
    const Entry entry = index.entry(i);
    const Case c = read_case(index, entry);
    CaseResult result = run_case(index, entry, [&] { return check_case(c); });
    result.name = entry.text("name");
    result.group = group_of(entry);
    report.cases.push_back(std::move(result));
  }
}

}  // namespace eigen_rope::tool
