// SPDX-License-Identifier: Apache-2.0
//
// ggml's RoPE under its own names and rules: ggml_rope_ext and ggml_rope_multi with their _inplace
// and _back forms.
//
//   a [ne0, ne1, ne2, ne3] = [head size, heads, tokens, batch], ne0 fastest; byte strides nb
//   b [ne2], or [4 ne2] for the multi-axis modes: positions, shared by all batches
//
//   mode 0   normal   pairs (2k, 2k+1)
//   mode 2   neox     pairs (k, k + n_dims/2)
//   mode 8   mrope    half pairs, sections t, h, w, e one after the other
//   mode 40  imrope   half pairs, sections taken in turn
//   mode 24  vision   half pairs over all of ne0, n_dims = ne0/2; rates restart in each section
//
// These functions check and translate a call, and the library's own rotation computes it at once;
// there is no graph. Angles are exact by default, where ggml's lose digits with the position (see
// Precision). Where ggml aborts, reads past an end or returns NaN, these functions throw
// eigen_rope::Error. Source: ggml 0.21.0.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::ggml {

inline constexpr std::int32_t mode_normal = 0;   ///< Neighbours are pairs: interleaved.
inline constexpr std::int32_t mode_neox = 2;     ///< Pairs across the halves: split_half.
inline constexpr std::int32_t mode_mrope = 8;    ///< Split halves, sections one after another.
inline constexpr std::int32_t mode_vision = 24;  ///< Sections whose exponents restart.
inline constexpr std::int32_t mode_imrope = 40;  ///< Split halves, sections in turn.

/// The extents of a tensor in elements, fastest axis first (ne).
using Extents = std::array<std::int64_t, 4>;
/// The bytes from one index to the next, fastest axis first (nb); the first is the element's size.
using ByteStrides = std::array<std::size_t, 4>;

/// Returns the byte strides of a dense tensor: {size, size ne0, size ne0 ne1, size ne0 ne1 ne2}.
///
/// \code{.cpp}
/// const er::ggml::Extents ne{D, heads, tokens, batch};
/// const er::ggml::ByteStrides nb = er::ggml::dense_strides(er::ScalarType::f16, ne);
/// \endcode
///
/// - Errors:   eigen_rope::Error for a negative extent, or a size that does not fit 63 bits.
EIGEN_ROPE_API ByteStrides dense_strides(ScalarType type, const Extents& ne);

/// A view of a tensor that is read; it does not own its data.
///
/// \code{.cpp}
/// const er::ggml::ConstTensor a = er::ggml::dense(x.data(), {D, heads, tokens, batch});
/// \endcode
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  const void* data = nullptr;         ///< The first element.
  Extents ne{};                       ///< The extents, fastest axis first.
  ByteStrides nb{};                   ///< The strides in bytes.
};

/// A view of a tensor that is written; it does not own its data.
///
/// \code{.cpp}
/// er::ggml::Tensor dst = er::ggml::dense(y.data(), {D, heads, 1, batch});  // the first token
/// dst.nb[3] = sizeof(float) * D * heads * tokens;
/// \endcode
struct Tensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  void* data = nullptr;               ///< The first element.
  Extents ne{};                       ///< The extents, fastest axis first.
  ByteStrides nb{};                   ///< The strides in bytes.

  /// Returns a view of the same tensor for reading.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, ne, nb}; }
};

/// Makes a view of a dense tensor that is written.
///
/// \code{.cpp}
/// const er::ggml::Tensor dst = er::ggml::dense(y.data(), {D, heads, tokens, batch});
/// \endcode
///
/// \param data  the first element
/// \param ne    the extents, fastest axis first
///
/// - Errors:   eigen_rope::Error for a negative extent, or a size that does not fit 63 bits.
template <class Scalar>
Tensor dense(Scalar* data, const Extents& ne) {
  return {scalar_type<Scalar>, data, ne, dense_strides(scalar_type<Scalar>, ne)};
}
/// Makes a view of a dense tensor that is read.
///
/// Arguments and errors are those of dense() for a tensor that is written.
/// \code{.cpp}
/// const float* elements = x.data();
/// const er::ggml::ConstTensor a = er::ggml::dense(elements, {D, heads, tokens, batch});
/// \endcode
template <class Scalar>
ConstTensor dense(const Scalar* data, const Extents& ne) {
  return {scalar_type<Scalar>, data, ne, dense_strides(scalar_type<Scalar>, ne)};
}

/// The operator's parameters under ggml's names, with the values of ggml_rope.
///
/// \code{.cpp}
/// er::ggml::RopeParams params;
/// params.n_dims = 64;
/// params.mode = er::ggml::mode_neox;
/// params.freq_base = 500000.0F;
/// \endcode
/// \see \ref operators "Operators" for ggml's words and this library's
struct RopeParams {
  /// The number of rotated elements of a row: even and positive, with n_offs + n_dims <= ne0. In
  /// mode vision it is ne0/2, and all of the row rotates.
  std::int32_t n_dims = 0;
  std::int32_t mode = mode_normal;  ///< One of the modes above.
  /// The tokens of the original context, for YaRN; not negative.
  std::int32_t n_ctx_orig = 0;
  float freq_base = 10000.0F;  ///< The base of the powers; positive.
  float freq_scale = 1.0F;     ///< The factor of the rates; positive.
  float ext_factor = 0.0F;     ///< The weight of YaRN's unscaled rates; 0 turns YaRN off.
  /// The factor of cos and sin; finite. With an ext_factor, 1 + 0.1 ln(1/freq_scale) comes on top.
  float attn_factor = 1.0F;
  float beta_fast = 0.0F;  ///< The turns from which on YaRN keeps a pair's rate; not negative.
  float beta_slow = 0.0F;  ///< The turns below which YaRN scales a pair fully; not negative.
  /// The lengths of the sections t, h, w and e in pairs, for the multi-axis modes only. None is
  /// negative, one of the first three is positive, and their sum is at most ne0. Sections shorter
  /// than the pairs wrap around.
  std::array<std::int32_t, 4> sections{};
  /// The first rotated element of each row (ggml_rope_set_offset); 0 in mode vision.
  std::int32_t n_offs = 0;
  /// The divisors of the rates, ggml's tensor c: finite and not 0, at least one for each pair;
  /// empty for none. More than needed are ignored.
  std::vector<float> freq_factors{};
};

/// The 16 words in which a ggml node keeps its parameters.
///
/// [1] n_dims, [2] mode, [4] n_ctx_orig, [5] to [10] the bits of freq_base, freq_scale, ext_factor,
/// attn_factor, beta_fast and beta_slow, [11] to [14] sections, [15] n_offs. Words 0 and 3 are
/// unused: they are written as 0 and not read. The words do not hold freq_factors.
using OpParams = std::array<std::int32_t, 16>;
/// Writes the operator's parameters as the words of a ggml node; freq_factors are left out.
///
/// \code{.cpp}
/// const er::ggml::RopeParams params{64, er::ggml::mode_neox};
/// const er::ggml::OpParams words = er::ggml::encode_op_params(params);
/// \endcode
EIGEN_ROPE_API OpParams encode_op_params(const RopeParams& params);
/// Reads the operator's parameters from the words of a ggml node; freq_factors stay empty.
///
/// \code{.cpp}
/// const er::ggml::OpParams words{0, 64, er::ggml::mode_neox};
/// const er::ggml::RopeParams params = er::ggml::decode_op_params(words);
/// \endcode
EIGEN_ROPE_API RopeParams decode_op_params(const OpParams& words);

/// Returns the first and the last pair of YaRN's ramp, as ggml_rope_yarn_corr_dims does.
///
/// It reads n_dims, n_ctx_orig, freq_base, beta_fast and beta_slow.
/// \code{.cpp}
/// er::ggml::RopeParams params{128, er::ggml::mode_neox, 4096};
/// params.beta_fast = 32;
/// params.beta_slow = 1;
/// const er::CorrectionDims<> ramp = er::ggml::yarn_corr_dims(params);  // low 20, high 46
/// \endcode
///
/// - Errors:   eigen_rope::Error naming ggml's parameter, for one outside its range and for base 1.
EIGEN_ROPE_API CorrectionDims<> yarn_corr_dims(const RopeParams& params);

/// A reference to the positions of the tokens, ggml's tensor b; it does not own them.
///
/// There is one position for each token, or, in the multi-axis modes, four lists of them: all t,
/// all h, all w, all e.
/// \code{.cpp}
/// const std::vector<std::int32_t> ids{0, 1, 2, 3};
/// const er::ggml::PositionIds b = ids;
/// \endcode
class PositionIds {
 public:
  /// Refers to `count` positions of 32 bits.
  PositionIds(const std::int32_t* ids, std::int64_t count) : narrow_(ids), count_(count) {}
  /// Refers to `count` positions of 64 bits.
  PositionIds(const std::int64_t* ids, std::int64_t count) : wide_(ids), count_(count) {}
  /// Refers to all of a list of int32 or int64, which must outlive this object.
  template <class Id>
  // NOLINTNEXTLINE(google-explicit-constructor): a list of positions is one
  PositionIds(const std::vector<Id>& ids)
      : PositionIds(ids.data(), static_cast<std::int64_t>(ids.size())) {}

  std::int64_t count() const { return count_; }  ///< The number of positions.
  /// Returns whether the pointer is null.
  bool missing() const { return narrow_ == nullptr && wide_ == nullptr; }
  /// Returns position i, 0 <= i < count(); i is not checked.
  std::int64_t operator[](std::int64_t i) const {
    return narrow_ != nullptr ? narrow_[i] : wide_[i];
  }

 private:
  const std::int32_t* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
  std::int64_t count_ = 0;
};

/// The way the angles are formed.
enum class Precision {
  /// Angles that are exact to the last bit at every position, as Cache forms them.
  exact,
  /// ggml's own arithmetic in float, whose error grows with the position.
  float_recurrence
};

/// The choices that ggml's parameters do not make.
///
/// \code{.cpp}
/// er::ggml::Options options;
/// options.precision = er::ggml::Precision::float_recurrence;
/// options.device = pool;
/// \endcode
/// \see float_recurrence_cache()
struct Options {
  Precision precision = Precision::exact;  ///< Exact unless ggml's own rounding is wanted.
  /// The threads that work; the result has the same bits for any number of them.
  Device device{};
};

// The next four functions translate ggml's parameters, for those who make the table once and use it
// for every layer:
//   rotate_to(y, x, cos_sin_cache<float>(...), pairing(params, ne0), Direction::forward)

/// Returns the rates and the attention factor of ggml's parameters, for rows of ne0 elements.
///
/// \code{.cpp}
/// const er::ggml::RopeParams params{64, er::ggml::mode_neox};
/// const er::Frequencies f = er::ggml::frequencies(params, D);
/// \endcode
///
/// - Errors:   eigen_rope::Error naming ggml's parameter, for one outside its range.
EIGEN_ROPE_API Frequencies frequencies(const RopeParams& params, std::int64_t ne0);
/// Returns the positions in `b` as this library's Positions.
///
/// In the multi-axis modes they come with the sections that give each pair its axis.
/// \code{.cpp}
/// const std::vector<std::int64_t> ids{7, 8, 9};
/// const er::Positions p = er::ggml::positions(er::ggml::RopeParams{}, ids, 3);
/// \endcode
///
/// \param params  its mode and sections are read
/// \param b       `tokens` positions, or four times as many in the multi-axis modes
/// \param tokens  the number of tokens, ne2
///
/// - Errors:   eigen_rope::Error for an unknown mode, sections that have no meaning, or another
///             number of positions.
EIGEN_ROPE_API Positions positions(const RopeParams& params, const PositionIds& b,
                                   std::int64_t tokens);
/// Returns the pairing and the window of ggml's parameters, in rows of ne0 elements.
///
/// \code{.cpp}
/// const er::ggml::RopeParams params{32, er::ggml::mode_neox};
/// const er::Pairing pairs = er::ggml::pairing(params, D);  // split_half, 32 dims
/// \endcode
///
/// - Errors:   eigen_rope::Error for an unknown mode, or a window that does not fit ne0.
EIGEN_ROPE_API Pairing pairing(const RopeParams& params, std::int64_t ne0);
/// Makes the table [pairs, 1, tokens] of ggml's parameters and positions, which serves all layers.
///
/// \code{.cpp}
/// const er::ggml::RopeParams params{64, er::ggml::mode_neox};
/// const std::vector<std::int32_t> ids(tokens);  // the positions
/// const auto table = er::ggml::cos_sin_cache<float>(params, ids, D, tokens);
/// er::rotate_to(y, x, table, er::ggml::pairing(params, D), er::Direction::forward);
/// \endcode
///
/// \param b          `tokens` positions, or four times as many in the multi-axis modes
/// \param ne0        the number of elements of a row
/// \param tokens     the number of tokens, ne2
/// \param precision  exact, or ggml's own arithmetic, for which Scalar must be float
/// \tparam Scalar    float or double
///
/// - Errors:   eigen_rope::Error naming ggml's parameter, for one outside its range; for another
///             number of positions; and for the float recurrence in double.
/// - Cost:     O(tokens * pairs).
template <class Scalar>
EIGEN_ROPE_API Cache<Scalar> cos_sin_cache(const RopeParams& params, const PositionIds& b,
                                           std::int64_t ne0, std::int64_t tokens,
                                           Precision precision = Precision::exact);

/// Rotates `a` into `dst` by one position for each token, as ggml_rope_ext does.
///
/// The modes are normal and neox.
/// \code{.cpp}
/// const er::ggml::RopeParams params{64, er::ggml::mode_neox};
/// const std::vector<std::int32_t> ids(tokens);  // the positions
/// const er::ggml::Extents ne{D, heads, tokens, batch};
/// er::ggml::rope_ext(er::ggml::dense(y.data(), ne), er::ggml::dense(x.data(), ne), ids, params);
/// \endcode
///
/// \param dst      the result, of a's type and extents; its rows must not share elements
/// \param a        f32, f16, bf16 (computed in float and rounded once) or f64; nb[0] is the
///                 element's size, the other strides are any multiples of it
/// \param b        ne2 positions
/// \param params   the operator's parameters
/// \param options  the precision of the angles, and threads
///
/// - Errors:   eigen_rope::Error for everything that ggml asserts, and where ggml would read past
///             an end, loop for ever or return NaN; nothing is written then.
/// - Aliasing: dst may be a itself; it must not overlap a otherwise.
/// \see rope_multi(), \ref operators "Operators"
EIGEN_ROPE_API void rope_ext(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                             const RopeParams& params, const Options& options = {});
/// Rotates `a` in place by one position for each token, as ggml_rope_ext_inplace does.
///
/// Modes, arguments and errors are those of rope_ext().
/// \code{.cpp}
/// const er::ggml::RopeParams params{64, er::ggml::mode_neox};
/// const std::vector<std::int32_t> ids(tokens);  // the positions
/// er::ggml::rope_ext_inplace(er::ggml::dense(q.data(), {D, heads, tokens, batch}), ids, params);
/// \endcode
EIGEN_ROPE_API void rope_ext_inplace(const Tensor& a, const PositionIds& b,
                                     const RopeParams& params, const Options& options = {});
/// Computes the gradient of rope_ext(): applies the transposed rotation to the gradient `a`.
///
/// The transpose keeps the magnitude, so it is no inverse where that is not 1. It honours
/// n_offs, which ggml's own ignores. Modes, arguments, errors and aliasing are those of rope_ext().
/// \code{.cpp}
/// const er::ggml::RopeParams params{64, er::ggml::mode_neox};
/// const std::vector<std::int32_t> ids(tokens);  // the positions
/// const er::ggml::Extents ne{D, heads, tokens, batch};
/// er::ggml::rope_ext_back(er::ggml::dense(dx.data(), ne), er::ggml::dense(dy.data(), ne), ids,
///                         params);
/// \endcode
/// \see rotate_backward(), \ref pitfalls "Pitfalls"
EIGEN_ROPE_API void rope_ext_back(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                                  const RopeParams& params, const Options& options = {});

/// Rotates `a` into `dst` in any mode, several positions for each token included, as
/// ggml_rope_multi does.
///
/// `b` has 4 ne2 positions in the multi-axis modes, and ne2 in normal and neox, which ignore the
/// sections. The other arguments, errors and aliasing are those of rope_ext().
/// \code{.cpp}
/// er::ggml::RopeParams params{64, er::ggml::mode_mrope};
/// params.sections = {8, 12, 12, 0};
/// const std::vector<std::int32_t> ids(4 * tokens);  // all t, all h, all w, all e
/// const er::ggml::Extents ne{D, heads, tokens, batch};
/// er::ggml::rope_multi(er::ggml::dense(y.data(), ne), er::ggml::dense(x.data(), ne), ids, params);
/// \endcode
/// \see Sections
EIGEN_ROPE_API void rope_multi(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                               const RopeParams& params, const Options& options = {});
/// Rotates `a` in place in any mode, as ggml_rope_multi_inplace does.
///
/// Modes, arguments and errors are those of rope_multi().
/// \code{.cpp}
/// er::ggml::RopeParams params{32, er::ggml::mode_vision};
/// params.sections = {16, 16, 0, 0};
/// const std::vector<std::int32_t> ids(4 * tokens);  // all t, all h, all w, all e
/// er::ggml::rope_multi_inplace(er::ggml::dense(q.data(), {D, heads, tokens, batch}), ids, params);
/// \endcode
EIGEN_ROPE_API void rope_multi_inplace(const Tensor& a, const PositionIds& b,
                                       const RopeParams& params, const Options& options = {});
/// Computes the gradient of rope_multi(): applies the transposed rotation to the gradient `a`.
///
/// Modes, arguments, errors and aliasing are those of rope_multi().
/// \code{.cpp}
/// er::ggml::RopeParams params{64, er::ggml::mode_imrope};
/// params.sections = {12, 10, 10, 0};
/// const std::vector<std::int32_t> ids(4 * tokens);  // all t, all h, all w, all e
/// const er::ggml::Extents ne{D, heads, tokens, batch};
/// er::ggml::rope_multi_back(er::ggml::dense(dx.data(), ne), er::ggml::dense(dy.data(), ne), ids,
///                           params);
/// \endcode
/// \see rotate_backward(), \ref gradients "Gradients"
EIGEN_ROPE_API void rope_multi_back(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                                    const RopeParams& params, const Options& options = {});

}  // namespace eigen_rope::EIGEN_ROPE_ABI::ggml
