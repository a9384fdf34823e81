// SPDX-License-Identifier: Apache-2.0
//
// How fast each pair turns, and the magnitude of the rotation: what a table is made from.
//
//   rate_k = linear_scale * base^(-2 e_k / exponent_dims) / factor_k        radians per token; e_k = k unless told otherwise
//   m      = attention_factor
//
// and what every scaling makes of them: the formulas and their parameters are in rates.hpp and scalings.hpp, for any scalar.
// YaRN's ramp r_k is 1 where a pair keeps its ORIGINAL (extrapolated) angle and 0 where it takes the scaled (interpolated) one; a widely
// read walkthrough has it the other way round. Here the formulas run in double-double: rates and m are carried to about 2^-96, finer than
// double. Not here: positions, and anything read from a file.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "eigen_rope/choices/rates.hpp"
#include "eigen_rope/choices/scalings.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// One rate (radians per token) for each pair, and the attention factor. Immutable; safe to share between threads.
class EIGEN_ROPE_API Frequencies {
 public:
  /// Throws eigen_rope::Error for odd or non-positive dims, base <= 0, scale <= 0, non-finite values, zero factors, too few of them.
  static Frequencies powers(const Powers& powers);
  /// The same, and for negative betas or context, or base 1.
  static Frequencies ggml_yarn(const Powers& powers, const GgmlYarn& yarn);
  /// As powers, and for a factor that is not positive, negative freq factors or context, or a high freq factor below the low one.
  static Frequencies llama3(const Powers& powers, const Llama3& llama3);
  /// f_k / factor (Hugging Face's linear). As powers, and for a factor that is not positive.
  static Frequencies linear(const Powers& powers, double factor);
  /// p-RoPE: zero rates behind the rotated pairs. As linear, and if there are not so many pairs.
  static Frequencies proportional(const Powers& powers, const Proportional& proportional);
  /// For a sequence of `length` tokens (DynamicNtk keeps count). As powers, and for 2 dims, a factor or context that is not positive, a
  /// negative length, or a base that overflows.
  static Frequencies dynamic_ntk(const Powers& powers, const DynamicNtkScaling& ntk, Index length);
  /// vLLM's fixed and mixed NTK. As powers, and for a factor that is not positive or a negative mixed_b.
  static Frequencies ntk(const Powers& powers, const NtkScaling& ntk);
  /// YaRN as Hugging Face and DeepSeek have it. As powers, and for a factor, context or beta that is not positive, or base 1.
  static Frequencies yarn(const Powers& powers, const Yarn& yarn);
  /// For a sequence of `length` tokens. As powers, and for lists that are not one non-zero number per pair, frequency factors beside them,
  /// a factor or context that is not positive, a negative length.
  static Frequencies longrope(const Powers& powers, const LongRope& longrope, Index length);
  /// Rates as given, in radians per token; finite, any sign, at least one.
  static Frequencies explicit_rates(const std::vector<double>& rates, double attention_factor = 1.0);
  /// The same with the digits a double has no room for.
  static Frequencies explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  Index pairs() const { return static_cast<Index>(rates_.size()); }    ///< The number of rates, at least 1.
  const std::vector<DoubleDouble>& rates() const { return rates_; }    ///< Radians per token.
  DoubleDouble attention_factor() const { return attention_factor_; }  ///< m, for all tokens and pairs.
  /// `64 pairs, 1 to 0.00011548 rad a token, m = 1`
  std::string text() const;

  /// The same rates and attention factor, digit for digit.
  friend EIGEN_ROPE_API bool operator==(const Frequencies& a, const Frequencies& b);
  friend bool operator!=(const Frequencies& a, const Frequencies& b) { return !(a == b); }
  /// Writes text().
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Frequencies& frequencies);

 private:
  Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  std::vector<DoubleDouble> rates_;
  DoubleDouble attention_factor_;
};

}  // namespace eigen_rope
