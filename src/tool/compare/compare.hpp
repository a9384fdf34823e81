// SPDX-License-Identifier: Apache-2.0
//
// Two rotations side by side: whether they are the same within a tolerance, what differs, and how
// far apart that puts the angles.
//
//   difference of pair k at position p = p |rate_k(b) - rate_k(a)|
//                       radians, not reduced to a turn; rates in double-double
//
// What decides: the largest such difference over the pairs both have and the positions 0 to length
// - 1 (so at the last position), |m_b / m_a - 1| and the same of the softmax multipliers, each
// against the tolerance; sections, head and rotary dims and which layers rotate, exactly. An error
// of m by a factor 1 + t moves a rotated row as far as an error of t radians does: one tolerance
// serves both.
//
// Rates that depend on the length of the sequence are compared at the length, and at the original
// contexts below it. Everything else (the parameters behind the rates, names of families and layer
// types, pairing words, contexts and counts of heads) is a remark. Pairs are compared by number, as
// far as both have them. Values only: report.hpp prints, plot.hpp draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/inspect/inspect.hpp"

namespace eigen_rope::tool {

/// One of the two, as the user calls it.
struct Operand {
  std::string name{};
  models::ModelRope model{};
};

/// What is said of it in a and in b; "-" where one has no such thing. What one of them does not
/// know is no difference.
struct Difference {
  std::string layer_type{};  ///< empty for what concerns the model
  std::string name{};
  std::string a{}, b{};
  std::string note{};  ///< how far apart that is, where it can be said
};

struct AngleDifference {
  eigen_rope::Index position = 0, pair = 0;
  double radians = 0;  ///< of the pair that is furthest apart
  double turns() const { return radians / (2 * 3.14159265358979323846); }
};

/// One kind of layer of a beside one of b.
struct LayerComparison {
  std::string layer_type{};  ///< "full_attention", or "full_attention / " and the other's name;
                             ///< empty where neither has one
  std::vector<eigen_rope::Index>
      layers{};  ///< which layers of both; empty where one of the two does not say
  LayerInspection a{}, b{};
  /// |b - a| of each pair that both have; 0 where it is no more than the rounding of rates, 2^-90
  /// of them.
  std::vector<DoubleDouble> rate_differences{};
  std::vector<double> ratios{};  ///< b / a of each pair that both have; 1 where neither turns
  eigen_rope::Index widest = 0;  ///< the pair whose rates differ most
  std::vector<AngleDifference>
      angles{};  ///< at powers of two below the length, and at its last position
  std::optional<eigen_rope::Index> first_apart{};  ///< first position below the length where an
                                                   ///< angle is more than apart_radians off
  AngleDifference worst{};                         ///< over all lengths compared
  eigen_rope::Index worst_length = 0;              ///< of the sequence it was found in
};

inline constexpr double apart_radians = 0.1;

/// Parameters rounded to float32, as GGUF has them, put angles up to 0.008 rad apart at 131072
/// tokens.
inline constexpr double default_tolerance = 0.01;

struct Comparison {
  std::string name_a{}, name_b{};
  eigen_rope::Index length = 0;
  double tolerance = default_tolerance;
  std::vector<Difference> differences{};  ///< what decides
  std::vector<Difference> remarks{};      ///< what does not
  std::vector<LayerComparison> layers{};
  std::vector<std::string> notes{};     ///< what could not be compared
  std::vector<std::string> warnings{};  ///< the readers', after "a: " or "b: "

  bool equal() const { return differences.empty(); }
};

/// Length 0 is the longer context of the two. Layers are compared one by one where both models say
/// which rotate; otherwise kinds of layers of the same name, and a model with one kind with every
/// kind of the other. Throws as inspect, and for a tolerance that is not from 0.
Comparison compare(const Operand& a, const Operand& b, const InspectOptions& options,
                   double tolerance = default_tolerance);

}  // namespace eigen_rope::tool
