// SPDX-License-Identifier: Apache-2.0
//
// One token's row of cos and sin, formed on the fly: decoding with no table.
//
//   eigen_rope::TokenRow<float> row(frequencies);                           once, by each thread
//   q = eigen_rope::rotate(q, row.at(position), eigen_rope::split_half);    each token
//
// k and the other layers read the same row.
//
// Entries are bit for bit those of Cache for the same position: any int64, fractional, negative.
// The row is a table with one token, so it serves x of any rank and layout whose rows all stand at
// that position. Not several tokens (Cache), and not shared: at() overwrites the row (GrowingCache
// is what threads share).
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/table.hpp"
#include "eigen_rope/tables/detail/row_filler.hpp"

namespace eigen_rope {

/// Scalar: float, double, long double, Eigen::half, Eigen::bfloat16. Copies are independent, for
/// another thread say, and share what the rates cost. Expressions read the row when they are
/// evaluated, so evaluate them before the next at().
///
/// - Threads:  one thread at a time may use an object.
template <class Scalar>
class TokenRow {
 public:
  /// The row of position 0. Throws eigen_rope::Error if a rate is larger than 2^40 in size.
  explicit TokenRow(const Frequencies& frequencies) : TokenRow(frequencies, std::nullopt) {}

  /// For tokens with a position on each axis.
  TokenRow(const Frequencies& frequencies, const Sections& sections)
      : TokenRow(frequencies, std::optional<Sections>(sections)) {}

  /// Makes this the row of `position`, on every axis if there are several, and returns it. Number
  /// is any integer or floating-point type Positions takes.
  ///
  /// - Errors:   eigen_rope::Error, the row unchanged, if the position is not finite or larger than
  ///             2^63 in size.
  /// - Cost:     nothing if it is that row already; else O(pairs), and nothing is allocated.
  template <class Number>
  const TokenRow& at(Number position) {
    const DoubleDouble exact = exactly(position);
    if (!stands_at(exact)) {
      filler_->fill_one(exact, cos_.data(), sin_.data());
      position_ = exact;
      mixed_ = false;
    }
    return *this;
  }

  /// The same with one position for each axis of the Sections.
  ///
  /// - Errors:   eigen_rope::Error, the row unchanged, also for any other number of positions than
  ///             there are axes.
  template <class Number>
  const TokenRow& at(const std::vector<Number>& positions) {
    if (static_cast<int>(positions.size()) != axes_) {
      detail::fail("positions must be one per axis (" + std::to_string(axes_) + ")",
                   static_cast<std::int64_t>(positions.size()));
    }
    for (const Number position : positions) exactly(position);
    for (std::size_t k = 0; k < axis_.size(); ++k)
      mixed_positions_[k] = exactly(positions[static_cast<std::size_t>(axis_[k])]);
    filler_->fill_mixed(mixed_positions_.data(), cos_.data(), sin_.data());
    mixed_ = true;
    return *this;
  }

  /// Points into this object, which must outlive it; holds the row of whatever position it stands
  /// at when it is read.
  TableView<Scalar> view() const {
    return {cos_.data(), sin_.data(), pairs(), Shape(), determinants_};
  }

  Index pairs() const { return static_cast<Index>(cos_.size()); }  ///< Entries of the row.
  const Scalar* cos() const { return cos_.data(); }                ///< pairs() entries.
  const Scalar* sin() const { return sin_.data(); }                ///< As cos().

 private:
  TokenRow(const Frequencies& frequencies, const std::optional<Sections>& sections)
      : filler_(std::make_shared<const detail::RowFiller>(frequencies)),
        axes_(sections ? sections->axes() : 1),
        determinants_(detail::determinants_for(frequencies.attention_factor().high)) {
    const auto pairs = static_cast<std::size_t>(frequencies.pairs());
    cos_.resize(pairs);
    sin_.resize(pairs);
    mixed_positions_.resize(pairs);
    for (Index k = 0; k < frequencies.pairs(); ++k)
      axis_.push_back(sections ? sections->axis(k) : 0);
    filler_->fill_one(position_, cos_.data(), sin_.data());
  }

  bool stands_at(DoubleDouble position) const { return !mixed_ && position == position_; }

  template <class Number>
  static DoubleDouble exactly(Number position) {
    static_assert(std::is_arithmetic_v<Number>, "positions are integers or floating-point numbers");
    static_assert(!(std::is_unsigned_v<Number> && sizeof(Number) >= sizeof(std::int64_t)) &&
                      !std::is_same_v<Number, long double>,
                  "positions are held as int64 or double");
    if constexpr (std::is_integral_v<Number>) {
      return DoubleDouble::from_integer(static_cast<std::int64_t>(position));
    } else {
      const auto value = static_cast<double>(position);
      detail::require_finite("position", value);
      detail::require_table_position(value);
      return value;
    }
  }

  std::shared_ptr<const detail::RowFiller> filler_;
  int axes_;
  detail::Determinants determinants_;
  DoubleDouble position_;  // where the row stands unless it is mixed
  bool mixed_ = false;
  std::vector<int> axis_;
  std::vector<DoubleDouble> mixed_positions_;
  detail::AlignedVector<Scalar> cos_;
  detail::AlignedVector<Scalar> sin_;

  static_assert(
      detail::is_plain<Scalar>,
      "[rope] a token row must hold float, double, long double, Eigen::half or Eigen::bfloat16");
};

}  // namespace eigen_rope
