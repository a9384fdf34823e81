// SPDX-License-Identifier: Apache-2.0
//
// The row of cos and sin of one token, formed when its position is known. A decoder that uses it
// needs no table:
//
//   eigen_rope::TokenRow<float> row(frequencies);  // once, by each thread
//   q = eigen_rope::rotate(q, row.at(position), eigen_rope::split_half);  // for each token
//   k = eigen_rope::rotate(k, row, eigen_rope::split_half);
//
// All layers read the same row. Its entries are bit for bit those of Cache for the same position,
// which may be any int64, fractional or negative. The row is a table of one token, so it serves x
// of any rank and layout whose rows all stand at that position.
//
// at() overwrites the row, so threads cannot share it: GrowingCache is made to be shared. Cache has
// the rows of several tokens.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// A table of one token, which owns its row and forms it anew for each position.
///
/// \code{.cpp}
/// Eigen::Tensor<float, 3> next_q(D, heads, 1), next_k(D, heads, 1);
/// er::TokenRow<float> row(frequencies);
/// er::rotate_inplace(next_q, row.at(4096), er::split_half);
/// er::rotate_inplace(next_k, row, er::split_half);
/// \endcode
///
/// Scalar is float, double, long double, Eigen::half or Eigen::bfloat16. Copies are independent of
/// each other, so that each thread can have its own; they share what was computed from the rates.
/// Expressions read the row when they are evaluated, so evaluate them before the next at().
///
/// - Threads:  one thread at a time may use an object.
/// - Error:    that of Cache's entries.
///
/// \see GrowingCache, Cache, \ref cookbook "Cookbook"
template <class Scalar>
class TokenRow {
 public:
  /// Makes the row of position 0.
  ///
  /// - Errors:   eigen_rope::Error if a rate is larger than 2^40 in size.
  explicit TokenRow(const Frequencies& frequencies) : TokenRow(frequencies, std::nullopt) {}

  /// Makes the row of position 0 on every axis, for tokens with several positions.
  ///
  /// \param frequencies  the rate of each pair, in radians per token, and m
  /// \param sections     which axis turns which pair
  ///
  /// - Errors:   eigen_rope::Error if a rate is larger than 2^40 in size.
  TokenRow(const Frequencies& frequencies, const Sections& sections)
      : TokenRow(frequencies, std::optional<Sections>(sections)) {}

  /// Makes this the row of `position`, on every axis if there are several, and returns it.
  ///
  /// \code{.cpp}
  /// er::TokenRow<float> row(frequencies);
  /// er::rotate_inplace(q, row.at(4096), er::split_half);  // every token of q stands at 4096
  /// er::rotate_inplace(k, row.at(17.5), er::split_half);  // a position may be fractional
  /// \endcode
  ///
  /// \param position  an integer or floating-point number of a type that Positions takes
  ///
  /// - Errors:   eigen_rope::Error, the row unchanged, if the position is not finite or larger than
  ///             2^63 in size.
  /// - Cost:     O(pairs), or nothing if it is that row already. Nothing is allocated.
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

  /// Makes this the row of a token with one position for each axis of the Sections, and returns it.
  ///
  /// \code{.cpp}
  /// const er::Sections sections(er::SectionPattern::contiguous, {8, 12, 12});
  /// er::TokenRow<float> row(frequencies, sections);
  /// er::rotate_inplace(q, row.at(std::vector<int>{3, 10, 25}), er::split_half);
  /// \endcode
  ///
  /// \param positions  one for each axis, in the order of the Sections
  ///
  /// - Errors:   eigen_rope::Error, the row unchanged, if there are more or fewer positions than
  ///             axes, or if one of them is not finite or larger than 2^63 in size.
  /// - Cost:     O(pairs), and nothing is allocated.
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

  /// Returns the row as a table that points into this object, which must outlive it.
  ///
  /// Whoever reads the view later finds the row of the position that was set last.
  TableView<Scalar> view() const {
    return {cos_.data(), sin_.data(), pairs(), Shape(), determinants_};
  }

  /// Returns the number of pairs, which is the number of entries in the row.
  Index pairs() const { return static_cast<Index>(cos_.size()); }
  /// Returns the cosines times m, one for each pair.
  const Scalar* cos() const { return cos_.data(); }
  /// Returns the sines times m, one for each pair.
  const Scalar* sin() const { return sin_.data(); }

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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
