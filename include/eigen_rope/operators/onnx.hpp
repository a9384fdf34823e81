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
// These functions check and translate a call, and the library's own rotation computes it. Where the
// operators' text is silent they follow the strict reading; docs/operators.md lists every such
// decision. They never read past a cache and leave no element of Y unwritten. The gradients are an
// extension: ONNX defines none.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {

using Dims = std::vector<std::int64_t>;  ///< Extents, slowest axis first.

/// A view of a dense row-major tensor that is read; it does not own its data.
///
/// \code{.cpp}
/// const er::onnx::ConstTensor X = er::onnx::tensor(x.data(), {batch, tokens, heads * D});
/// \endcode
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  const void* data = nullptr;         ///< The first of the elements, which are dense.
  Dims shape{};                       ///< The extents, slowest axis first.
};

/// A view of a dense row-major tensor that is written; it does not own its data.
///
/// Its shape must be the one that the operator gives.
/// \code{.cpp}
/// const er::onnx::Tensor Y = er::onnx::tensor(y.data(), {batch, tokens, heads * D});
/// \endcode
struct Tensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  void* data = nullptr;               ///< The first of the elements, which are dense.
  Dims shape{};                       ///< The extents, slowest axis first.

  /// Returns a view of the same tensor for reading.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, shape}; }
};

/// Makes a view of a dense tensor that is written.
///
/// \code{.cpp}
/// const er::onnx::Tensor Y = er::onnx::tensor(y.data(), {batch, tokens, heads * D});
/// \endcode
///
/// \param data   the first element
/// \param shape  the extents, slowest axis first
template <class Scalar>
Tensor tensor(Scalar* data, Dims shape) {
  return {scalar_type<Scalar>, data, std::move(shape)};
}
/// Makes a view of a dense tensor that is read.
///
/// \code{.cpp}
/// const er::onnx::ConstTensor cos_cache = er::onnx::tensor(cache.cos(), {tokens, D / 2});
/// \endcode
///
/// \param data   the first element
/// \param shape  the extents, slowest axis first
template <class Scalar>
ConstTensor tensor(const Scalar* data, Dims shape) {
  return {scalar_type<Scalar>, data, std::move(shape)};
}

/// A view of dense row-major int64 position ids; it does not own them.
///
/// \code{.cpp}
/// const std::vector<std::int64_t> ids(batch * tokens);
/// const er::onnx::PositionIds position_ids{ids.data(), {batch, tokens}};
/// \endcode
struct PositionIds {
  const std::int64_t* data = nullptr;  ///< The first id.
  Dims shape{};                        ///< The extents, slowest axis first.
};

/// The inputs of a node; X and the caches have one type.
///
/// \code{.cpp}
/// const std::vector<std::int64_t> ids(batch * tokens);
/// er::onnx::Inputs inputs;
/// inputs.X = er::onnx::tensor(x.data(), {batch, tokens, heads * D});
/// inputs.cos_cache = er::onnx::tensor(cache.cos(), {tokens, D / 2});
/// inputs.sin_cache = er::onnx::tensor(cache.sin(), {tokens, D / 2});
/// inputs.position_ids = er::onnx::PositionIds{ids.data(), {batch, tokens}};
/// \endcode
struct Inputs {
  ConstTensor X{};  ///< The tensor that is rotated.
  /// The cosines: [rows, rotary/2] with position ids, [batch, sequence, rotary/2] without.
  ConstTensor cos_cache{};
  ConstTensor sin_cache{};  ///< The sines, of cos_cache's shape.
  /// The row of the caches that each token takes; without them every token has a row of its own.
  std::optional<PositionIds> position_ids{};
};

/// The gradients that backward() computes; leave out those that are not wanted.
///
/// Rows of a cache that no position names get 0, and rows that are named more than once get the
/// sum.
/// \code{.cpp}
/// er::onnx::Gradients gradients;
/// gradients.dX = er::onnx::tensor(dx.data(), {batch, tokens, heads * D});
/// \endcode
struct Gradients {
  std::optional<Tensor> dX{};          ///< The gradient of X, of its shape and type.
  std::optional<Tensor> dcos_cache{};  ///< The gradient of cos_cache, of its shape and type.
  std::optional<Tensor> dsin_cache{};  ///< The gradient of sin_cache, of its shape and type.
};

/// The treatment of a cache of more than rotary/2 columns.
enum class WideCache {
  /// The cache is refused, as ONNX's text says since 1.19.1.
  refuse,
  /// The first rotary/2 columns count, as ONNX's text says in 1.18.0 and 1.19.0.
  slice
};

/// The attributes of ai.onnx RotaryEmbedding, opset 23.
///
/// \code{.cpp}
/// er::onnx::RotaryEmbedding node;
/// node.num_heads = heads;
/// node.interleaved = 1;
/// \endcode
/// \see \ref operators "Operators"
struct RotaryEmbedding {
  std::int64_t interleaved = 0;  ///< 1 for pairs of neighbours, 0 for split halves.
  std::int64_t num_heads = 0;    ///< The number of heads, required for X of rank 3; 0 is "not set".
  /// The number of rotated elements of a head: even and at most the head size; 0 for all of it.
  std::int64_t rotary_embedding_dim = 0;
  WideCache wide_cache = WideCache::refuse;  ///< The treatment of caches of too many columns.
};

/// The attributes of com.microsoft RotaryEmbedding, version 1.
///
/// Its position_ids are required. They may also be a scalar or one element, from which the ids of
/// all batches count on.
/// \code{.cpp}
/// er::onnx::ContribRotaryEmbedding node;
/// node.num_heads = heads;
/// node.rotary_embedding_dim = 32;
/// \endcode
struct ContribRotaryEmbedding {
  std::int64_t interleaved = 0;  ///< 1 for pairs of neighbours, 0 for split halves.
  /// The number of heads. Without it (0) the head size of an X of rank 3 is twice the cache's
  /// width.
  std::int64_t num_heads = 0;
  /// The number of rotated elements of a head: even, and 0 for all of it; otherwise num_heads is
  /// required.
  std::int64_t rotary_embedding_dim = 0;
  /// The factor of cos and sin; finite. ONNX Runtime ignores it.
  double scale = 1.0;
  std::int64_t is_packed_batching = 0;  ///< 1 if the sequence may be longer than the cache, else 0.
};

/// The attributes of com.microsoft MRotaryEmbedding, version 1.
///
/// Its position_ids [3, batch, sequence] are required: time, height, width.
/// \code{.cpp}
/// er::onnx::MRotaryEmbedding node;
/// node.num_heads = heads;
/// node.mrope_section = {8, 12, 12};
/// \endcode
struct MRotaryEmbedding {
  std::int64_t interleaved = 0;  ///< 1 for pairs of neighbours, 0 for split halves.
  std::int64_t num_heads = 0;    ///< The number of heads, required for X of rank 3.
  /// The number of rotated elements of a head: even, and 0 for all of it; otherwise num_heads is
  /// required.
  std::int64_t rotary_embedding_dim = 0;
  double scale = 1.0;    ///< The factor of cos and sin; finite.
  Dims mrope_section{};  ///< Three lengths in pairs with the sum rotary/2; required.
  /// 0 for three blocks of frequencies; 1 for frequencies dealt to the axes in turn, the rest to
  /// time.
  std::int64_t mrope_layout = 0;
};

/// Checks the attributes of a node before there are inputs, as a program that loads models does.
///
/// run() and backward() check them, too.
/// \code{.cpp}
/// er::onnx::RotaryEmbedding node;
/// node.num_heads = heads;
/// er::onnx::check(node);
/// \endcode
///
/// - Errors:   eigen_rope::Error naming the attribute, the rule and the value.
EIGEN_ROPE_API void check(const RotaryEmbedding& node);
/// Checks the attributes of com.microsoft RotaryEmbedding likewise.
EIGEN_ROPE_API void check(const ContribRotaryEmbedding& node);
/// Checks the attributes of com.microsoft MRotaryEmbedding likewise.
EIGEN_ROPE_API void check(const MRotaryEmbedding& node);

/// Computes the output Y of ai.onnx RotaryEmbedding.
///
///     Y_a = cos X_a - sin X_b     Y_b = cos X_b + sin X_a
///
/// \code{.cpp}
/// er::onnx::RotaryEmbedding node;
/// er::onnx::Inputs inputs;  // filled as in its own example
/// er::onnx::run(node, inputs, er::onnx::tensor(y.data(), {batch, tokens, heads * D}), pool);
/// \endcode
///
/// \param node    the attributes
/// \param inputs  X and the caches, in float, float16, bfloat16 or double, which ONNX does not have
/// \param Y       the result, of X's type and shape
/// \param device  the threads of an Eigen device; any number of them gives the same bits
///
/// 16-bit types are computed in float and rounded once.
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value, before anything is
///             written.
/// - Aliasing: Y may be X's own data; every other overlap with an input is refused.
/// - Cost:     one pass over X. Rows of the caches are copied unless they lie one behind the other;
///             a call of one token allocates nothing.
/// \see backward(), onnx_node.hpp for nodes of model files, \ref operators "Operators"
EIGEN_ROPE_API void run(const RotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
                        const Device& device = Device());
/// Computes the output Y of com.microsoft RotaryEmbedding.
///
/// Formula, arguments, errors and aliasing are those of run() for ai.onnx RotaryEmbedding.
/// \code{.cpp}
/// er::onnx::ContribRotaryEmbedding node;
/// er::onnx::Inputs inputs;  // filled as in its own example
/// er::onnx::run(node, inputs, er::onnx::tensor(y.data(), {batch, tokens, heads * D}));
/// \endcode
EIGEN_ROPE_API void run(const ContribRotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
                        const Device& device = Device());
/// Computes the output Y of com.microsoft MRotaryEmbedding.
///
/// Formula, arguments, errors and aliasing are those of run() for ai.onnx RotaryEmbedding.
/// \code{.cpp}
/// er::onnx::MRotaryEmbedding node;
/// er::onnx::Inputs inputs;  // filled as in its own example, with three lists of ids
/// er::onnx::run(node, inputs, er::onnx::tensor(y.data(), {batch, tokens, heads * D}));
/// \endcode
EIGEN_ROPE_API void run(const MRotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
                        const Device& device = Device());

/// Computes the gradients of a loss through ai.onnx RotaryEmbedding, given dY, its gradient with
/// respect to Y.
///
///     dX_a = cos dY_a + sin dY_b     dX_b = cos dY_b - sin dY_a
///     dcos = sum of X_a dY_a + X_b dY_b     dsin = sum of X_a dY_b - X_b dY_a
///
/// Sums over heads and repeated positions are formed in double and rounded once.
/// \code{.cpp}
/// er::onnx::RotaryEmbedding node;
/// er::onnx::Inputs inputs;  // those of run()
/// const er::onnx::Dims shape{batch, tokens, heads * D};
/// er::onnx::Gradients gradients;
/// gradients.dX = er::onnx::tensor(dx.data(), shape);
/// er::onnx::backward(node, inputs, er::onnx::tensor(dy.data(), shape), gradients);
/// \endcode
///
/// \param node       the attributes
/// \param inputs     those of run(); X's data are read only for the gradients of the caches
/// \param dY         the gradient with respect to Y, of X's type and shape
/// \param gradients  where the gradients go that are wanted
/// \param device     the threads of an Eigen device
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value, before anything is
///             written.
/// - Aliasing: dX may be dY's own data; every other overlap of an output is refused.
/// \see \ref gradients "Gradients"
EIGEN_ROPE_API void backward(const RotaryEmbedding& node, const Inputs& inputs,
                             const ConstTensor& dY, const Gradients& gradients,
                             const Device& device = Device());
/// Computes the gradients of a loss through com.microsoft RotaryEmbedding.
///
/// Formula, arguments, errors and aliasing are those of backward() for ai.onnx RotaryEmbedding.
/// \code{.cpp}
/// er::onnx::ContribRotaryEmbedding node;
/// er::onnx::Inputs inputs;  // those of run()
/// er::onnx::Gradients gradients;  // the outputs that are wanted
/// er::onnx::backward(node, inputs, inputs.X, gradients);
/// \endcode
EIGEN_ROPE_API void backward(const ContribRotaryEmbedding& node, const Inputs& inputs,
                             const ConstTensor& dY, const Gradients& gradients,
                             const Device& device = Device());
/// Computes the gradients of a loss through com.microsoft MRotaryEmbedding.
///
/// Formula, arguments, errors and aliasing are those of backward() for ai.onnx RotaryEmbedding.
/// \code{.cpp}
/// er::onnx::MRotaryEmbedding node;
/// er::onnx::Inputs inputs;  // those of run()
/// er::onnx::Gradients gradients;  // the outputs that are wanted
/// er::onnx::backward(node, inputs, inputs.X, gradients);
/// \endcode
EIGEN_ROPE_API void backward(const MRotaryEmbedding& node, const Inputs& inputs,
                             const ConstTensor& dY, const Gradients& gradients,
                             const Device& device = Device());

}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
