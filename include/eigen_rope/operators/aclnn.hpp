// SPDX-License-Identifier: Apache-2.0
//
// Ascend's operators RotaryPositionEmbedding, its gradient, and ApplyRotaryPosEmb, under their own
// names and rules.
//
//   y = xhat * cos + xrot * sin   cos and sin are as wide as x and may differ within a pair; they
//                                 need not be cosines and sines
//
//   mode 0  half              pairs (j, j + D/2)
//   mode 1  interleave        pairs (2j, 2j+1)
//   mode 2  quarter           half pairs inside each half of the row
//   mode 3  interleave-half   pairs (2j, 2j+1), results to (j, j + D/2)
//
// x has 3 or 4 axes in any layout (BNSD, BSND, SBND, TND), the last of extent D; each axis of cos
// and sin is x's or 1, and the last is D (in ApplyRotaryPosEmb at most D). These functions check
// and translate a call, and the library's own rotation computes it. The limits of Ascend's devices
// do not apply; device_check() reports what a device would refuse. Source: CANN's operator pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn {

using Dims = std::vector<std::int64_t>;  ///< Extents or strides in elements, slowest axis first.

/// A view of a tensor that is read; it does not own its data.
///
/// \code{.cpp}
/// const er::aclnn::ConstTensor input = er::aclnn::tensor(q.data(), {batch, tokens, heads, D});
/// \endcode
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  const void* data = nullptr;         ///< The first element.
  Dims shape{};                       ///< The extents, slowest axis first.
  /// The strides in elements, one for each axis and the last 1; empty for a dense tensor.
  Dims strides{};
};

/// A view of a tensor that is written; it does not own its data.
///
/// \code{.cpp}
/// const er::aclnn::Tensor output = er::aclnn::tensor(y.data(), {batch, tokens, heads, D});
/// \endcode
struct Tensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  void* data = nullptr;               ///< The first element.
  Dims shape{};                       ///< The extents, slowest axis first.
  /// The strides in elements, one for each axis and the last 1; empty for a dense tensor.
  Dims strides{};

  /// Returns a view of the same tensor for reading.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, shape, strides}; }
};

/// Makes a view of a tensor that is written.
///
/// \code{.cpp}
/// const er::aclnn::Tensor output = er::aclnn::tensor(y.data(), {batch, tokens, heads, D});
/// \endcode
///
/// \param data     the first element
/// \param shape    the extents, slowest axis first
/// \param strides  the strides in elements, the last 1; empty for a dense tensor
template <class Scalar>
Tensor tensor(Scalar* data, Dims shape, Dims strides = {}) {
  return {scalar_type<Scalar>, data, std::move(shape), std::move(strides)};
}
/// Makes a view of a tensor that is read.
///
/// \code{.cpp}
/// const float* cosines = x.data();
/// const er::aclnn::ConstTensor cos = er::aclnn::tensor(cosines, {1, tokens, 1, D});
/// \endcode
///
/// \param data     the first element
/// \param shape    the extents, slowest axis first
/// \param strides  the strides in elements, the last 1; empty for a dense tensor
template <class Scalar>
ConstTensor tensor(const Scalar* data, Dims shape, Dims strides = {}) {
  return {scalar_type<Scalar>, data, std::move(shape), std::move(strides)};
}

/// The operator's rotary mode, which says which elements form a pair; the numbers are its own.
enum class Mode : std::int64_t {
  half = 0,            ///< Pairs (j, j + D/2), as eigen_rope::split_half.
  interleave = 1,      ///< Pairs (2j, 2j + 1), as eigen_rope::interleaved.
  quarter = 2,         ///< Half pairs inside each half of the row, as eigen_rope::quarter.
  interleave_half = 3  ///< Pairs (2j, 2j + 1) to (j, j + D/2), as interleaved_to_split_half.
};

/// The order of a tensor's axes, slowest first: B batches, S or T tokens, N heads, D the head size;
/// the numbers are those of ApplyRotaryPosEmb.
enum class Layout : std::int64_t {
  bsnd = 1,  ///< Batches, tokens, heads, head size.
  sbnd = 2,  ///< Tokens, batches, heads, head size.
  bnsd = 3,  ///< Batches, heads, tokens, head size.
  tnd = 4    ///< Tokens, heads, head size; there is no batch axis.
};

/// The inputs of RotaryPositionEmbedding.
///
/// All three have one type. Any of them may be strided, and their rows may share elements.
/// \code{.cpp}
/// Eigen::Tensor<float, 2> c(D, tokens), s(D, tokens);  // filled elsewhere
/// er::aclnn::Inputs inputs;
/// inputs.x = er::aclnn::tensor(x.data(), {batch, tokens, heads, D});
/// inputs.cos = er::aclnn::tensor(c.data(), {1, tokens, 1, D});
/// inputs.sin = er::aclnn::tensor(s.data(), {1, tokens, 1, D});
/// \endcode
struct Inputs {
  ConstTensor x{};    ///< The tensor that is rotated; 3 or 4 axes.
  ConstTensor cos{};  ///< The cosines, as wide as x; each other axis is x's or 1.
  ConstTensor sin{};  ///< The sines, of cos's shape.
};

/// Rotates x into `out`, as Ascend's RotaryPositionEmbedding does.
///
///     out_A = cos_A x_a - sin_A x_b     out_B = cos_B x_b + sin_B x_a
///
/// \code{.cpp}
/// using er::aclnn::tensor;
/// Eigen::Tensor<float, 2> c(D, tokens), s(D, tokens);  // filled elsewhere
/// const er::aclnn::Dims shape{batch, tokens, heads, D}, table{1, tokens, 1, D};
/// const er::aclnn::Inputs inputs{tensor(x.data(), shape), tensor(c.data(), table),
///                                tensor(s.data(), table)};
/// er::aclnn::rotary_position_embedding(tensor(y.data(), shape), inputs, er::aclnn::Mode::half);
/// \endcode
///
/// \param out     the result, of x's type and shape; its rows must not share elements
/// \param inputs  x and the tables, in f32, f16, bf16 or f64; the operator itself takes no f64
/// \param mode    which elements form a pair
/// \param device  the threads of an Eigen device, or the calling thread
///
/// 16-bit types are computed in float and rounded once.
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value, before anything is
///             written.
/// - Aliasing: out may have x's own data and strides; every other overlap with x, cos or sin is
///             refused.
/// \see aclnn_calls.hpp for the two-step calls, \ref operators "Operators"
EIGEN_ROPE_API void rotary_position_embedding(const Tensor& out, const Inputs& inputs, Mode mode,
                                              const Device& device = Device());

/// The inputs of RotaryPositionEmbeddingGrad, all of one type.
///
/// \code{.cpp}
/// er::aclnn::GradInputs inputs;
/// inputs.dy = er::aclnn::tensor(dy.data(), {batch, tokens, heads, D});
/// inputs.x = er::aclnn::tensor(x.data(), {batch, tokens, heads, D});
/// \endcode
struct GradInputs {
  ConstTensor dy{};   ///< The gradient dL/dout, of x's shape.
  ConstTensor cos{};  ///< The cosines, as wide as dy; each other axis is dy's or 1.
  ConstTensor sin{};  ///< The sines, of cos's shape.
  /// The input of the forward operator; without it there are no gradients of the tables.
  std::optional<ConstTensor> x{};
};

/// The outputs of RotaryPositionEmbeddingGrad: dx, and both gradients of the tables or neither.
///
/// \code{.cpp}
/// er::aclnn::GradOutputs outputs;
/// outputs.dx = er::aclnn::tensor(dx.data(), {batch, tokens, heads, D});
/// \endcode
///
/// - Aliasing: dx may be dy's own rows; otherwise no output may overlap an input or another output.
struct GradOutputs {
  Tensor dx{};                   ///< The gradient of x, of dy's shape and type.
  std::optional<Tensor> dcos{};  ///< The gradient of cos, of its shape; needs GradInputs::x.
  std::optional<Tensor> dsin{};  ///< The gradient of sin, of its shape; needs GradInputs::x.
};

/// Computes the gradients of RotaryPositionEmbedding, as Ascend's RotaryPositionEmbeddingGrad does.
///
///     dx_a = cos_A dy_A + sin_B dy_B     dx_b = cos_B dy_B - sin_A dy_A
///
/// dcos and dsin are summed in double over every axis along which the tables are broadcast, and
/// rounded once.
/// \code{.cpp}
/// using er::aclnn::tensor;
/// Eigen::Tensor<float, 2> c(D, tokens), s(D, tokens);  // filled elsewhere
/// const er::aclnn::Dims shape{batch, tokens, heads, D}, table{1, tokens, 1, D};
/// er::aclnn::rotary_position_embedding_grad({tensor(dx.data(), shape), {}, {}},
///                                           {tensor(dy.data(), shape), tensor(c.data(), table),
///                                            tensor(s.data(), table), {}}, er::aclnn::Mode::half);
/// \endcode
///
/// \param outputs  dx, and dcos and dsin where they are wanted
/// \param inputs   dy, the tables, and x where dcos and dsin are wanted
/// \param mode     the mode of the forward call
/// \param device   the threads of an Eigen device, or the calling thread
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value, before anything is
///             written.
/// - Aliasing: dx may be dy's own rows; otherwise no output may overlap an input or another output.
/// \see \ref gradients "Gradients", \ref operators "Operators"
EIGEN_ROPE_API void rotary_position_embedding_grad(const GradOutputs& outputs,
                                                   const GradInputs& inputs, Mode mode,
                                                   const Device& device = Device());

/// The tensors of ApplyRotaryPosEmb, all of one type.
///
/// \code{.cpp}
/// er::aclnn::ApplyInputs inputs;
/// inputs.query = er::aclnn::tensor(q.data(), {batch, tokens, heads, D});
/// inputs.key = er::aclnn::tensor(k.data(), {batch, tokens, heads, D});
/// \endcode
struct ApplyInputs {
  Tensor query{};  ///< The queries, which are rotated in place.
  Tensor key{};    ///< The keys, which are rotated in place; they may have another number of heads.
  /// The cosines: 1 on the head axis, query's extent or 1 on each other axis, and as wide as the
  /// rotated part of a head, which is even and at most D.
  ConstTensor cos{};
  ConstTensor sin{};  ///< The sines, of cos's shape.
};

/// Rotates queries and keys in place by the same tables, as Ascend's ApplyRotaryPosEmb does.
///
/// The first elements of each head are rotated, as many as cos is wide; the rest is left alone.
/// \code{.cpp}
/// using er::aclnn::tensor;
/// Eigen::Tensor<float, 2> c(D, tokens), s(D, tokens);  // filled elsewhere
/// const er::aclnn::Dims shape{batch, tokens, heads, D}, table{1, tokens, 1, D};
/// const er::aclnn::ApplyInputs inputs{tensor(q.data(), shape), tensor(k.data(), shape),
///                                     tensor(c.data(), table), tensor(s.data(), table)};
/// er::aclnn::apply_rotary_pos_emb(inputs, er::aclnn::Layout::bsnd, er::aclnn::Mode::half);
/// \endcode
///
/// \param inputs  queries, keys and tables
/// \param layout  the order of the axes, which says where the heads are
/// \param mode    which elements form a pair
/// \param device  the threads of an Eigen device, or the calling thread
///
/// - Errors:   eigen_rope::Error naming the argument, the rule and the value; both tensors are
///             checked before either is written.
/// - Aliasing: query and key may be heads side by side in one buffer, but may not share elements.
/// \see \ref operators "Operators"
EIGEN_ROPE_API void apply_rotary_pos_emb(const ApplyInputs& inputs, Layout layout, Mode mode,
                                         const Device& device = Device());

/// The chips whose limits device_check() knows.
enum class Chip {
  atlas_a2,   ///< Atlas A2.
  atlas_a3,   ///< Atlas A3.
  ascend_950  ///< Ascend 950.
};

/// Lists what a chip would refuse of a rotary_position_embedding() call that is valid here, one
/// sentence for each rule.
///
/// The list is empty if the chip would run the call as far as its pages tell. The function looks at
/// types, shapes and strides and never at data, which may be null.
/// \code{.cpp}
/// er::aclnn::Inputs inputs;
/// inputs.x.shape = {batch, tokens, heads, D};
/// inputs.cos.shape = inputs.sin.shape = {1, tokens, 1, D};
/// const std::vector<std::string> refused = er::aclnn::device_check(
///     inputs, er::aclnn::Mode::half, er::aclnn::Layout::bsnd, er::aclnn::Chip::atlas_a2);
/// \endcode
///
/// Two limits depend on numbers that the pages do not give. Whether the queries and keys of
/// ApplyRotaryPosEmb fit the chip's fast memory is not reported. The number of cores, on which
/// layout BNSD depends where half a row is no multiple of 32 bytes, is reported where any number is
/// too few.
///
/// - Errors:   eigen_rope::Error for a call that is not valid here either.
/// \see \ref operators "Operators"
EIGEN_ROPE_API std::vector<std::string> device_check(const Inputs& inputs, Mode mode, Layout layout,
                                                     Chip chip);
/// Lists what a chip would refuse of a rotary_position_embedding_grad() call that is valid here.
///
/// The gradients of the tables count as wanted where x is given. Errors, and the limits that are
/// not reported, are those of device_check() for the forward operator.
/// \code{.cpp}
/// er::aclnn::GradInputs inputs;
/// inputs.dy.shape = {batch, tokens, heads, D};
/// inputs.cos.shape = inputs.sin.shape = {1, tokens, 1, D};
/// const std::vector<std::string> refused = er::aclnn::device_check(
///     inputs, er::aclnn::Mode::half, er::aclnn::Layout::bsnd, er::aclnn::Chip::atlas_a2);
/// \endcode
EIGEN_ROPE_API std::vector<std::string> device_check(const GradInputs& inputs, Mode mode,
                                                     Layout layout, Chip chip);
/// Lists what a chip would refuse of an apply_rotary_pos_emb() call that is valid here.
///
/// Errors, and the limits that are not reported, are those of device_check() for the forward
/// operator.
/// \code{.cpp}
/// er::aclnn::ApplyInputs inputs;
/// inputs.query.shape = inputs.key.shape = {batch, tokens, heads, D};
/// inputs.cos.shape = inputs.sin.shape = {1, tokens, 1, D};
/// const std::vector<std::string> refused = er::aclnn::device_check(
///     inputs, er::aclnn::Mode::half, er::aclnn::Layout::bsnd, er::aclnn::Chip::ascend_950);
/// \endcode
EIGEN_ROPE_API std::vector<std::string> device_check(const ApplyInputs& inputs, Mode mode,
                                                     Layout layout, Chip chip);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn
