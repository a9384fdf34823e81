// SPDX-License-Identifier: Apache-2.0
//
// ONNX's RotaryEmbedding (ai.onnx, opset 23) and the contrib operators of com.microsoft, under
// their own names and rules.
//
//   X [batch, heads, sequence, head] or [batch, sequence, heads * head], row-major
//   cos_cache, sin_cache [rows, rotary/2] with position_ids [batch, sequence], or [batch, sequence,
//       rotary/2] without
//   Y = X with the first `rotary` dims of each head rotated: half pairs, or neighbours with
//       interleaved = 1; the rest copied
//
// Checks and translates; the core does the rest. Where the text is silent the strict reading is
// taken; docs/operators.md lists every such decision. Never a read past a cache, never an element
// of Y left unwritten. The gradients are ours: ONNX defines none.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/scalar_type.hpp"

namespace eigen_rope::onnx {

using Dims = std::vector<std::int64_t>;  ///< Extents, slowest axis first.

/// A dense row-major tensor that is read. It does not own its data.
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< Of the elements.
  const void* data = nullptr;         ///< The first element; dense.
  Dims shape{};                       ///< Slowest axis first.
};

/// A dense row-major tensor that is written; its shape must be the one the operator gives.
struct Tensor {
  ScalarType type = ScalarType::f32;  ///< Of the elements.
  void* data = nullptr;               ///< The first element; dense.
  Dims shape{};                       ///< Slowest axis first.

  /// The same, only read.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, shape}; }
};

/// A tensor to write.
template <class Scalar>
Tensor tensor(Scalar* data, Dims shape) {
  return {scalar_type<Scalar>, data, std::move(shape)};
}
/// A tensor to read.
template <class Scalar>
ConstTensor tensor(const Scalar* data, Dims shape) {
  return {scalar_type<Scalar>, data, std::move(shape)};
}

/// Dense row-major int64 positions.
struct PositionIds {
  const std::int64_t* data = nullptr;  ///< The first id.
  Dims shape{};                        ///< Slowest axis first.
};

/// All inputs of a node. X, cos_cache and sin_cache have one type.
struct Inputs {
  ConstTensor X{};                            ///< What is rotated.
  ConstTensor cos_cache{};                    ///< [rows, rotary/2], or per token without ids.
  ConstTensor sin_cache{};                    ///< Of cos_cache's shape.
  std::optional<PositionIds> position_ids{};  ///< The caches' rows, where they are gathered.
};

/// What backward() computes: leave out what is not wanted. Shapes and types are those of X and of
/// the caches. Rows of a cache that no position names get 0; rows named more than once get the sum.
struct Gradients {
  std::optional<Tensor> dX{};          ///< Of X's shape.
  std::optional<Tensor> dcos_cache{};  ///< Of cos_cache's shape.
  std::optional<Tensor> dsin_cache{};  ///< Of sin_cache's shape.
};

/// What to do with a cache of more than rotary/2 columns.
enum class WideCache {
  refuse,  ///< the text since ONNX 1.19.1
  slice    ///< the text of 1.18.0 and 1.19.0: only the first rotary/2 columns count
};

/// ai.onnx RotaryEmbedding, opset 23. Attributes as in the node; 0 is "not set".
struct RotaryEmbedding {
  std::int64_t interleaved = 0;              ///< 0 or 1
  std::int64_t num_heads = 0;                ///< required for 3D X
  std::int64_t rotary_embedding_dim = 0;     ///< 0 for the whole head; even, at most the head size
  WideCache wide_cache = WideCache::refuse;  ///< What to do with caches of too many columns.
};

/// com.microsoft RotaryEmbedding, version 1. position_ids is required and may also be a scalar or
/// one element: ids from there on.
struct ContribRotaryEmbedding {
  std::int64_t interleaved = 0;  ///< 1 for neighbours, 0 for halves.
  /// May be left out for 3D X: head size is then twice the cache's width
  std::int64_t num_heads = 0;
  std::int64_t rotary_embedding_dim = 0;  ///< In elements; 0 for the whole head.
  double scale = 1.0;                     ///< multiplies cos and sin (the runtime ignores it)
  std::int64_t is_packed_batching = 0;    ///< 1: the sequence may be longer than the cache
};

/// com.microsoft MRotaryEmbedding, version 1. position_ids [3, batch, sequence]: time, height,
/// width.
struct MRotaryEmbedding {
  std::int64_t interleaved = 0;           ///< 1 for neighbours, 0 for halves.
  std::int64_t num_heads = 0;             ///< Needed for X of rank 3.
  std::int64_t rotary_embedding_dim = 0;  ///< In elements; 0 for the whole head.
  double scale = 1.0;                     ///< Multiplies cos and sin.
  Dims mrope_section{};                   ///< three lengths, sum rotary/2; required
  /// 0: three blocks of frequencies; 1: taken in turn (k%3), the rest time
  std::int64_t mrope_layout = 0;
};

/// Y = the operator's output.
///
/// \param Y       of X's type and shape; may be X's own data, must not overlap it or a cache
///                otherwise
/// \param device  threads of an Eigen device; the same bits for any number
///
/// float, float16, bfloat16 and (our extension) double; 16-bit types are computed in float and
/// rounded once.
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value, before anything is
///             written.
EIGEN_ROPE_API void run(const RotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
                        const Device& device = Device());
/// The same for com.microsoft RotaryEmbedding.
EIGEN_ROPE_API void run(const ContribRotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
                        const Device& device = Device());
/// The same for com.microsoft MRotaryEmbedding.
EIGEN_ROPE_API void run(const MRotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
                        const Device& device = Device());

/// The gradients of a loss, given dY, its gradient with respect to Y (X's type and shape). X is
/// read only for those of the caches. dX may be dY's own data. Sums over heads and repeated
/// positions are formed in double.
EIGEN_ROPE_API void backward(const RotaryEmbedding& node, const Inputs& inputs,
                             const ConstTensor& dY, const Gradients& gradients,
                             const Device& device = Device());
/// The same for com.microsoft RotaryEmbedding.
EIGEN_ROPE_API void backward(const ContribRotaryEmbedding& node, const Inputs& inputs,
                             const ConstTensor& dY, const Gradients& gradients,
                             const Device& device = Device());
/// The same for com.microsoft MRotaryEmbedding.
EIGEN_ROPE_API void backward(const MRotaryEmbedding& node, const Inputs& inputs,
                             const ConstTensor& dY, const Gradients& gradients,
                             const Device& device = Device());

}  // namespace eigen_rope::onnx
