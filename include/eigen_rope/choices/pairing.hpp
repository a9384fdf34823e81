// SPDX-License-Identifier: Apache-2.0
//
// Which elements of a row form a pair, and which part of the row is rotated at all.
//
// With P pairs in a window of R = 2P rotary dims, pair k takes its members from slots (a, b) and
// puts them into slots (A, B):
//
//   split_half           (k, k+P)    -> the same slots      NeoX, Llama in Hugging Face's layout;
//                                                           aclnn mode 0, ggml neox
//   interleaved          (2k, 2k+1)  -> the same slots      GPT-J, Llama as published; aclnn mode
//                                                           1, ggml normal
//   quarter              split halves inside each half of the window: (k, k+P/2), and R/2 further
//                        on for k >= P/2; aclnn mode 2
//   interleaved_to_split_half  (2k, 2k+1)  -> (k, k+P)      DeepSeek's latent attention; aclnn mode
//                                                           3
//
// Slots count from the window's offset; what lies outside the window is copied bit for bit. Not the
// angles: those are the table's.
#pragma once

#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// The four ways of pairing listed above.
enum class PairKind { split_half, interleaved, quarter, interleaved_to_split_half };

/// The enumerator as text: `split_half`. Files and the program's options use these words.
EIGEN_ROPE_API const char* name_of(PairKind kind);

/// A run-time value: the kind of pair and the rotated window. Start from one of the constants below
/// and narrow it:
///
///     eigen_rope::split_half.with_rotary_dims(32).with_offset(8)
///
/// Whether the window fits a tensor is checked when it meets one.
class Pairing {
 public:
  /// Pairs of this kind over whole rows.
  constexpr explicit Pairing(PairKind kind) : kind_(kind) {}

  /// Rotates `dims` elements of each row (even; divisible by 4 for quarter). Without it: all from
  /// the offset to the row's end.
  constexpr Pairing with_rotary_dims(Index dims) const {
    Pairing p = *this;
    p.rotary_dims_ = dims;
    p.whole_row_ = false;
    return p;
  }
  /// The window begins at element `offset` of each row (default 0).
  constexpr Pairing with_offset(Index offset) const {
    Pairing p = *this;
    p.offset_ = offset;
    return p;
  }

  constexpr PairKind kind() const { return kind_; }   ///< Which elements form a pair.
  constexpr Index offset() const { return offset_; }  ///< Where the window begins.
  /// The window's width in a row of `head_size` elements.
  constexpr Index rotary_dims(Index head_size) const {
    return whole_row_ ? head_size - offset_ : rotary_dims_;
  }
  /// `split_half`, or with a window `interleaved, 32 dims from 8` (`interleaved, from 8` to the
  /// row's end).
  EIGEN_ROPE_API std::string text() const;

  /// The same pairs in the same window, whatever row it meets.
  friend constexpr bool operator==(const Pairing& a, const Pairing& b) {
    return a.kind_ == b.kind_ && a.offset_ == b.offset_ && a.whole_row_ == b.whole_row_ &&
           a.rotary_dims_ == b.rotary_dims_;
  }
  friend constexpr bool operator!=(const Pairing& a, const Pairing& b) { return !(a == b); }

 private:
  PairKind kind_;
  Index offset_ = 0;
  Index rotary_dims_ = 0;
  bool whole_row_ = true;
};

inline constexpr Pairing split_half{PairKind::split_half};    ///< (k, k+P)
inline constexpr Pairing interleaved{PairKind::interleaved};  ///< (2k, 2k+1)
inline constexpr Pairing quarter{
    PairKind::quarter};  ///< Split halves inside each half of the window.
inline constexpr Pairing interleaved_to_split_half{
    PairKind::interleaved_to_split_half};  ///< (2k, 2k+1) -> (k, k+P)

/// Writes text().
EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Pairing& pairing);

/// Where a pair takes its members from (a, b) and where it puts them (A, B), counted from the
/// window's offset.
struct PairSlots {
  Index a;  ///< Read first.
  Index b;  ///< Read second.
  Index A;  ///< Written first.
  Index B;  ///< Written second.
};

/// The slots of pair `k`, 0 <= k < rotary_dims / 2.
constexpr PairSlots pair_slots(PairKind kind, Index k, Index rotary_dims) {
  const Index pairs = rotary_dims / 2;
  switch (kind) {
    case PairKind::split_half: return {k, k + pairs, k, k + pairs};
    case PairKind::interleaved: return {2 * k, 2 * k + 1, 2 * k, 2 * k + 1};
    case PairKind::interleaved_to_split_half: return {2 * k, 2 * k + 1, k, k + pairs};
    case PairKind::quarter: break;
  }
  const Index quarter_size = pairs / 2;
  const Index first = k < quarter_size ? k : pairs + (k - quarter_size);
  return {first, first + quarter_size, first, first + quarter_size};
}

}  // namespace eigen_rope
