// SPDX-License-Identifier: Apache-2.0
//
// The table in stock Eigen Tensor operations, in the steps into which compilers for neural
// processors decompose it.
//
// With P pairs, S tokens and R = 2 P rotary dims:
//
//   1  arange     [P]      0, 1, 2, ...
//   2  powers     [P]      theta_scale ^ arange, theta_scale = base^(-2/d)
//   3  divided    [P]      / freq_factors
//   4  scaled     [P]      * freq_scale
//   5  rates      [P]      YaRN: scaled * (1 - mix) + divided * mix, mix = ramp * ext_factor;
//                          without YaRN: scaled
//   6  outer      [S, P]   positions x rates
//   7  angles     [P, S]   permuted
//   8  cos, sin   [P, S]   times the attention factor
//   9  cos, sin   [R, S]   repeated to full width, in the order of the pairing's output slots
//
// Everything is computed in double, in 14 operations with 10 P + 7 P S values of temporaries. Step
// 9 is the full-width table that composed::rotate() and Ascend's operator take. Plain double loses
// |position| * 2^-53 radians, and more in the power, so this table serves to compare with Cache and
// not to replace it. It knows one axis of positions and the exponents 0, 1, 2, ....
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::composed {

using Vector = Eigen::Tensor<double, 1>;  ///< A list of numbers, one for each pair.
using Matrix = Eigen::Tensor<double, 2>;  ///< A matrix whose first axis is the fastest.

/// The values of every step of the decomposition, for P pairs, S tokens and R = 2 P rotary dims.
///
/// \code{.cpp}
/// er::composed::TableSteps steps =
///     er::composed::table_steps({D, 10000.0}, std::nullopt, {0, 1, 2}, er::PairKind::split_half);
/// const auto table = er::table_of(steps.cos, steps.sin);
/// \endcode
struct TableSteps {
  Vector arange;   ///< Step 1, [P]: the numbers of the pairs.
  Vector powers;   ///< Step 2, [P]: theta_scale to the power of the pair's number.
  Vector divided;  ///< Step 3, [P]: the powers divided by the frequency factors.
  Vector scaled;   ///< Step 4, [P]: the divided powers times the linear scale.
  Vector rates;   ///< Step 5, [P]: the rates in radians per token, mixed by YaRN where it is given.
  Matrix outer;   ///< Step 6, [S, P]: the outer product of positions and rates.
  Matrix angles;  ///< Step 7, [P, S]: the angles in radians.
  Matrix cos;     ///< Step 9, [R, S]: the cosines times the attention factor, in full width.
  Matrix sin;     ///< Step 9, [R, S]: the sines times the attention factor, in full width.
};

namespace detail {

/// [P, S] -> [R, S]: each pair's entry at both of its output slots.
inline Matrix repeated(const Matrix& pairs, PairKind kind) {
  using Sizes2 = Eigen::DSizes<Eigen::Index, 2>;
  using Sizes3 = Eigen::DSizes<Eigen::Index, 3>;
  using Sizes4 = Eigen::DSizes<Eigen::Index, 4>;
  const Eigen::Index P = pairs.dimension(0);
  const Eigen::Index S = pairs.dimension(1);
  switch (kind) {
    case PairKind::split_half:
    case PairKind::interleaved_to_split_half: return pairs.broadcast(Sizes2(2, 1));
    case PairKind::interleaved:
      return pairs.reshape(Sizes3(1, P, S)).broadcast(Sizes3(2, 1, 1)).reshape(Sizes2(2 * P, S));
    case PairKind::quarter: break;
  }
  return pairs.reshape(Sizes4(P / 2, 1, 2, S))
      .broadcast(Sizes4(1, 2, 1, 1))
      .reshape(Sizes2(2 * P, S));
}

}  // namespace detail

/// Computes a table step by step in stock Eigen operations.
///
/// \code{.cpp}
/// er::Powers powers{D, 10000.0};
/// powers.linear_scale = 0.25;
/// const auto steps = er::composed::table_steps(powers, er::GgmlYarn<>{1.0, 4096}, {0, 1, 2},
///                                              er::PairKind::interleaved);
/// \endcode
///
/// \param powers     rotary dims, base, linear scale, frequency factors and attention factor
/// \param yarn       ggml's YaRN, or std::nullopt for the powers alone
/// \param positions  the position of each token
/// \param kind       the pairing whose output slots step 9 follows
///
/// - Errors:   eigen_rope::Error for parameters that Frequencies refuses, for exponents of their
///             own, and for rotary dims that are not divisible by 4 with PairKind::quarter.
/// - Error:    that of plain double arithmetic: |position| * 2^-53 radians and more.
/// - Cost:     O(P S).
/// \see Cache, whose angles are exact; \ref idea "The idea in pictures"
inline TableSteps table_steps(const Powers<>& powers, const std::optional<GgmlYarn<>>& yarn,
                              const std::vector<double>& positions, PairKind kind) {
  // Refuses what must be refused; its rates are not used.
  if (yarn) {
    (void)Frequencies(powers, *yarn);
  } else {
    (void)Frequencies::powers(powers);
  }
  if (!powers.exponents.empty())
    eigen_rope::detail::fail(
        "the composed table takes exponents 0, 1, 2, ... only, got a list of its own");
  if (kind == PairKind::quarter && powers.rotary_dims % 4 != 0) {
    eigen_rope::detail::fail("rotary dims must be divisible by 4 for quarter pairing",
                             static_cast<std::int64_t>(powers.rotary_dims));
  }
  const Eigen::Index P = powers.rotary_dims / 2;
  const auto S = static_cast<Eigen::Index>(positions.size());
  const auto d =
      static_cast<double>(powers.exponent_dims == 0 ? powers.rotary_dims : powers.exponent_dims);

  TableSteps steps;
  steps.arange = Vector(P);
  for (Eigen::Index k = 0; k < P; ++k) steps.arange(k) = static_cast<double>(k);
  const double log_theta_scale = -2.0 / d * std::log(powers.base);
  steps.powers = (steps.arange * log_theta_scale).exp();
  steps.divided = steps.powers;
  if (!powers.factors.empty()) {
    const Eigen::TensorMap<const Vector> factors(powers.factors.data(), P);
    steps.divided = steps.powers / factors;
  }
  steps.scaled = steps.divided * powers.linear_scale;
  steps.rates = steps.scaled;
  double magnitude = powers.attention_factor;
  if (yarn && yarn->ext_factor != 0) {
    const CorrectionDims<> dims = yarn_correction_dims(static_cast<Index>(d), powers.base, *yarn);
    const Vector place = (steps.arange - dims.low) / (std::max)(0.001, dims.high - dims.low);
    const Vector ramp = 1.0 - place.cwiseMax(0.0).cwiseMin(1.0);
    const Vector mix = ramp * yarn->ext_factor;
    steps.rates = steps.scaled * (1.0 - mix) + steps.divided * mix;
    magnitude *= 1.0 + 0.1 * std::log(1.0 / powers.linear_scale);
  }
  if (S == 0) {  // Eigen's broadcast asserts on empty tensors.
    steps.outer = Matrix(0, P);
    steps.angles = Matrix(P, 0);
    steps.cos = steps.sin = Matrix(2 * P, 0);
    return steps;
  }
  const Eigen::TensorMap<const Vector> tokens(positions.data(), S);
  using Sizes2 = Eigen::DSizes<Eigen::Index, 2>;
  steps.outer = tokens.reshape(Sizes2(S, 1)).broadcast(Sizes2(1, P)) *
                steps.rates.reshape(Sizes2(1, P)).broadcast(Sizes2(S, 1));
  steps.angles = steps.outer.shuffle(Sizes2(1, 0));
  const Matrix cos = steps.angles.unaryExpr([](double t) { return std::cos(t); }) * magnitude;
  const Matrix sin = steps.angles.unaryExpr([](double t) { return std::sin(t); }) * magnitude;
  steps.cos = detail::repeated(cos, kind);
  steps.sin = detail::repeated(sin, kind);
  return steps;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::composed
