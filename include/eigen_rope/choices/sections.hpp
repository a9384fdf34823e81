// SPDX-License-Identifier: Apache-2.0
//
// Which position axis (time, height, width, extra) turns each pair, for models whose tokens have
// several positions.
//
// With lengths L_0..L_(n-1) counted in pairs, pair p and q = p mod (L_0 + ... + L_(n-1)):
//
//   contiguous         the section q falls into (multi-axis RoPE of Qwen2-VL; ggml's mrope)
//   vision             the same, and the exponent of the rate restarts in each section: exponent(p)
//                      = q - start of the section
//   interleaved_ggml   ggml's imrope: h if q%3==1 and q < 3 L_h; w if q%3==2 and q < 3 L_w; t if
//                      q%3==0 and q < 3 L_t; else e
//   interleaved_hf     Hugging Face's (Qwen3-VL): h if p%3==1 and p < 3 L_h; w if p%3==2 and p < 3
//                      L_w; else t
//
// The two interleaved patterns differ in the last pairs: for [24, 20, 20] in pairs 60 to 63, ggml
// takes t e e t and Hugging Face t t t t. Not the rates themselves: exponent() only says which
// power of the base a pair takes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

namespace detail {

/// Section lengths sum to less than this many pairs.
inline constexpr Index max_section_total = Index{1} << 31;

}  // namespace detail

/// How pairs are dealt to the axes: the four rules above.
enum class SectionPattern { contiguous, vision, interleaved_ggml, interleaved_hf };

/// The enumerator as text: `interleaved_hf`.
EIGEN_ROPE_API const char* name_of(SectionPattern pattern);

/// Immutable; safe to share between threads.
class EIGEN_ROPE_API Sections {
 public:
  /// `lengths` in pairs, one per axis in the order t, h, w, e.
  ///
  /// - Errors:   eigen_rope::Error if one is negative, if all of the first three are zero, if they
  ///             sum to 2^31 or more, or if their number does not suit the pattern (contiguous and
  ///             vision 1 to 4; interleaved_hf 3; interleaved_ggml 4).
  Sections(SectionPattern pattern, std::vector<Index> lengths);

  SectionPattern pattern() const { return pattern_; }  ///< The rule.
  /// The number of position axes.
  int axes() const { return static_cast<int>(lengths_.size()); }
  const std::vector<Index>& lengths() const { return lengths_; }  ///< In pairs, one per axis.
  /// The axis whose position turns `pair`.
  int axis(Index pair) const;
  /// The power of the base the pair's rate takes: the pair itself, except for vision.
  Index exponent(Index pair) const;
  /// exponent(0) to exponent(pairs - 1), as Powers::exponents wants them.
  ///
  /// - Errors:   eigen_rope::Error if pairs is negative or too large to count.
  std::vector<Index> exponents(Index pairs) const;

  /// `contiguous [16, 24, 24]`
  std::string text() const;

  /// The same rule and lengths.
  friend bool operator==(const Sections& a, const Sections& b) {
    return a.pattern_ == b.pattern_ && a.lengths_ == b.lengths_;
  }
  friend bool operator!=(const Sections& a, const Sections& b) { return !(a == b); }
  /// Writes text().
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

}  // namespace eigen_rope
