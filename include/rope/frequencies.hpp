// SPDX-License-Identifier: Apache-2.0
//
// How fast each pair turns, and the magnitude of the rotation.
//
//   rate_k = linear_scale * base^(-2 e_k / exponent_dims) / factor_k        radians per token; e_k = k unless told otherwise
//   m      = attention_factor
//
// YaRN (Peng et al. 2023, arXiv 2309.00071), as ggml defines it, blends the scaled with the original rate:
//
//   r_k    = 1 - clamp((k - low) / max(0.001, high - low), 0, 1)            low, high: yarn_correction_dims()
//   rate_k = scaled_k (1 - r_k ext_factor) + original_k r_k ext_factor
//   m      = attention_factor * (1 + 0.1 ln(1 / linear_scale))
//
// so r_k = 1 keeps the ORIGINAL (extrapolated) angle and r_k = 0 takes the scaled (interpolated) one; a widely read walkthrough has it
// the other way round. Rates and m are carried to about 2^-96, finer than double. Not here: positions, and anything read from a file.
#pragma once

#include <vector>

#include "rope/double_double.hpp"
#include "rope/shape.hpp"

namespace rope {

/// Parameters of Frequencies::powers.
struct Powers {
  /// Width of the rotated window (n_dims), even; there are rotary_dims / 2 pairs.
  Index rotary_dims = 0;
  /// freq_base, rope_theta; > 0.
  double base = 10000.0;
  /// Multiplies every rate; > 0. ggml's freq_scale; Hugging Face's `factor` is its reciprocal.
  double linear_scale = 1.0;
  /// m; finite. Negative and zero are allowed (zero has no inverse).
  double attention_factor = 1.0;
  /// Divides the rate of each pair; finite and not 0. Empty for none, otherwise at least one per pair; more are ignored.
  std::vector<double> factors{};
  /// The power of each pair (Sections::exponents); empty for 0, 1, 2, ...; otherwise exactly one per pair.
  std::vector<Index> exponents{};
  /// d of base^(-2e/d); 0 for rotary_dims. ggml's vision mode has d = rotary_dims / 2.
  Index exponent_dims = 0;
};

/// What YaRN adds to Powers. With ext_factor 0 it changes nothing, m included.
struct Yarn {
  double ext_factor = 1.0;
  /// n_ctx_orig, in tokens. 0 is valid: both correction dims are then -infinity before clamping.
  Index original_context = 0;
  /// Turns within the original context above which a pair keeps its rate; >= 0. 0 is valid: +infinity before clamping.
  double beta_fast = 32.0;
  /// Turns below which a pair is interpolated fully; >= 0.
  double beta_slow = 1.0;
};

/// First and last pair of YaRN's ramp, clamped as ggml does: max(0, floor(.)) and min(dims - 1, ceil(.)).
struct CorrectionDims {
  double low;
  double high;
};

/// c(beta) = dims ln(original_context / (2 pi beta)) / (2 ln base) for beta_fast and beta_slow, rounded outwards and clamped.
/// For 128 dims, base 10000, context 4096 and betas 32 and 1: {20, 46}. Source: ggml_rope_yarn_corr_dims.
CorrectionDims yarn_correction_dims(Index dims, double base, const Yarn& yarn);

/// base * factor^(dims / (dims - 2)): the base that stretches the slowest pair by `factor` and leaves the fastest alone ("NTK-aware").
/// dims > 2, factor > 0.
double ntk_base(Index dims, double base, double factor);

/// One rate (radians per token) for each pair, and the attention factor. Immutable; safe to share between threads.
class Frequencies {
 public:
  /// Throws rope::Error for odd or non-positive dims, base <= 0, scale <= 0, non-finite values, zero factors, too few of them.
  static Frequencies powers(const Powers& powers);
  /// The same, and for negative betas or context, or base 1.
  static Frequencies yarn(const Powers& powers, const Yarn& yarn);
  /// Rates as given, in radians per token; finite, any sign, at least one.
  static Frequencies explicit_rates(const std::vector<double>& rates, double attention_factor = 1.0);
  static Frequencies explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  Index pairs() const { return static_cast<Index>(rates_.size()); }
  const std::vector<DoubleDouble>& rates() const { return rates_; }
  DoubleDouble attention_factor() const { return attention_factor_; }

 private:
  Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor);

  std::vector<DoubleDouble> rates_;
  DoubleDouble attention_factor_;
};

}  // namespace rope
