// SPDX-License-Identifier: Apache-2.0
//
// What gradcheck checks of a rotation, and how the parts that compute it speak of it.
//
// Answers are the numbers of whoever is checked, by name ("angle from y"); expectations are the
// reference's, with a bound for each number. Most quantities are answered several times: from y,
// from x, for full-width tables. Not the comparison.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tool/gradcheck/problem.hpp"

namespace eigen_rope::tool {

/// The columns of the table.
enum class Quantity {
  y,          ///< the rotation
  inverse,    ///< inverse(rotate(x)) - x
  adjoint,    ///< <R x, g> - <x, R^T g>, pair by pair
  dx,         ///< gradient with respect to x
  cos,        ///< to the table
  sin,        ///< likewise
  angle,      ///< to the angles
  magnitude,  ///< to log m per entry, and to the attention factor
  positions,  ///< to the positions
  rates,      ///< to the rates
  base,       ///< to the base
  scale,      ///< to the linear scale
  factors,    ///< to the frequency factors
  parameter,  ///< to each parameter of the scaling's own
  xpos,       ///< to xPos's scale base, gamma and center
  jvp,        ///< forward mode, in x, angles and log m
  second,     ///< gradients of dx and d angle
};

inline constexpr Quantity all_quantities[] = {
    Quantity::y,    Quantity::inverse, Quantity::adjoint,   Quantity::dx,        Quantity::cos,
    Quantity::sin,  Quantity::angle,   Quantity::magnitude, Quantity::positions, Quantity::rates,
    Quantity::base, Quantity::scale,   Quantity::factors,   Quantity::parameter, Quantity::xpos,
    Quantity::jvp,  Quantity::second};

/// The column's heading, at most 6 characters.
std::string heading_of(Quantity quantity);
/// In words, for people and for JSON.
std::string name_of(Quantity quantity);

using Answers = std::map<std::string, std::vector<double>>;

/// What an answer should be. Values and bounds in the order of the answer; `axes` name its places,
/// fastest first.
struct Expectation {
  Quantity quantity = Quantity::y;
  std::string answer{};
  std::string method{};
  std::vector<Axis> axes{};
  std::vector<long double> values{};
  /// The largest |answer - value| that counts as agreement.
  std::vector<long double> bounds{};
  /// A unit in the last place of each number's pair; may be empty.
  std::vector<long double> units{};
};

}  // namespace eigen_rope::tool
