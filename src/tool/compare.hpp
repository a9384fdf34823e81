// SPDX-License-Identifier: Apache-2.0
//
// Two rotations side by side: what differs, and how far apart that puts the angles.
//
//   difference of pair k at position p = p |rate_k(b) - rate_k(a)|        radians; rates in double-double
//
// Rates that depend on the length of the sequence are those of the length compared at. Pairs are compared by number, as far as both have
// them. Values only: compare_report.hpp prints, compare_plot.hpp draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect.hpp"

namespace rope::tool {

/// One of the two, as the user calls it.
struct Operand {
  std::string name{};
  models::ModelRope model{};
};

/// What is said of it in a and in b; "-" where one has no such thing. What one of them does not know is no difference.
struct Difference {
  std::string layer_type{};  ///< empty for what concerns the model
  std::string name{};
  std::string a{}, b{};
};

struct AngleDifference {
  rope::Index position = 0, pair = 0;
  double radians = 0;  ///< of the pair that is furthest apart
  double turns() const { return radians / (2 * 3.14159265358979323846); }
};

/// One kind of layer of a beside one of b.
struct LayerComparison {
  std::string layer_type{};  ///< "full_attention", or "full_attention / " and the other's name; empty where neither has one
  LayerInspection a{}, b{};
  /// |b - a| of each pair that both have; 0 where it is no more than the rounding of rates, 2^-90 of them.
  std::vector<DoubleDouble> rate_differences{};
  std::vector<double> ratios{};              ///< b / a of each pair that both have; 1 where neither turns
  rope::Index widest = 0;                    ///< the pair whose rates differ most
  std::vector<AngleDifference> angles{};     ///< at powers of two below the length, and at its last position
  std::optional<rope::Index> first_apart{};  ///< first position below the length where an angle is more than apart_radians off
};

inline constexpr double apart_radians = 0.1;

struct Comparison {
  std::string name_a{}, name_b{};
  rope::Index length = 0;
  std::vector<Difference> differences{};
  std::vector<LayerComparison> layers{};
  std::vector<std::string> warnings{};  ///< the readers', after "a: " or "b: "

  bool equal() const { return differences.empty(); }
};

/// Length 0 is the longer context of the two. A model with one kind of layer is compared with every kind of the other. Throws as inspect.
Comparison compare(const Operand& a, const Operand& b, const InspectOptions& options);

}  // namespace rope::tool
