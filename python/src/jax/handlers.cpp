// SPDX-License-Identifier: Apache-2.0
//
// The handlers of XLA's foreign function interface that eigen_rope.jax registers for the CPU.
//
//   eigen_rope_jax_rotate           x, cos, sin -> y      a rotation, its transpose or its inverse
//   eigen_rope_jax_table_gradient   x, g -> dcos, dsin    summed over what the results repeat along
//   eigen_rope_jax_table            rates, positions -> cos, sin    exact, and rounded once
//
// Arrays are dense, slowest axis first, and all have y's number of axes. An extent of 1 stands for
// y's, of x as well, which is how vmap maps a table alone. Shapes and derivatives are in
// eigen_rope/jax/_primitives.py. With outside = "zero", elements that are not rotated become 0.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "frame.hpp"
#include "outside.hpp"
#include "reused_memory.hpp"

namespace eigen_rope_jax {
namespace {

using eigen_rope_packages::Outside;

/// Attributes in the order of their names: axis, [direction], offset, [outside], pairing,
/// rotary_dims.
struct Places {
  std::int64_t offset, pairing, rotary_dims;
};

er::Pairing pairing_of(const XLA_FFI_CallFrame& frame, const Places& places, int rank) {
  const er::Pairing pairing =
      er::any::pairing_of(string(frame, places.pairing, "pairing"))
          .with_rotary_dims(integer(frame, places.rotary_dims, "rotary_dims"))
          .with_offset(integer(frame, places.offset, "offset"));
  const auto axis = static_cast<int>(integer(frame, 0, "axis"));
  return axis == rank - 1 ? pairing : pairing.along(axis);
}

/// The axis of the features, where it is not the last one.
template <class Entries>
Entries along(Entries entries, const er::Pairing& pairing) {
  if (pairing.axis()) entries.feature_axis = *pairing.axis();
  return entries;
}

void rotate(const XLA_FFI_CallFrame& frame) {
  const er::any::Tensor y = write(result(frame, 0));
  const er::Pairing pairing = pairing_of(frame, {2, 4, 5}, y.shape.rank());
  const er::any::Table table =
      along(er::any::table_of(read(argument(frame, 1)), read(argument(frame, 2))), pairing);
  const Outside outside = eigen_rope_packages::outside_of(string(frame, 3, "outside"));
  const Pool pool(frame);
  er::any::rotate_to(y, read(argument(frame, 0), y.shape), table, pairing,
                     er::any::direction_of(string(frame, 1, "direction")), pool.device());
  if (outside == Outside::zero) eigen_rope_packages::clear_outside(y, pairing);
}

/// Results of float for an x of 16 bits are summed in double and rounded once.
void table_gradient(const XLA_FFI_CallFrame& frame) {
  const XLA_FFI_Buffer& of_x = argument(frame, 0);
  const XLA_FFI_Buffer& of_g = argument(frame, 1);
  const er::Shape full = together(shape_of(of_x), shape_of(of_g));
  const er::any::ConstTensor x = read(of_x, full);
  const er::any::Tensor dcos = write(result(frame, 0));
  const er::any::Tensor dsin = write(result(frame, 1));
  const er::Pairing pairing = pairing_of(frame, {1, 2, 3}, full.rank());
  er::any::TableMemory memory =
      along(er::any::TableMemory{dcos.type, dcos.data, dsin.data, dcos.shape}, pairing);
  const Pool pool(frame);
  const bool widened = dcos.type != x.type;
  std::vector<double> sums;
  er::Index entries = 1;
  if (widened) {
    for (int axis = 0; axis < dcos.shape.rank(); ++axis) entries *= dcos.shape[axis];
    sums.resize(static_cast<std::size_t>(2 * entries));
    memory.type = er::ScalarType::f64;
    memory.cos = sums.data();
    memory.sin = sums.data() + entries;
  }
  er::any::table_gradient(memory, x, read(of_g, full), pairing, pool.device());
  if (!widened) return;
  const auto round = [](double sum) { return static_cast<float>(sum); };
  const auto middle = sums.begin() + entries;
  std::transform(sums.begin(), middle, static_cast<float*>(dcos.data), round);
  std::transform(middle, sums.end(), static_cast<float*>(dsin.data), round);
}

/// Term number `term` of a rate, of float or double.
double entry(const er::any::ConstTensor& rates, er::Index place) {
  return rates.type == er::ScalarType::f64
             ? static_cast<const double*>(rates.data)[place]
             : static_cast<double>(static_cast<const float*>(rates.data)[place]);
}

er::any::PositionType position_type(const XLA_FFI_Buffer& positions) {
  switch (positions.dtype) {
    case XLA_FFI_DataType_S32: return er::any::PositionType::i32;
    case XLA_FFI_DataType_S64: return er::any::PositionType::i64;
    case XLA_FFI_DataType_F32: return er::any::PositionType::f32;
    case XLA_FFI_DataType_F64: return er::any::PositionType::f64;
    default: throw er::Error("[rope] positions must be of int32, int64, float32 or float64");
  }
}

/// rates is [terms, groups, pairs], and a rate is the sum of its terms; positions is [groups, n],
/// or [1, n] for the same in all groups; cos and sin are [groups, n, pairs].
void table(const XLA_FFI_CallFrame& frame) {
  const er::any::ConstTensor rates = read(argument(frame, 0));
  const XLA_FFI_Buffer& positions = argument(frame, 1);
  const er::any::Tensor cos = write(result(frame, 0));
  const er::any::Tensor sin = write(result(frame, 1));
  const double attention_factor = number(frame, 0, "attention_factor");
  if (rates.shape.rank() != 3 || positions.rank != 2) {
    throw er::Error("[rope] rates must be [terms, groups, pairs] and positions [groups, n]");
  }
  const er::Index terms = rates.shape[0], groups = rates.shape[1], pairs = rates.shape[2];
  er::any::PositionIds ids;
  ids.type = position_type(positions);
  ids.count = static_cast<er::Index>(positions.dims[1]);
  const bool wide =
      ids.type == er::any::PositionType::i64 || ids.type == er::any::PositionType::f64;
  const er::Index bytes_of_ids = ids.count * (wide ? 8 : 4);
  const er::Index bytes_of_group =
      ids.count * pairs * static_cast<er::Index>(er::size_of(cos.type));
  if (bytes_of_group == 0) return;
  for (er::Index group = 0; group < groups; ++group) {
    std::vector<er::DoubleDouble> sums(static_cast<std::size_t>(pairs));
    for (er::Index k = 0; k < pairs; ++k) {
      er::DoubleDouble sum(0.0);
      for (er::Index term = 0; term < terms; ++term) {
        sum = sum + er::DoubleDouble(entry(rates, (term * groups + group) * pairs + k));
      }
      sums[static_cast<std::size_t>(k)] = sum;
    }
    const er::Index of_ids = positions.dims[0] == 1 ? 0 : group * bytes_of_ids;
    ids.data = static_cast<const char*>(positions.data) + of_ids;
    const er::any::TableMemory memory{cos.type,
                                      static_cast<char*>(cos.data) + group * bytes_of_group,
                                      static_cast<char*>(sin.data) + group * bytes_of_group,
                                      {ids.count, pairs}};
    const er::Frequencies frequencies =
        er::Frequencies::explicit_rates(std::move(sums), er::DoubleDouble(attention_factor));
    er::any::fill_table(memory, frequencies, er::any::positions(ids), er::Layout::sd());
  }
}

[[maybe_unused]] const eigen_rope_packages::ReusedMemory reused_memory;

}  // namespace
}  // namespace eigen_rope_jax

#pragma GCC visibility push(default)
extern "C" {

/// Returns 1 if the handlers can serve this version of XLA's interface, and 0 if not.
int eigen_rope_jax_agree(int major, int minor) {
  return eigen_rope_jax::agree(major, minor) ? 1 : 0;
}

XLA_FFI_Error* eigen_rope_jax_rotate(XLA_FFI_CallFrame* frame) {
  return eigen_rope_jax::answer(frame, eigen_rope_jax::rotate);
}

XLA_FFI_Error* eigen_rope_jax_table_gradient(XLA_FFI_CallFrame* frame) {
  return eigen_rope_jax::answer(frame, eigen_rope_jax::table_gradient);
}

XLA_FFI_Error* eigen_rope_jax_table(XLA_FFI_CallFrame* frame) {
  return eigen_rope_jax::answer(frame, eigen_rope_jax::table);
}

}  // extern "C"
#pragma GCC visibility pop
