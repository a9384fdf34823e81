// SPDX-License-Identifier: Apache-2.0
//
// What a gradient check may be told: tolerances, methods, how much is checked. The defaults need no
// knowledge of f.
//
// Not tolerances to tune until a test passes: the errors of both sides are measured, and what is
// given here is added to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eigen_rope/check/report.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// The scalar f is evaluated in for the numeric side.
enum class Precision {
  widest,  ///< double where f takes double tensors (a generic lambda does), its arguments' own
           ///< scalar elsewhere
  own,     ///< its arguments' own scalar: a float f is differenced in float, and the bound is what
           ///< that allows; no complex step
};

/// What a check compares, and how hard it looks. The defaults suit functions of double.
struct GradientCheckOptions {
  /// Agreement is |claimed - numeric| <= estimated errors + absolute + relative * max(|claimed|,
  /// |numeric|). Both finite and >= 0.
  double absolute = 0;
  double relative = 0;  ///< Tolerated error relative to the larger of the two gradients.
  NumericMethod method = NumericMethod::automatic;  ///< Where the numeric gradient comes from.
  Precision precision = Precision::widest;          ///< The scalar of the numeric side.
  Coverage coverage = Coverage::automatic;          ///< Every entry, or random projections.
  /// Coverage::automatic checks every entry where f has at most so many inputs and outputs
  /// together.
  Index every_entry_limit = 1024;
  /// Random projections for each argument. Signs of +1 and -1: one wrong entry changes every
  /// projection by its whole error, and several hide from one projection with a probability of at
  /// most 1/2.
  int projections = 8;
  /// Central differences move element j by step * max(typical_x, |x_j|), rounded up to a power of
  /// 2, and by twice that. 0: epsilon^(1/3).
  double step = 0;
  double typical_x = 1;  ///< The least size an element is taken to have, for the step.
  /// Fixes every random choice: the same seed gives the same report.
  std::uint64_t seed = 1;
  /// What the report calls the arguments; default x, or x0, x1, ...
  std::vector<std::string> names{};
};

}  // namespace eigen_rope
