// SPDX-License-Identifier: Apache-2.0
//
// The pairing: which elements of a row form a pair, and which part of the row is rotated.
//
// A window of R = 2P rotary dims of a row holds P pairs. Pair k reads its members from the slots
// (a, b) and writes them to the slots (A, B), all counted from the window's offset:
//
//   split_half           (k, k+P)    -> the same slots      GPT-NeoX, Llama in Hugging Face's
//                                                           format; aclnn mode 0, ggml neox
//   interleaved          (2k, 2k+1)  -> the same slots      GPT-J, Llama as published; aclnn mode
//                                                           1, ggml normal
//   quarter              (k, k+P/2) for k < P/2, (k+P/2, k+P) for the others: split halves inside
//                        each half of the window; aclnn mode 2
//   interleaved_to_split_half  (2k, 2k+1)  -> (k, k+P)      DeepSeek's latent attention; aclnn mode
//                                                           3
//
// A rotation copies what lies outside the window bit for bit. A row lies along one axis of x, the
// feature axis: the fastest one, unless along() names another. The angles by which pairs turn are
// in the table (tables/cache.hpp).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The ways in which the elements of a row form pairs.
///
/// \see Pairing, pair_slots(), \ref idea "The idea in pictures"
enum class PairKind {
  split_half,   ///< Element k of the first half with element k of the second: (k, k+P).
  interleaved,  ///< Neighbours: (2k, 2k+1).
  quarter,      ///< Split halves inside each half of the window.
  /// Reads neighbours and writes split halves: (2k, 2k+1) to (k, k+P).
  interleaved_to_split_half
};

/// Returns the enumerator's name as text: `split_half`.
///
/// Files and the options of the program use these words.
///
/// \code{.cpp}
/// std::cout << er::name_of(er::PairKind::interleaved);  // interleaved
/// \endcode
EIGEN_ROPE_API const char* name_of(PairKind kind);

/// A way of forming pairs, together with the axis that rows lie along and the window of each row
/// that is rotated.
///
/// It is a small value that is chosen when the program runs. Start from one of the constants
/// split_half, interleaved, quarter and interleaved_to_split_half, whose window is the whole row
/// along the fastest axis. Nothing in a tensor shows the pairing that its model was trained for.
///
/// \code{.cpp}
/// const er::Pairing pairing = er::split_half.with_rotary_dims(32).with_offset(8);
/// y = er::rotate(x, er::Cache<float>(er::Frequencies::powers({32}), positions), pairing);
/// \endcode
///
/// - Errors:   none here; a rotation throws eigen_rope::Error if the window does not fit its x.
///
/// \see rotate(), \ref pitfalls "Pitfalls"
class Pairing {
 public:
  /// Makes a pairing of this kind over whole rows.
  constexpr explicit Pairing(PairKind kind) : kind_(kind) {}

  /// Returns this pairing with a window of `dims` elements.
  ///
  /// \code{.cpp}
  /// const er::Pairing first_half = er::interleaved.with_rotary_dims(D / 2);
  /// \endcode
  ///
  /// \param dims  the number of rotated elements of each row; positive and even, and divisible by 4
  ///              for quarter. Without it the window ends with the row
  constexpr Pairing with_rotary_dims(Index dims) const {
    Pairing p = *this;
    p.rotary_dims_ = dims;
    p.whole_row_ = false;
    return p;
  }
  /// Returns this pairing with a window that begins at element `offset` of each row.
  ///
  /// \code{.cpp}
  /// const er::Pairing last_half = er::split_half.with_offset(D / 2);
  /// \endcode
  ///
  /// \param offset  0 or more; 0 is the default
  constexpr Pairing with_offset(Index offset) const {
    Pairing p = *this;
    p.offset_ = offset;
    return p;
  }

  /// Returns this pairing of rows that lie along axis `axis` of x: its feature axis.
  ///
  /// Axes are counted in the order of x's own indices, so that `q(batch, token, head, d)` has its
  /// features on axis 3 whether q is ColMajor or RowMajor. Without it the feature axis is the
  /// fastest one: the first in ColMajor, the last in RowMajor, axis 0 of a StridedView.
  ///
  /// \code{.cpp}
  /// Eigen::Tensor<float, 3> z(tokens, heads, D);  // ColMajor: the features are the slowest axis
  /// z.setRandom();
  /// z = er::rotate(z, cache, er::split_half.along(2));
  /// \endcode
  ///
  /// \param axis  0 or more, and less than the rank of every x that is rotated with it
  ///
  /// \see \ref index_order "Features on any axis"
  constexpr Pairing along(int axis) const {
    Pairing p = *this;
    p.axis_ = axis;
    p.fastest_axis_ = false;
    return p;
  }

  constexpr PairKind kind() const { return kind_; }   ///< Which elements form a pair.
  constexpr Index offset() const { return offset_; }  ///< The first element of the window.
  /// Returns the width of the window in a row of `head_size` elements.
  constexpr Index rotary_dims(Index head_size) const {
    return whole_row_ ? head_size - offset_ : rotary_dims_;
  }
  /// Returns the feature axis, or nothing where it is the fastest one.
  constexpr std::optional<int> axis() const {
    return fastest_axis_ ? std::nullopt : std::optional<int>(axis_);
  }
  /// Returns the pairing as text: `split_half`, or `interleaved, 32 dims from 8` for a window, or
  /// `interleaved, from 8` for a window that ends with the row, or `split_half along axis 2`.
  EIGEN_ROPE_API std::string text() const;

  /// Returns whether both form the same pairs in the same window along the same axis.
  ///
  /// A window that ends with the row differs from one with a given width, even where a row makes
  /// them equally wide. A fastest axis that along() names differs from one that it does not.
  friend constexpr bool operator==(const Pairing& a, const Pairing& b) {
    return a.kind_ == b.kind_ && a.offset_ == b.offset_ && a.whole_row_ == b.whole_row_ &&
           a.rotary_dims_ == b.rotary_dims_ && a.axis() == b.axis();
  }
  /// Returns whether the kinds, the windows or the axes differ.
  friend constexpr bool operator!=(const Pairing& a, const Pairing& b) { return !(a == b); }

 private:
  PairKind kind_;
  Index offset_ = 0;
  Index rotary_dims_ = 0;
  bool whole_row_ = true;
  bool fastest_axis_ = true;
  int axis_ = 0;
};

/// The pairs (k, k+P) over whole rows.
inline constexpr Pairing split_half{PairKind::split_half};
/// The pairs (2k, 2k+1) over whole rows.
inline constexpr Pairing interleaved{PairKind::interleaved};
/// The pairs of split_half inside each half of whole rows.
inline constexpr Pairing quarter{PairKind::quarter};
/// The pairs (2k, 2k+1) over whole rows, written to the slots (k, k+P).
inline constexpr Pairing interleaved_to_split_half{PairKind::interleaved_to_split_half};

/// Writes text() of a pairing to a stream.
///
/// \code{.cpp}
/// std::cout << er::interleaved.with_rotary_dims(32);  // interleaved, 32 dims from 0
/// \endcode
EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Pairing& pairing);

/// The four elements of a row that one pair reads and writes, counted from the window's offset.
///
/// A rotation reads the members of the pair from (a, b) and writes them to (A, B). pair_slots()
/// makes it.
///
/// \code{.cpp}
/// const er::PairSlots slots = er::pair_slots(er::PairKind::split_half, 3, D);
/// const float before = x(slots.a, 0, 0, 0), after = y(slots.A, 0, 0, 0);
/// \endcode
struct PairSlots {
  Index a;  ///< The element that is read as the first member.
  Index b;  ///< The element that is read as the second member.
  Index A;  ///< The element to which the first member is written.
  Index B;  ///< The element to which the second member is written.
};

/// Returns the slots of one pair.
///
/// \code{.cpp}
/// const er::PairSlots first = er::pair_slots(er::PairKind::split_half, 0, 8);  // a = 0, b = 4
/// \endcode
///
/// \param kind         which elements form a pair
/// \param k            the pair, from 0 to rotary_dims / 2 - 1; it is not checked
/// \param rotary_dims  the width of the window, even, and divisible by 4 for quarter
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
