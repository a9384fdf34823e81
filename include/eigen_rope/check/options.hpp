// SPDX-License-Identifier: Apache-2.0
//
// The options of check_gradient() and check_adjoint(): tolerances, methods, and how much is
// checked.
//
// The defaults need no knowledge of f. The check measures the errors of both sides itself, so there
// is no tolerance to tune; a tolerance that is given is added to the measured errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eigen_rope/check/report.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The scalar in which f is evaluated for the numeric derivatives.
enum class Precision {
  /// double where f also takes tensors of double, as a generic lambda does; otherwise the
  /// arguments' own scalar.
  widest,
  /// The arguments' own scalar. A float f is differenced in float, the bound is as wide as float
  /// makes it, and there is no complex step.
  own,
};

/// The options of a gradient check: what it compares, and how hard it looks.
///
/// The defaults suit functions of double.
/// \code{.cpp}
/// er::GradientCheckOptions options;
/// options.names = {"q", "k"};
/// options.coverage = er::Coverage::every_entry;
/// \endcode
/// \see check_gradient(), check_adjoint(), \ref gradients "Gradients"
struct GradientCheckOptions {
  /// The absolute tolerance that is added to the measured errors; finite and not negative. Two
  /// derivatives agree where |claimed - numeric| <= estimated errors + absolute + relative *
  /// max(|claimed|, |numeric|).
  double absolute = 0;
  /// The tolerance relative to the larger of the two derivatives; finite and not negative.
  double relative = 0;
  NumericMethod method = NumericMethod::automatic;  ///< How the numeric derivatives are formed.
  Precision precision = Precision::widest;          ///< The scalar of the numeric derivatives.
  Coverage coverage = Coverage::automatic;          ///< Every entry, or random projections.
  /// The largest number of inputs and outputs together for which Coverage::automatic checks every
  /// entry.
  Index every_entry_limit = 1024;
  /// The number of random projections for each argument; at least 1. They have signs of +1 and -1:
  /// one wrong entry changes every projection by its whole error, and several hide from one
  /// projection with a probability of at most 1/2.
  int projections = 8;
  /// The step of central differences; 0 stands for epsilon^(1/3), rounded to a power of 2. Element
  /// j is moved by step * max(typical_x, |x_j|), whose second factor is rounded up to a power of 2,
  /// and by twice that.
  double step = 0;
  /// The least size that an element is taken to have when the step is scaled; positive.
  double typical_x = 1;
  /// The seed of every random choice; the same seed gives the same report.
  std::uint64_t seed = 1;
  /// The names of the arguments in the report, one for each; empty for x, or x0, x1, ... where
  /// there are several.
  std::vector<std::string> names{};
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
