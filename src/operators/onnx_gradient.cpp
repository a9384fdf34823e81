// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/numbers/detail/rounding.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "operators/onnx_translate.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {
namespace {

/// The outputs that are wanted, each with its name.
struct NamedOutput {
  std::string_view name;
  const std::optional<Tensor>& tensor;
};

std::array<NamedOutput, 3> outputs_of(const Gradients& gradients) {
  return {{{"dX", gradients.dX},
           {"dcos_cache", gradients.dcos_cache},
           {"dsin_cache", gradients.dsin_cache}}};
}

void check_outputs(const Call& call, const Inputs& inputs, const ConstTensor& dY,
                   const Gradients& gradients) {
  if (gradients.dX) check_like("dX", *gradients.dX, "X", call.type, *call.x_shape);
  if (gradients.dcos_cache)
    check_like("dcos_cache", *gradients.dcos_cache, "cos_cache", call.type, *call.cache_shape);
  if (gradients.dsin_cache)
    check_like("dsin_cache", *gradients.dsin_cache, "sin_cache", call.type, *call.cache_shape);
  const auto outputs = outputs_of(gradients);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, tensor] = outputs[i];
    if (!tensor) continue;
    check_data(name, tensor->data, tensor->shape);
    const NamedMemory written = memory_of(name, *tensor);
    (i == 0 ? refuse_partial_overlap : refuse_overlap)(written, memory_of("dY", dY));
    refuse_overlap(written, memory_of("X", inputs.X));
    refuse_overlap(written, memory_of("cos_cache", inputs.cos_cache));
    refuse_overlap(written, memory_of("sin_cache", inputs.sin_cache));
    if (inputs.position_ids) refuse_overlap(written, memory_of(*inputs.position_ids));
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs[j].tensor)
        refuse_overlap(written, memory_of(outputs[j].name, *outputs[j].tensor));
    }
  }
}

bool wants_caches(const Gradients& gradients) {
  return gradients.dcos_cache || gradients.dsin_cache;
}

/// What is read must be there; an empty X reads nothing.
void check_read(const Call& call, const Inputs& inputs, const ConstTensor& dY,
                const Gradients& gradients) {
  if (call.shape.size() == 0) return;
  check_data("dY", dY.data, dY.shape);
  if (wants_caches(gradients)) check_data("X", inputs.X.data, inputs.X.shape);
  if (!gradients.dX) return;
  check_data("cos_cache", inputs.cos_cache.data, inputs.cos_cache.shape);
  check_data("sin_cache", inputs.sin_cache.data, inputs.sin_cache.shape);
}

/// The gradients of the table's rows, in double.
struct TableSums {
  std::vector<double> cos;
  std::vector<double> sin;
};

TableSums table_sums(const Call& call, const Inputs& inputs, const ConstTensor& dY,
                     const Device& device) {
  const auto size = static_cast<std::size_t>(call.tokens * call.pairs);
  TableSums sums{std::vector<double>(size), std::vector<double>(size)};
  if (call.shape.size() == 0) return sums;
  const any::TableMemory gradient{
      ScalarType::f64,          sums.cos.data(), sums.sin.data(), call.table_shape(), {},
      any::Order::fastest_first};
  any::table_gradient(gradient, call.read(inputs.X.data), call.read(dY.data), call.pairing, device);
  return sums;
}

/// Adds the table's rows to the cache rows they were taken from, then scales and rounds each sum
/// once.
void scatter(const Call& call, const std::vector<double>& table, const Tensor& cache) {
  std::vector<double> sums(static_cast<std::size_t>(call.cache_rows * call.cache_columns));
  call.for_each_run([&](const ColumnRun& run) {
    for (Index token = 0; token < call.tokens; ++token) {
      const Index row = call.cache_row(run.list, token);
      double* to = sums.data() + row * call.cache_columns + run.first;
      const double* from = table.data() + token * call.pairs + run.first;
      for (Index k = 0; k < run.count; ++k) to[k] += from[k];
    }
  });
  detail::with_scalar(call.type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    auto* entries = static_cast<Scalar*>(cache.data);
    for (std::size_t i = 0; i < sums.size(); ++i)
      entries[i] = detail::round_once<Scalar>(call.scale * sums[i]);
  });
}

template <class Node>
void backward_node(const Node& node, const Inputs& inputs, const ConstTensor& dY,
                   const Gradients& gradients, const Device& device) {
  const Call call = translate(node, inputs);
  check_like("dY", dY, "X", call.type, *call.x_shape);
  check_outputs(call, inputs, dY, gradients);
  check_read(call, inputs, dY, gradients);
  // dX may be dY's memory: the caches' gradients come first.
  if (wants_caches(gradients)) {
    const TableSums sums = table_sums(call, inputs, dY, device);
    if (gradients.dcos_cache) scatter(call, sums.cos, *gradients.dcos_cache);
    if (gradients.dsin_cache) scatter(call, sums.sin, *gradients.dsin_cache);
  }
  if (gradients.dX && call.shape.size() != 0) {
    const CallTable table(call, inputs.cos_cache, inputs.sin_cache);
    any::rotate_to(call.written(gradients.dX->data), call.read(dY.data), table.view(), call.pairing,
                   Direction::backward, device);
  }
}

}  // namespace

void backward(const RotaryEmbedding& node, const Inputs& inputs, const ConstTensor& dY,
              const Gradients& gradients, const Device& device) {
  backward_node(node, inputs, dY, gradients, device);
}

void backward(const ContribRotaryEmbedding& node, const Inputs& inputs, const ConstTensor& dY,
              const Gradients& gradients, const Device& device) {
  backward_node(node, inputs, dY, gradients, device);
}

void backward(const MRotaryEmbedding& node, const Inputs& inputs, const ConstTensor& dY,
              const Gradients& gradients, const Device& device) {
  backward_node(node, inputs, dY, gradients, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
