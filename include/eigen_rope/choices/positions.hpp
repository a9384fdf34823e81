// SPDX-License-Identifier: Apache-2.0
//
// Where each token stands.
//
//   range        start, start + 1, ...                     a prompt, or a step of decoding behind a
//                                                          KV cache
//   ids          one position per token                    packed sequences, gathered tokens, gaps,
//                                                          repeats
//   per_batch    one per batch and token, [batch][token]
//   multi_axis   one per axis, batch and token, [axis][batch][token], with the Sections that give
//                each pair its axis
//
// Positions are integers (any int64, kept exactly) or doubles (fractional positions); both may be
// negative. Not the layout of a tensor: which axis is the token axis is the cache's Layout.
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

/// How many sequences a list of positions is for.
struct Batches {
  Index count = 1;  ///< Not negative; 0 only for no positions at all.
};

/// Number is any integer or floating-point type; floating values must be finite.
///
/// - Threads:  immutable; safe to share between threads.
class EIGEN_ROPE_API Positions {
 public:
  /// start, start + 1, ..., `tokens` of them.
  ///
  /// - Errors:   eigen_rope::Error if tokens is negative or the last one would pass int64.
  static Positions range(std::int64_t start, Index tokens);

  /// Token s stands at ids[s], in every sequence.
  template <class Number>
  static Positions ids(const std::vector<Number>& ids) {
    return Positions(exact(ids), 1, std::nullopt);
  }

  /// Token s of batch b stands at ids[b * tokens + s].
  ///
  /// - Errors:   eigen_rope::Error if the list does not divide into the batches.
  template <class Number>
  static Positions per_batch(const std::vector<Number>& ids, Batches batches) {
    return Positions(exact(ids), batches.count, std::nullopt);
  }

  /// On axis a, token s of batch b stands at ids[(a * batches + b) * tokens + s]. The list must
  /// divide into axes and batches.
  template <class Number>
  static Positions multi_axis(const std::vector<Number>& ids, Sections sections,
                              Batches batches = {}) {
    return Positions(exact(ids), batches.count, std::move(sections));
  }

  Index tokens() const { return tokens_; }  ///< In each sequence.
  Index batches() const {
    return batches_;
  }  ///< Sequences with positions of their own; 1 where all share them.
  int axes() const { return sections_ ? sections_->axes() : 1; }  ///< Positions of each token.
  /// The axis whose position turns `pair`; 0 without sections.
  int axis(Index pair) const { return sections_ ? sections_->axis(pair) : 0; }
  /// Where a token of a sequence stands on an axis. Indices are not checked.
  DoubleDouble at(int axis, Index batch, Index token) const {
    return values_[static_cast<std::size_t>((axis * batches_ + batch) * tokens_ + token)];
  }

  /// How many there are: `512 tokens`, `2 batches of 512 tokens on 3 axes`.
  std::string text() const;

  /// The same numbers for the same tokens, batches and axes.
  friend EIGEN_ROPE_API bool operator==(const Positions& a, const Positions& b);
  friend bool operator!=(const Positions& a, const Positions& b) { return !(a == b); }
  /// Writes text().
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
