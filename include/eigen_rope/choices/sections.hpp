// SPDX-License-Identifier: Apache-2.0
//
// Which position axis turns each pair, for models whose tokens have several positions.
//
// In text a token has one position. In images and video it may have up to four: t, h, w and e, for
// time, height, width and an extra one, which are the axes 0 to 3. The pairs of a row are dealt to
// the axes by lengths L_0 ... L_(n-1), which are counted in pairs. For pair p and
// q = p mod (L_0 + ... + L_(n-1)) the axis is
//
//   contiguous         the section that q falls into (multi-axis RoPE of Qwen2-VL; ggml's mrope)
//   vision             as contiguous; the exponent of the rate starts again in every section:
//                      exponent(p) = q - start of the section (ggml's vision)
//   interleaved_ggml   h if q%3==1 and q < 3 L_h; w if q%3==2 and q < 3 L_w; t if q%3==0 and
//                      q < 3 L_t; else e (ggml's imrope)
//   interleaved_hf     h if p%3==1 and p < 3 L_h; w if p%3==2 and p < 3 L_w; else t (Hugging
//                      Face's, for Qwen3-VL)
//
// The two interleaved patterns differ in the last pairs. For [24, 20, 20], the pairs 60 to 63 have
// the axes t e e t in ggml's pattern and t t t t in Hugging Face's.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

namespace detail {

/// Section lengths sum to less than this many pairs.
inline constexpr Index max_section_total = Index{1} << 31;

}  // namespace detail

/// The rules by which pairs are dealt to the position axes.
enum class SectionPattern {
  contiguous,  ///< The axes follow one another, each for the length of its section; 1 to 4 axes.
  /// The axes follow one another, and the exponents of the rates start again with each of them; 1
  /// to 4 axes.
  vision,
  /// The axes t, h, w take turns while each lasts, and e has the rest, as in ggml's imrope; 4 axes.
  interleaved_ggml,
  /// The axes t, h, w take turns while h and w last, and t has the rest, as in Hugging Face's
  /// Qwen3-VL; 3 axes.
  interleaved_hf
};

/// Returns the enumerator's name as text: `interleaved_hf`.
///
/// \code{.cpp}
/// std::cout << er::name_of(er::SectionPattern::vision);  // vision
/// \endcode
EIGEN_ROPE_API const char* name_of(SectionPattern pattern);

/// A rule that says which position axis turns each pair, for tokens with several positions.
///
/// Positions::multi_axis() takes it together with the positions.
///
/// \code{.cpp}
/// const er::Sections sections(er::SectionPattern::interleaved_hf, {12, 10, 10});
/// const std::vector<int> ids(3 * tokens, 7);  // all times, then all rows, then all columns
/// const er::Cache<float> table(frequencies, er::Positions::multi_axis(ids, sections));
/// \endcode
///
/// - Threads:  immutable but for assignment; safe to share between threads.
///
/// \see Positions::multi_axis(), \ref cookbook "Cookbook"
class EIGEN_ROPE_API Sections {
 public:
  /// Makes sections of these lengths.
  ///
  /// \param pattern  the rule by which pairs are dealt to the axes
  /// \param lengths  pairs of each axis, in the order t, h, w, e
  ///
  /// - Errors:   eigen_rope::Error if one is negative, if all of the first three are zero, if they
  ///             sum to 2^31 or more, or if their number does not suit the pattern (contiguous and
  ///             vision 1 to 4; interleaved_hf 3; interleaved_ggml 4).
  Sections(SectionPattern pattern, std::vector<Index> lengths);

  /// Returns the rule by which pairs are dealt to the axes.
  SectionPattern pattern() const { return pattern_; }
  /// Returns the number of position axes, 1 to 4.
  int axes() const { return static_cast<int>(lengths_.size()); }
  /// Returns the length of each section, in pairs, one per axis.
  const std::vector<Index>& lengths() const { return lengths_; }
  /// Returns the axis whose position turns `pair`, which is 0 or more.
  int axis(Index pair) const;
  /// Returns the power of the base that the rate of `pair` takes: the pair itself, except for
  /// vision.
  Index exponent(Index pair) const;
  /// Returns the exponents of the first `pairs` pairs, in the form that Powers::exponents takes.
  ///
  /// \code{.cpp}
  /// const er::Sections sections(er::SectionPattern::vision, {D / 4, D / 4});  // rows and columns
  /// er::Powers powers{D, 100.0};
  /// powers.exponents = sections.exponents(D / 2);
  /// powers.exponent_dims = D / 2;
  /// \endcode
  ///
  /// - Errors:   eigen_rope::Error if `pairs` is negative or too large to count.
  /// - Cost:     O(pairs).
  std::vector<Index> exponents(Index pairs) const;

  /// Returns the pattern and the lengths as text: `contiguous [16, 24, 24]`.
  std::string text() const;

  /// Returns whether both have the same pattern and the same lengths.
  friend bool operator==(const Sections& a, const Sections& b) {
    return a.pattern_ == b.pattern_ && a.lengths_ == b.lengths_;
  }
  /// Returns whether the patterns or the lengths differ.
  friend bool operator!=(const Sections& a, const Sections& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Sections& sections);

 private:
  struct Place {
    int axis;
    Index start;
  };
  Place contiguous_place(Index q) const;

  SectionPattern pattern_;
  std::vector<Index> lengths_;
  Index total_ = 0;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
