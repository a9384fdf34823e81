// SPDX-License-Identifier: Apache-2.0
//
// What a gradient check found: a verdict, the entry that agreed worst, and what was counted.
//
//   gradient check failed: 1 of 12 entries disagrees (complex step, every entry)
//     worst: d f[1] / d x[2, 0]  claimed 0.25  numeric -0.25  difference 0.5  bound 3.1e-16
//
// Places are indices in the order the tensor's own operator() takes them, whatever its layout. Not
// the check: check_gradient.hpp.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// What a check concluded.
enum class Verdict {
  passed,        ///< every entry agrees within its bound
  failed,        ///< at least one entry does not
  non_finite,    ///< none disagrees, but f or the claimed gradient is NaN or infinite somewhere
  inconclusive,  ///< none disagrees, but some could not be judged: at a kink or a jump of f, or
                 ///< where it is mostly noise
};

/// What the claimed gradient was compared with.
enum class NumericMethod {
  automatic,     ///< as an option: the complex step where f takes complex tensors and is analytic,
                 ///< central differences otherwise
  complex_step,  ///< Im f(x + i h v) / h: no cancellation, the error is f's own rounding
  central_differences,  ///< steps h and 2 h, extrapolated
  linear_map,           ///< f applied to v itself: check_adjoint()
};

/// How much of the gradient was looked at.
enum class Coverage {
  automatic,    ///< as an option: every entry of a small Jacobian, projections of a large one
  every_entry,  ///< d f_i / d x_j for all i and j
  projections,  ///< <w, J v> with random signs v and w
};

/// One comparison. A missing place means random signs over all of that tensor; the place in a
/// single number is an empty list.
struct GradientEntry {
  std::string argument;                     ///< The argument's name.
  std::optional<std::vector<Index>> place;  ///< Where in it; empty for a random direction.
  std::optional<std::vector<Index>>
      output_place;    ///< Where in the output; empty for a random direction.
  double claimed = 0;  ///< What the gradient under test says.
  double numeric = 0;  ///< What was measured.
  /// |claimed - numeric|
  double difference = 0;
  /// The largest difference that counts as agreement.
  double bound = 0;

  /// `d f[1] / d x[2, 0]`
  EIGEN_ROPE_API std::string text() const;
};

/// The result of check_gradient() and check_adjoint(). `if (report)` asks for Verdict::passed.
struct GradientReport {
  Verdict verdict = Verdict::passed;                ///< The conclusion.
  NumericMethod method = NumericMethod::automatic;  ///< Where the numeric gradient came from.
  Coverage coverage = Coverage::automatic;          ///< How much was looked at.
  /// The entry the verdict rests on: of those that share its fate, the one with the largest
  /// difference / bound. Empty if nothing was compared.
  std::optional<GradientEntry> worst;
  /// How many comparisons were made, and how many of them ended how; the rest agrees.
  Index checked = 0;
  Index disagreeing = 0;   ///< Entries beyond the tolerance.
  Index non_finite = 0;    ///< Entries that are infinite or NaN on either side.
  Index undetermined = 0;  ///< Entries whose numeric gradient is not good enough to judge by.
  /// Calls of f (whatever its scalar) and of the claimed gradient.
  Index evaluations = 0;
  Index gradient_evaluations = 0;  ///< Calls of the gradient under test.
  /// Why another method was used than could be expected; usually empty.
  std::string note;

  explicit operator bool() const { return verdict == Verdict::passed; }  ///< Whether it agrees.
  /// One line, then the worst entry and what else there is to say, each on a line of its own; no
  /// line break at the end.
  EIGEN_ROPE_API std::string text() const;
};

/// The enumerator's name.
EIGEN_ROPE_API const char* name_of(Verdict verdict);
EIGEN_ROPE_API const char* name_of(NumericMethod method);  ///< As above.
EIGEN_ROPE_API const char* name_of(Coverage coverage);     ///< As above.

/// Writes text().
EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const GradientReport& report);

}  // namespace eigen_rope
