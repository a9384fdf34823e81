// SPDX-License-Identifier: Apache-2.0
//
// The table in stock Eigen Tensor operations, step by step as compilers for neural processors
// decompose it (P pairs, S tokens):
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
// All in double; 9 is the full-width table of eigen_rope::composed::rotate and of Ascend's
// operator. 14 operations, 10 P + 7 PS values of temporaries. Plain double loses |position| * 2^-53
// radians and more in the power: compare with Cache, do not use it instead. One axis of positions,
// exponents 0, 1, 2, ....
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"

namespace eigen_rope::composed {

using Vector = Eigen::Tensor<double, 1>;  ///< A list of numbers, one per pair.
using Matrix = Eigen::Tensor<double, 2>;  ///< The first axis is the fastest.

/// Every step of the decomposition, by its number above.
struct TableSteps {
  Vector arange;   ///< [P]
  Vector powers;   ///< [P]
  Vector divided;  ///< [P]
  Vector scaled;   ///< [P]
  Vector rates;    ///< [P]
  Matrix outer;    ///< [S, P]
  Matrix angles;   ///< [P, S]
  Matrix cos;      ///< [R, S]
  Matrix sin;      ///< [R, S]
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

/// The steps for these parameters (checked as Frequencies checks them) and positions.
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
    const Vector place = (steps.arange - dims.low) / std::max(0.001, dims.high - dims.low);
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

}  // namespace eigen_rope::composed
