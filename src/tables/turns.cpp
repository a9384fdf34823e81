// SPDX-License-Identifier: Apache-2.0
#include "tables/turns.hpp"

#include <array>
#include <cmath>

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

constexpr int steps = 128;
constexpr int octant = steps / 8;

/// The Taylor series, with enough terms for |x| <= pi/4.
CosSin series(DoubleDouble x) {
  CosSin sum{DoubleDouble(1), DoubleDouble(0)};
  DoubleDouble term(1);
  for (int n = 1; n <= 30; ++n) {
    term = term * x / DoubleDouble(n);
    DoubleDouble& part = n % 2 == 0 ? sum.cos : sum.sin;
    part = part + (n % 4 < 2 ? term : -term);
  }
  return sum;
}

/// cos and sin of k/128 of a turn: the series in the first octant, symmetry for the others.
std::array<CosSin, steps> make_steps() {
  std::array<CosSin, steps> table;
  for (int k = 0; k < steps; ++k) {
    const int quadrant = k / (2 * octant);
    const int rest = k % (2 * octant);
    const bool mirrored = rest > octant;
    const auto place = static_cast<double>(mirrored ? 2 * octant - rest : rest) / steps;
    CosSin v = series(two_pi * DoubleDouble(place));
    if (mirrored) v = {v.sin, v.cos};
    for (int q = 0; q < quadrant; ++q) v = {-v.sin, v.cos};
    table[static_cast<std::size_t>(k)] = v;
  }
  return table;
}

}  // namespace

DoubleDouble rate_in_turns(DoubleDouble rate) { return rate / two_pi; }

DoubleDouble part_of_turn(DoubleDouble position, DoubleDouble turns) {
  // Whole turns leave each exact part of the product.
  const DoubleDouble product = two_product(position.high, turns.high);
  const double cross = position.high * turns.low + position.low * turns.high;
  const double part_high = product.high - std::nearbyint(product.high);
  const double part_low = product.low - std::nearbyint(product.low);
  const double part_cross = cross - std::nearbyint(cross);
  return two_sum(part_high, part_low) + DoubleDouble(part_cross);
}

CosSin cos_sin_of_turns(DoubleDouble position, DoubleDouble turns) {
  static const std::array<CosSin, steps> table = make_steps();

  const DoubleDouble angle = part_of_turn(position, turns);
  const double k = std::nearbyint(angle.high * steps);
  const DoubleDouble rest = two_sum(angle.high - k / steps, angle.low);
  const CosSin& step = table[static_cast<std::size_t>(static_cast<int>(k) & (steps - 1))];

  // |x| <= pi/128 (a little more after rounding): the terms from x^5 on are below 2^-33 and may be
  // formed in double.
  const DoubleDouble x = rest * two_pi;
  const DoubleDouble square = x * x;
  const double z = square.high;
  const DoubleDouble sixth{1.0 / 6, 9.2518585385429707e-18};
  const DoubleDouble twenty_fourth{1.0 / 24, 2.3129646346357427e-18};
  const double sin_tail = x.high * z * z * (1.0 / 120 - z * (1.0 / 5040 - z / 362880));
  const DoubleDouble sin_rest = x - x * square * sixth + DoubleDouble(sin_tail);
  const double cos_tail = -z * z * z * (1.0 / 720 - z * (1.0 / 40320 - z / 3628800));
  const DoubleDouble cos_rest_less_1 =
      square * (square * twenty_fourth - DoubleDouble(0.5)) + DoubleDouble(cos_tail);

  return {step.cos + (step.cos * cos_rest_less_1 - step.sin * sin_rest),
          step.sin + (step.sin * cos_rest_less_1 + step.cos * sin_rest)};
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
