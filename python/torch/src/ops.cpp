// SPDX-License-Identifier: Apache-2.0
//
// The operators of PyTorch: their schemas, and what they do with tensors on the CPU.
//
//   rotate, rotate_     a rotation, its transpose (backward) or its inverse
//   table_gradient      the gradient of cos and sin, summed where they broadcast
//   table               cos and sin of rates and positions, exact and rounded once
//
// Derivatives, other devices and shapes without data are in eigen_rope_torch/_ops.py. With
// outside = "zero", elements that are not rotated become 0: a rotation's derivative in its table is
// such a rotation, so that these four are closed under differentiation.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "outside.hpp"
#include "rates.hpp"
#include "reused_memory.hpp"
#include "tensors.hpp"

namespace eigen_rope_torch {
namespace {

using eigen_rope_packages::Outside;
using torch::headeronly::ScalarType;

/// The pairing over an axis that is counted from the last, which is -1.
er::Pairing pairing_of(const Tensor& x, const std::string& name, std::int64_t rotary_dims,
                       std::int64_t offset, std::int64_t axis) {
  er::Pairing pairing = er::any::pairing_of(name).with_offset(offset);
  if (rotary_dims >= 0) pairing = pairing.with_rotary_dims(rotary_dims);
  const std::int64_t rank = x.dim();
  if (axis < -rank || axis >= 0) {
    throw er::Error("[rope] axis must be in [" + std::to_string(-rank) + ", -1], got " +
                    std::to_string(axis));
  }
  return axis == -1 ? pairing : pairing.along(static_cast<int>(rank + axis));
}

/// A table of two tensors, and the tensors that it is a view of.
struct Entries {
  Tensor cos;
  Tensor sin;
  er::any::Table table;
};

Entries entries_of(const Tensor& cos, const Tensor& sin, std::int64_t axis) {
  Tensor c = with_features(cos, axis);
  Tensor s = with_features(sin, axis);
  if (!same_strides(c, s) && cos.dim() == sin.dim()) {
    c = torch::stable::contiguous(c);
    s = torch::stable::contiguous(s);
  }
  er::any::Table table = er::any::table_of(read(c, "cos"), read(s, "sin"));
  if (axis != -1) table.feature_axis = static_cast<int>(cos.dim() + axis);
  return {std::move(c), std::move(s), std::move(table)};
}

Tensor rotate(const Tensor& x, const Tensor& cos, const Tensor& sin, const std::string& pairing,
              const std::string& direction, std::int64_t rotary_dims, std::int64_t offset,
              std::int64_t axis, const std::string& outside) {
  const er::Pairing pairs = pairing_of(x, pairing, rotary_dims, offset, axis);
  const Outside rest = eigen_rope_packages::outside_of(outside);
  const Tensor input = with_features(x, axis);
  const er::any::ConstTensor from = read(input, "x");
  const Entries entries = entries_of(cos, sin, axis);
  const Tensor y = new_like(x);
  const er::any::Tensor to = write(y, "y");
  const Threads threads;
  er::any::rotate_to(to, from, entries.table, pairs, er::any::direction_of(direction),
                     threads.device());
  if (rest == Outside::zero) eigen_rope_packages::clear_outside(to, pairs);
  return y;
}

void rotate_inplace(const Tensor& x, const Tensor& cos, const Tensor& sin,
                    const std::string& pairing, const std::string& direction,
                    std::int64_t rotary_dims, std::int64_t offset, std::int64_t axis) {
  const Threads threads;
  const Entries entries = entries_of(cos, sin, axis);
  er::any::rotate_inplace(write(x, "x"), entries.table,
                          pairing_of(x, pairing, rotary_dims, offset, axis),
                          er::any::direction_of(direction), threads.device());
}

/// The gradient has the type of `like`: x's, or float where x has 16 bits. In the second case sums
/// are kept in double and rounded to float once.
std::tuple<Tensor, Tensor> table_gradient(const Tensor& x, const Tensor& g, const Tensor& like,
                                          const std::string& pairing, std::int64_t rotary_dims,
                                          std::int64_t offset, std::int64_t axis) {
  const er::Pairing pairs = pairing_of(x, pairing, rotary_dims, offset, axis);
  const Tensor input = with_features(x, axis);
  const Tensor of_output = with_features(g, axis);
  const er::any::ConstTensor from = read(input, "x");
  const er::any::ConstTensor of_y = read(of_output, "g");
  const er::ScalarType entry = scalar_type(like, "cos");
  const bool widened = entry == er::ScalarType::f32 && er::size_of(from.type) == 2;
  const er::any::ConstTensor places = read(like, "cos");
  const ScalarType sums = widened ? ScalarType::Double : like.scalar_type();
  const Tensor dcos = new_dense(places.shape, sums);
  const Tensor dsin = new_dense(places.shape, sums);
  er::any::TableMemory memory{scalar_type(dcos, "cos"), dcos.data_ptr(), dsin.data_ptr(),
                              places.shape};
  if (axis != -1) memory.feature_axis = static_cast<int>(like.dim() + axis);
  const Threads threads;
  er::any::table_gradient(memory, from, of_y, pairs, threads.device());
  if (!widened) return {dcos, dsin};
  const Tensor cos32 = new_dense(places.shape, ScalarType::Float);
  const Tensor sin32 = new_dense(places.shape, ScalarType::Float);
  const auto round = [](const Tensor& to, const Tensor& of) {
    const auto* const begin = static_cast<const double*>(of.data_ptr());
    std::transform(begin, begin + of.numel(), static_cast<float*>(to.data_ptr()),
                   [](double sum) { return static_cast<float>(sum); });
  };
  round(cos32, dcos);
  round(sin32, dsin);
  return {cos32, sin32};
}

/// Numbers of a dense tensor of doubles, which _ops.py makes of what it is given.
std::vector<double> doubles(const Tensor& tensor, const char* name) {
  if (tensor.scalar_type() != ScalarType::Double || !tensor.is_contiguous()) {
    throw er::Error(std::string("[rope] ") + name + " must be dense and of float64");
  }
  const auto* const begin = static_cast<const double*>(tensor.data_ptr());
  return {begin, begin + tensor.numel()};
}

er::Frequencies frequencies_of(const Tensor& rates, const std::optional<Tensor>& low_rates,
                               double attention_factor) {
  std::optional<std::vector<double>> low;
  if (low_rates) low = doubles(*low_rates, "low_rates");
  return eigen_rope_packages::frequencies_of(doubles(rates, "rates"), low, attention_factor);
}

er::any::PositionType position_type(const Tensor& positions) {
  switch (positions.scalar_type()) {
    case ScalarType::Int: return er::any::PositionType::i32;
    case ScalarType::Long: return er::any::PositionType::i64;
    case ScalarType::Float: return er::any::PositionType::f32;
    case ScalarType::Double: return er::any::PositionType::f64;
    default:
      throw er::Error(
          std::string("[rope] positions must be of int32, int64, float32 or float64, got ") +
          torch::headeronly::toString(positions.scalar_type()));
  }
}

std::tuple<Tensor, Tensor> make_table(const Tensor& rates, const Tensor& positions,
                                      const std::optional<Tensor>& low_rates,
                                      double attention_factor, ScalarType dtype) {
  const er::Frequencies frequencies = frequencies_of(rates, low_rates, attention_factor);
  if (!positions.is_contiguous()) throw er::Error("[rope] positions must be dense");
  er::any::PositionIds ids;
  ids.type = position_type(positions);
  ids.data = positions.data_ptr();
  ids.count = static_cast<er::Index>(positions.numel());
  er::Shape shape;
  for (const std::int64_t extent : positions.sizes()) shape.push_back(extent);
  shape.push_back(frequencies.pairs());
  const Tensor cos = new_dense(shape, dtype);
  const Tensor sin = new_dense(shape, dtype);
  const er::any::TableMemory memory{
      scalar_type(cos, "dtype"), cos.data_ptr(), sin.data_ptr(), {ids.count, frequencies.pairs()}};
  if (ids.count != 0) {
    er::any::fill_table(memory, frequencies, er::any::positions(ids), er::Layout::sd());
  }
  return {cos, sin};
}

[[maybe_unused]] const eigen_rope_packages::ReusedMemory reused_memory;

}  // namespace
}  // namespace eigen_rope_torch

STABLE_TORCH_LIBRARY(eigen_rope, m) {
  m.def(
      "rotate(Tensor x, Tensor cos, Tensor sin, str pairing, str direction, int rotary_dims, "
      "int offset, int axis, str outside) -> Tensor");
  m.def(
      "rotate_(Tensor(a!) x, Tensor cos, Tensor sin, str pairing, str direction, "
      "int rotary_dims, int offset, int axis) -> ()");
  m.def(
      "table_gradient(Tensor x, Tensor g, Tensor like, str pairing, int rotary_dims, "
      "int offset, int axis) -> (Tensor, Tensor)");
  m.def(
      "table(Tensor rates, Tensor positions, Tensor? low_rates, float attention_factor, "
      "ScalarType dtype) -> (Tensor, Tensor)");
}

STABLE_TORCH_LIBRARY_IMPL(eigen_rope, CPU, m) {
  m.impl("rotate", TORCH_BOX(&eigen_rope_torch::rotate));
  m.impl("rotate_", TORCH_BOX(&eigen_rope_torch::rotate_inplace));
  m.impl("table_gradient", TORCH_BOX(&eigen_rope_torch::table_gradient));
  m.impl("table", TORCH_BOX(&eigen_rope_torch::make_table));
}
