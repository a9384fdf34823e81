// SPDX-License-Identifier: Apache-2.0
//
// The positions of tokens: where each token stands in its sequence.
//
// There are four ways to give them:
//
//   range        start, start + 1, ...: a prompt, or a step of decoding with a KV cache
//   ids          one position per token: packed sequences, gathered tokens, gaps, repeats
//   per_batch    one position per batch and token, [batch][token]
//   multi_axis   one position per axis, batch and token, [axis][batch][token], with the Sections
//                that give each pair its axis
//
// Positions are integers (every int64 is kept exactly) or doubles (fractional positions), and both
// may be negative. Which axis of x counts tokens is the Layout of the cache (layout.hpp).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// The number of sequences that a list of positions is for.
///
/// It is a type of its own so that a call names what it counts: `er::Batches{2}`.
///
/// \code{.cpp}
/// const std::vector<int> ids{7, 8, 9, 500, 501, 502};  // two sequences of three tokens
/// const er::Positions two = er::Positions::per_batch(ids, er::Batches{2});
/// \endcode
struct Batches {
  Index count = 1;  ///< The number of sequences; not negative, and 0 only without positions.
};

/// The positions of the tokens of one or more sequences.
///
/// The functions below make them. Where they take a list of a type Number, that is an integer or
/// floating-point type whose values fit int64 or double: no 64-bit unsigned type and no long
/// double. Positions and Frequencies make a Cache.
///
/// \code{.cpp}
/// const er::Positions prompt = er::Positions::range(0, tokens);
/// const er::Positions next = er::Positions::range(tokens, 1);  // one step of decoding
/// const er::Cache<float> table(frequencies, next);
/// \endcode
///
/// - Threads:  immutable but for assignment; safe to share between threads.
///
/// \see Cache, Sections, \ref cookbook "Cookbook"
class EIGEN_ROPE_API Positions {
 public:
  /// Makes the positions start, start + 1, ..., which all sequences share.
  ///
  /// \code{.cpp}
  /// const er::Positions next = er::Positions::range(tokens, 1);
  /// \endcode
  ///
  /// \param start   the position of the first token, of any sign
  /// \param tokens  the number of positions; not negative
  ///
  /// - Errors:   eigen_rope::Error if `tokens` is negative or the last position would pass int64.
  /// - Cost:     O(tokens).
  static Positions range(std::int64_t start, Index tokens);

  /// Makes positions from a list with one entry per token, which all sequences share.
  ///
  /// \code{.cpp}
  /// const std::vector<int> ids{0, 1, 2, 0, 1};  // two packed texts
  /// const er::Positions packed = er::Positions::ids(ids);
  /// \endcode
  ///
  /// \param ids  token s stands at ids[s]
  ///
  /// - Errors:   eigen_rope::Error if a position is not finite.
  /// - Cost:     O(tokens).
  template <class Number>
  static Positions ids(const std::vector<Number>& ids) {
    return Positions(exact(ids), 1, std::nullopt);
  }

  /// Makes positions that differ between sequences.
  ///
  /// \code{.cpp}
  /// const std::vector<int> ids{7, 500};  // sequence 0 stands at 7, sequence 1 at 500
  /// const er::Positions step = er::Positions::per_batch(ids, er::Batches{2});
  /// \endcode
  ///
  /// \param ids      token s of batch b stands at ids[b * tokens + s]
  /// \param batches  the number of sequences; the length of `ids` is a multiple of it
  ///
  /// - Errors:   eigen_rope::Error if the list does not divide into the batches, if their number is
  ///             negative, or if a position is not finite.
  /// - Cost:     O(batches * tokens).
  template <class Number>
  static Positions per_batch(const std::vector<Number>& ids, Batches batches) {
    return Positions(exact(ids), batches.count, std::nullopt);
  }

  /// Makes positions on several axes, such as the time, row and column of an image's patch.
  ///
  /// \code{.cpp}
  /// const er::Sections sections(er::SectionPattern::contiguous, {8, 12, 12});
  /// const std::vector<int> ids{0, 0, 5, 5, 3, 4};  // two tokens: times, rows, columns
  /// const er::Positions patches = er::Positions::multi_axis(ids, sections);
  /// \endcode
  ///
  /// \param ids       on axis a, token s of batch b stands at ids[(a * batches + b) * tokens + s]
  /// \param sections  the axes, and which pairs each of them turns
  /// \param batches   the number of sequences; 1 where all share their positions
  ///
  /// - Errors:   eigen_rope::Error if the list does not divide into axes and batches, if the number
  ///             of batches is negative, or if a position is not finite.
  /// - Cost:     O(axes * batches * tokens).
  template <class Number>
  static Positions multi_axis(const std::vector<Number>& ids, Sections sections,
                              Batches batches = {}) {
    return Positions(exact(ids), batches.count, std::move(sections));
  }

  /// Returns the number of tokens in each sequence.
  Index tokens() const { return tokens_; }
  /// Returns the number of sequences with positions of their own, or 1 where all share them.
  Index batches() const { return batches_; }
  /// Returns the number of positions that each token has, 1 to 4.
  int axes() const { return sections_ ? sections_->axes() : 1; }
  /// Returns the axis whose position turns `pair`; it is 0 without sections.
  int axis(Index pair) const { return sections_ ? sections_->axis(pair) : 0; }
  /// Returns the position of a token of a sequence on an axis; the indices are not checked.
  DoubleDouble at(int axis, Index batch, Index token) const {
    return values_[static_cast<std::size_t>((axis * batches_ + batch) * tokens_ + token)];
  }

  /// Returns the numbers of tokens, batches and axes as text: `512 tokens`, or
  /// `2 batches of 512 tokens on 3 axes`.
  std::string text() const;

  /// Returns whether both hold the same numbers for the same tokens, batches and axes.
  ///
  /// Positions on several axes also need equal Sections to be equal.
  friend EIGEN_ROPE_API bool operator==(const Positions& a, const Positions& b);
  /// Returns whether a number, an extent or the Sections differ.
  friend bool operator!=(const Positions& a, const Positions& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Positions& positions);

 private:
  Positions(std::vector<DoubleDouble> values, Index batches, std::optional<Sections> sections);

  template <class Number>
  static std::vector<DoubleDouble> exact(const std::vector<Number>& ids) {
    static_assert(std::is_arithmetic_v<Number>, "positions are integers or floating-point numbers");
    static_assert(!(std::is_unsigned_v<Number> && sizeof(Number) >= sizeof(std::int64_t)) &&
                      !std::is_same_v<Number, long double>,
                  "positions are held as int64 or double");
    std::vector<DoubleDouble> values;
    values.reserve(ids.size());
    for (const Number id : ids) {
      if constexpr (std::is_integral_v<Number>) {
        values.push_back(DoubleDouble::from_integer(static_cast<std::int64_t>(id)));
      } else {
        values.push_back(finite(static_cast<double>(id)));
      }
    }
    return values;
  }
  static DoubleDouble finite(double id);

  std::vector<DoubleDouble> values_;
  Index batches_ = 1;
  Index tokens_ = 0;
  std::optional<Sections> sections_;
};

}  // namespace eigen_rope
