// SPDX-License-Identifier: Apache-2.0
//
// The frequencies: how fast each pair turns, and the magnitude m of the rotation.
//
// Frequencies and positions make a table. Without a scaling the frequencies are
//
//   rate_k = linear_scale * base^(-2 e_k / exponent_dims) / factor_k
//                       radians per token; e_k = k unless Powers::exponents says otherwise
//   m      = attention_factor
//
// A scaling changes them:
//
//   eigen_rope::Frequencies f({128, 5e5}, eigen_rope::Llama3{8.0, 1.0, 4.0, 8192});
//
// The formulas and their parameters are those of Powers (powers.hpp) and of each scaling
// (scaling.hpp), where they hold for any scalar. Here they run in double-double, so that rates and
// m are carried to about 2^-96, finer than double. Positions are in positions.hpp; what a file says
// about its model's frequencies is read by models/hugging_face.hpp and models/gguf.hpp.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// One rate for each pair, in radians per token, and the attention factor m.
///
/// m multiplies every entry of cos and sin in a table. It is 1 for plain RoPE, and usually larger
/// for YaRN and LongRoPE.
///
/// \code{.cpp}
/// const er::Frequencies plain = er::Frequencies::powers({D, 10000.0});
/// const er::Frequencies longer({D, 10000.0}, er::Linear{4.0});
/// const er::Cache<float> table(longer, positions);
/// \endcode
///
/// - Threads:  immutable but for assignment; safe to share between threads.
///
/// \see Powers, Scaling, Cache, \ref scalings "Scalings, with plots"
class EIGEN_ROPE_API Frequencies {
 public:
  /// Makes the frequencies that a scaling turns the powers into.
  ///
  /// \code{.cpp}
  /// const er::Frequencies f({128, 500000.0}, er::Llama3{8.0, 1.0, 4.0, 8192});
  /// \endcode
  ///
  /// \param powers   the rates before scaling
  /// \param scaling  any scaling
  /// \param length   the number of tokens of the sequence; it matters only where
  ///                 depends_on_length() of the scaling is true
  ///
  /// - Errors:   eigen_rope::Error as the rates() of the scaling, and for a negative length.
  /// - Cost:     O(pairs).
  explicit Frequencies(const Powers<>& powers, const Scaling& scaling, Index length = 0);
  /// Makes the frequencies of the powers alone, without a scaling.
  ///
  /// \code{.cpp}
  /// const er::Frequencies f = er::Frequencies::powers({D, 10000.0});
  /// \endcode
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates().
  /// - Cost:     O(pairs).
  static Frequencies powers(const Powers<>& powers);
  /// Makes frequencies from rates that are given one by one, such as learned ones.
  ///
  /// \code{.cpp}
  /// const std::vector<double> rates(D / 2, 0.01);
  /// const er::Frequencies learned = er::Frequencies::explicit_rates(rates);
  /// \endcode
  ///
  /// \param rates             radians per token, one per pair; finite, of any sign, at least one
  /// \param attention_factor  m; finite
  ///
  /// - Errors:   eigen_rope::Error if there are no rates, or if a rate or m is not finite.
  /// - Cost:     O(pairs).
  static Frequencies explicit_rates(const std::vector<double>& rates,
                                    double attention_factor = 1.0);
  /// Makes frequencies from rates in double-double, which have digits that a double has no room
  /// for.
  ///
  /// \code{.cpp}
  /// std::vector<er::DoubleDouble> rates = frequencies.rates();
  /// rates.resize(8);  // the fastest pairs
  /// const er::Frequencies fast = er::Frequencies::explicit_rates(rates, 1.0);
  /// \endcode
  ///
  /// Errors and cost are those of the overload for doubles.
  static Frequencies explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  /// Returns the number of pairs, at least 1; each has one rate.
  Index pairs() const { return static_cast<Index>(rates_.size()); }
  /// Returns the rate of every pair, in radians per token.
  const std::vector<DoubleDouble>& rates() const { return rates_; }
  /// Returns m, which is the same for all tokens and pairs.
  DoubleDouble attention_factor() const { return attention_factor_; }
  /// Returns the number of pairs, the first and the last rate, and m as text:
  /// `64 pairs, 1 to 0.00011548 rad a token, m = 1`.
  std::string text() const;

  /// Returns whether both have the same rates and the same attention factor, digit for digit.
  friend EIGEN_ROPE_API bool operator==(const Frequencies& a, const Frequencies& b);
  /// Returns whether a rate or the attention factor differs.
  friend bool operator!=(const Frequencies& a, const Frequencies& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream,
                                                 const Frequencies& frequencies);

 private:
  explicit Frequencies(Rates<DoubleDouble> rates);
  Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  std::vector<DoubleDouble> rates_;
  DoubleDouble attention_factor_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
