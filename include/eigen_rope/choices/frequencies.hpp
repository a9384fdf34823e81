// SPDX-License-Identifier: Apache-2.0
//
// How fast each pair turns, and the magnitude of the rotation: what a table is made from.
//
//   rate_k = linear_scale * base^(-2 e_k / exponent_dims) / factor_k
//                       radians per token; e_k = k unless told otherwise
//   m      = attention_factor
//
// and what a scaling makes of them:
//
//   eigen_rope::Frequencies f({128, 5e5}, eigen_rope::Llama3{8.0, 1.0, 4.0, 8192});
//
// The formulas and their parameters are each scaling's own (scaling.hpp), for any scalar.
// YaRN's ramp r_k is 1 where a pair keeps its ORIGINAL (extrapolated) angle and 0 where it takes
// the scaled (interpolated) one; a widely read walkthrough has it the other way round. Here the
// formulas run in double-double: rates and m are carried to about 2^-96, finer than double. Not
// here: positions, and anything read from a file.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// One rate (radians per token) for each pair, and the attention factor.
///
/// - Threads:  immutable; safe to share between threads.
class EIGEN_ROPE_API Frequencies {
 public:
  /// What a scaling makes of the powers, for a sequence of `length` tokens, which matters only
  /// where depends_on_length.
  ///
  /// - Errors:   eigen_rope::Error as the rates() of the scaling, and for a negative length.
  /// - Cost:     O(pairs).
  explicit Frequencies(const Powers<>& powers, const Scaling& scaling, Index length = 0);
  /// The powers alone. Throws as Powers::rates.
  static Frequencies powers(const Powers<>& powers);
  /// Rates as given, in radians per token; finite, any sign, at least one.
  static Frequencies explicit_rates(const std::vector<double>& rates,
                                    double attention_factor = 1.0);
  /// The same with the digits a double has no room for.
  static Frequencies explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  Index pairs() const {
    return static_cast<Index>(rates_.size());
  }  ///< The number of rates, at least 1.
  const std::vector<DoubleDouble>& rates() const { return rates_; }  ///< Radians per token.
  DoubleDouble attention_factor() const {
    return attention_factor_;
  }  ///< m, for all tokens and pairs.
  /// `64 pairs, 1 to 0.00011548 rad a token, m = 1`
  std::string text() const;

  /// The same rates and attention factor, digit for digit.
  friend EIGEN_ROPE_API bool operator==(const Frequencies& a, const Frequencies& b);
  friend bool operator!=(const Frequencies& a, const Frequencies& b) { return !(a == b); }
  /// Writes text().
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream,
                                                 const Frequencies& frequencies);

 private:
  explicit Frequencies(Rates<DoubleDouble> rates);
  Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  std::vector<DoubleDouble> rates_;
  DoubleDouble attention_factor_;
};

}  // namespace eigen_rope
