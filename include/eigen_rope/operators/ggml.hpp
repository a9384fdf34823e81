// SPDX-License-Identifier: Apache-2.0
//
// ggml's RoPE, under its own names and rules: ggml_rope_ext, ggml_rope_multi, their _inplace and
// _back forms.
//
//   a [ne0, ne1, ne2, ne3] = [head size, heads, tokens, batch], ne0 fastest; byte strides nb; one
//       position per token (four for the
//   multi-axis modes), shared by all batches.
//
//   mode 0  normal   pairs (2k, 2k+1)          mode 8   mrope
//                       half pairs, sections t, h, w, e one after the other
//   mode 2  neox     pairs (k, k + n_dims/2)   mode 40  imrope   half pairs, sections taken in turn
//                                              mode 24  vision
//                       all of ne0 rotates, n_dims = ne0/2; rates restart
//
// Checks and translates; the core does the rest. Answers are exact by default where ggml's lose
// digits with the position; see Precision. Where ggml aborts, reads past an end or returns NaN,
// these throw eigen_rope::Error. Source: ggml 0.21.0. Not a graph: nothing is deferred.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/scalar_type.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::ggml {

inline constexpr std::int32_t mode_normal = 0;   ///< Neighbours: interleaved.
inline constexpr std::int32_t mode_neox = 2;     ///< Halves: half.
inline constexpr std::int32_t mode_mrope = 8;    ///< Sections one after another.
inline constexpr std::int32_t mode_vision = 24;  ///< As mrope, with exponents that restart.
inline constexpr std::int32_t mode_imrope = 40;  ///< Sections in turn.

/// Extents (fastest first) and byte strides of a tensor. nb[0] must be the element's size.
using Extents = std::array<std::int64_t, 4>;
/// Bytes from one index to the next, fastest axis first (nb).
using ByteStrides = std::array<std::size_t, 4>;

/// The strides of a dense tensor: {size, size ne0, size ne0 ne1, size ne0 ne1 ne2}.
EIGEN_ROPE_API ByteStrides dense_strides(ScalarType type, const Extents& ne);

/// A tensor that is read. It does not own its data.
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< Of the elements.
  const void* data = nullptr;         ///< The first element.
  Extents ne{};                       ///< Extents, fastest first.
  ByteStrides nb{};                   ///< Strides in bytes.
};

/// A tensor that is written.
struct Tensor {
  ScalarType type = ScalarType::f32;  ///< Of the elements.
  void* data = nullptr;               ///< The first element.
  Extents ne{};                       ///< Extents, fastest first.
  ByteStrides nb{};                   ///< Strides in bytes.

  /// The same, only read.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, ne, nb}; }
};

/// A dense tensor over `data`.
template <class Scalar>
Tensor dense(Scalar* data, const Extents& ne) {
  return {scalar_type<Scalar>, data, ne, dense_strides(scalar_type<Scalar>, ne)};
}
/// A dense tensor that is only read.
template <class Scalar>
ConstTensor dense(const Scalar* data, const Extents& ne) {
  return {scalar_type<Scalar>, data, ne, dense_strides(scalar_type<Scalar>, ne)};
}

/// The operator's parameters under ggml's names, with the values of ggml_rope.
struct RopeParams {
  /// Rotated dims of each row: even, 0 < n_dims and n_offs + n_dims <= ne0. Vision: ne0/2, and all
  /// of the row rotates.
  std::int32_t n_dims = 0;
  std::int32_t mode = mode_normal;  ///< One of the modes above.
  /// Tokens of the original context, for YaRN; 0 is valid.
  std::int32_t n_ctx_orig = 0;
  float freq_base = 10000.0F;  ///< > 0
  float freq_scale = 1.0F;     ///< > 0
  float ext_factor = 0.0F;     ///< 0 turns YaRN off
  float attn_factor = 1.0F;    ///< finite; with ext_factor, 1 + 0.1 ln(1/freq_scale) comes on top
  float beta_fast = 0.0F;      ///< >= 0
  float beta_slow = 0.0F;      ///< >= 0
  /// In pairs, for the axes t, h, w, e; multi-axis modes only. Not negative, one of the first three
  /// positive, sum at most ne0. Sections shorter than the pairs wrap around.
  std::array<std::int32_t, 4> sections{};
  /// First rotated dim of each row (ggml_rope_set_offset); not for vision.
  std::int32_t n_offs = 0;
  /// One divisor of the rate per pair, finite and not 0; empty for none; more than needed are
  /// ignored. ggml's tensor c.
  std::vector<float> freq_factors{};
};

/// ggml's 16 words: [1] n_dims, [2] mode, [4] n_ctx_orig, [5] to [10] the bits of freq_base,
/// freq_scale, ext_factor, attn_factor, beta_fast, beta_slow, [11] to [14] sections, [15] n_offs.
/// Words 0 and 3 are unused: written as 0, not read. freq_factors is no part.
using OpParams = std::array<std::int32_t, 16>;
/// The words of the operator's parameters.
EIGEN_ROPE_API OpParams encode_op_params(const RopeParams& params);
/// The parameters in the words.
EIGEN_ROPE_API RopeParams decode_op_params(const OpParams& words);

/// First and last pair of YaRN's ramp: ggml_rope_yarn_corr_dims of n_dims, n_ctx_orig, freq_base,
/// beta_fast and beta_slow.
EIGEN_ROPE_API CorrectionDims<> yarn_corr_dims(const RopeParams& params);

/// A reference to int32 or int64 positions: one per token, or four lists (all t, all h, all w, all
/// e) for the multi-axis modes.
class PositionIds {
 public:
  /// `count` positions, not owned.
  PositionIds(const std::int32_t* ids, std::int64_t count) : narrow_(ids), count_(count) {}
  /// The same, 64 bits wide.
  PositionIds(const std::int64_t* ids, std::int64_t count) : wide_(ids), count_(count) {}
  /// All of the list, which must outlive this object.
  template <class Id>
  // NOLINTNEXTLINE(google-explicit-constructor): a list of positions is one
  PositionIds(const std::vector<Id>& ids)
      : PositionIds(ids.data(), static_cast<std::int64_t>(ids.size())) {}

  std::int64_t count() const { return count_; }  ///< How many.
  bool missing() const {
    return narrow_ == nullptr && wide_ == nullptr;
  }  ///< Whether the pointer is null.
  /// Position i, 0 <= i < count().
  std::int64_t operator[](std::int64_t i) const {
    return narrow_ != nullptr ? narrow_[i] : wide_[i];
  }

 private:
  const std::int32_t* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
  std::int64_t count_ = 0;
};

/// How the angles are formed.
enum class Precision {
  exact,            ///< angles to the last bit at every position (Cache)
  float_recurrence  ///< ggml's own arithmetic, error growing with the position
                    ///< (float_recurrence.hpp)
};

/// What ggml's parameters do not say.
struct Options {
  Precision precision = Precision::exact;  ///< Exact unless ggml's own rounding is wanted.
  /// The result has the same bits for any number of threads.
  Device device{};
};

// The translation, for those who want to make the table once and use it for every layer:
//   rotate_to(y, x, cos_sin_cache<float>(...), pairing(params, ne0), Direction::forward)
// Each checks what it needs and throws eigen_rope::Error naming ggml's parameter.

/// Rates and attention factor for rows of ne0 elements.
EIGEN_ROPE_API Frequencies frequencies(const RopeParams& params, std::int64_t ne0);
/// `tokens` positions, or four times as many in the multi-axis modes, with the sections that give
/// each pair its axis.
EIGEN_ROPE_API Positions positions(const RopeParams& params, const PositionIds& b,
                                   std::int64_t tokens);
/// The pairs and the window of these parameters in rows of ne0 elements.
///
/// - Errors:   eigen_rope::Error as rope_ext.
EIGEN_ROPE_API Pairing pairing(const RopeParams& params, std::int64_t ne0);
/// The table [pairs, 1, tokens]. Scalar: float or double; the float recurrence has float only.
template <class Scalar>
EIGEN_ROPE_API Cache<Scalar> cos_sin_cache(const RopeParams& params, const PositionIds& b,
                                           std::int64_t ne0, std::int64_t tokens,
                                           Precision precision = Precision::exact);

/// dst = the rotation of a by one position per token. Modes normal and neox.
///
/// \param dst  of a's type and extents, rows apart; may be a itself, must not overlap it otherwise
/// \param a    f32, f16, bf16 (computed in float, rounded once) or f64; nb[0] the element's size,
///             other strides any multiple of it
/// \param b    ne2 positions
///
/// - Errors:   eigen_rope::Error for everything ggml asserts and everything it should; nothing is
///             written then.
EIGEN_ROPE_API void rope_ext(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                             const RopeParams& params, const Options& options = {});
/// The same where a lies.
EIGEN_ROPE_API void rope_ext_inplace(const Tensor& a, const PositionIds& b,
                                     const RopeParams& params, const Options& options = {});
/// The gradient: dst = the transposed rotation of the gradient a, the magnitude kept. Honours the
/// offset, which ggml's own ignores.
EIGEN_ROPE_API void rope_ext_back(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                                  const RopeParams& params, const Options& options = {});

/// The same for all modes; b has 4 ne2 positions in the multi-axis ones, and ne2 in normal and neox
/// (which ignore the sections).
EIGEN_ROPE_API void rope_multi(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                               const RopeParams& params, const Options& options = {});
/// The same where a lies.
EIGEN_ROPE_API void rope_multi_inplace(const Tensor& a, const PositionIds& b,
                                       const RopeParams& params, const Options& options = {});
/// The gradient of rope_multi: its transpose.
EIGEN_ROPE_API void rope_multi_back(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                                    const RopeParams& params, const Options& options = {});

}  // namespace eigen_rope::ggml
