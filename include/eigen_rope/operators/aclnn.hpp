// SPDX-License-Identifier: Apache-2.0
//
// Ascend's RotaryPositionEmbedding, its gradient, and ApplyRotaryPosEmb, under their own names and
// rules.
//
//   y = xhat * cos + xrot * sin   cos and sin are as wide as x and may differ within a pair; they
//                                 need not be cosines and sines
//
//   mode 0  half         pairs (j, j + D/2)   mode 2  quarter
//                       half pairs inside each half of the row
//   mode 1  interleave   pairs (2j, 2j+1)     mode 3  interleave-half
//                       pairs (2j, 2j+1), results to (j, j + D/2)
//
// x [3D or 4D, last axis D] in any layout (BNSD, BSND, SBND, TND): each axis of cos and sin is x's
// or 1. Checks and translates; the core does the rest. The device's limits do not exist here;
// device_check() reports what it would refuse. Source: CANN's operator pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/scalar_type.hpp"

namespace eigen_rope::aclnn {

using Dims = std::vector<std::int64_t>;  ///< Extents or strides in elements, slowest axis first.

/// A tensor that is read, slowest axis first. It does not own its data.
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< Of the elements.
  const void* data = nullptr;         ///< The first element.
  Dims shape{};                       ///< Slowest axis first.
  /// In elements, one per axis, the last 1; empty for a dense tensor.
  Dims strides{};
};

/// A tensor that is written.
struct Tensor {
  ScalarType type = ScalarType::f32;  ///< Of the elements.
  void* data = nullptr;               ///< The first element.
  Dims shape{};                       ///< Slowest axis first.
  Dims strides{};                     ///< In elements; empty for dense.

  /// The same, only read.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, shape, strides}; }
};

/// A tensor to write; without strides it is dense.
template <class Scalar>
Tensor tensor(Scalar* data, Dims shape, Dims strides = {}) {
  return {scalar_type<Scalar>, data, std::move(shape), std::move(strides)};
}
/// A tensor to read; without strides it is dense.
template <class Scalar>
ConstTensor tensor(const Scalar* data, Dims shape, Dims strides = {}) {
  return {scalar_type<Scalar>, data, std::move(shape), std::move(strides)};
}

/// The operator's rotary mode; the numbers are its own.
enum class Mode : std::int64_t { half = 0, interleave = 1, quarter = 2, interleave_half = 3 };

/// The operator's layout argument; the numbers are those of ApplyRotaryPosEmb.
enum class Layout : std::int64_t { bsnd = 1, sbnd = 2, bnsd = 3, tnd = 4 };

/// x, cos and sin have one type; cos and sin one shape, as wide as x. Any of them may be strided,
/// and rows may share elements.
struct Inputs {
  ConstTensor x{};    ///< What is rotated.
  ConstTensor cos{};  ///< As wide as x.
  ConstTensor sin{};  ///< Of cos's shape.
};

/// out = RotaryPositionEmbedding(x, cos, sin, mode).
///
/// \param out  of x's type and shape; may be x's own data and strides, must not overlap x, cos or
///             sin otherwise
///
/// f32, f16, bf16 and (our extension) f64; 16-bit types are computed in float and rounded once.
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value, before anything is
///             written.
EIGEN_ROPE_API void rotary_position_embedding(const Tensor& out, const Inputs& inputs, Mode mode,
                                              const Device& device = Device());

/// The gradient's inputs: dy has x's shape. Without x there are no gradients of the tables.
struct GradInputs {
  ConstTensor dy{};                ///< dL/dout.
  ConstTensor cos{};               ///< As wide as dy.
  ConstTensor sin{};               ///< Of cos's shape.
  std::optional<ConstTensor> x{};  ///< The forward input; needed for dcos and dsin.
};

/// The gradient's outputs; dcos and dsin, of the tables' shape, both or neither, and only with x.
///
/// - Aliasing: dx may be dy's own rows; otherwise no output may overlap an input or another output.
struct GradOutputs {
  Tensor dx{};                   ///< Of dy's shape.
  std::optional<Tensor> dcos{};  ///< Of cos's shape.
  std::optional<Tensor> dsin{};  ///< Of cos's shape.
};

/// RotaryPositionEmbeddingGrad: dx, and dcos and dsin summed (in double) over every axis the tables
/// broadcast along.
EIGEN_ROPE_API void rotary_position_embedding_grad(const GradOutputs& outputs,
                                                   const GradInputs& inputs, Mode mode,
                                                   const Device& device = Device());

/// ApplyRotaryPosEmb: q and k rotated where they lie, by the same tables, with head counts of their
/// own.
struct ApplyInputs {
  Tensor query{};  ///< Rotated in place.
  Tensor key{};    ///< Rotated in place.
  /// Of q's and k's shape but 1 on the head axis, and as wide as the rotated part of a head: at
  /// most D.
  ConstTensor cos{};
  ConstTensor sin{};  ///< Of cos's shape.
};

/// Both are checked before either is written. q and k may be heads side by side in one buffer, but
/// may not share elements.
EIGEN_ROPE_API void apply_rotary_pos_emb(const ApplyInputs& inputs, Layout layout, Mode mode,
                                         const Device& device = Device());

/// Chips whose limits device_check() knows.
enum class Chip { atlas_a2, atlas_a3, ascend_950 };

/// What the device would refuse of a call that is valid here, one sentence each; empty if it would
/// run as far as its pages tell. Looks at types, shapes and strides, never at data, which may be
/// null.
///
/// Two limits depend on numbers the pages do not give: whether q and k of ApplyRotaryPosEmb fit the
/// chip's fast memory (left out), and the number of cores, which layout BNSD with half a row that
/// is no multiple of 32 bytes depends on (reported where any number is too few).
///
/// - Errors:   eigen_rope::Error for a call that is not valid here either.
EIGEN_ROPE_API std::vector<std::string> device_check(const Inputs& inputs, Mode mode, Layout layout,
                                                     Chip chip);
/// The same for the gradient.
EIGEN_ROPE_API std::vector<std::string> device_check(const GradInputs& inputs, Mode mode,
                                                     Layout layout, Chip chip);
/// The same for ApplyRotaryPosEmb.
EIGEN_ROPE_API std::vector<std::string> device_check(const ApplyInputs& inputs, Mode mode,
                                                     Layout layout, Chip chip);

}  // namespace eigen_rope::aclnn
