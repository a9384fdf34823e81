// SPDX-License-Identifier: Apache-2.0
//
// The result of a gradient check: a verdict, the entry that agreed worst, and counts.
//
//   gradient check failed: 1 of 12 entries disagrees (complex step, every entry)
//     worst: d f[1] / d x[2, 0]  claimed 0.25  numeric -0.25  difference 0.5  bound 3.1e-16
//
// A place in a tensor is the list of indices that the tensor's own operator() takes, whatever its
// layout. check_gradient.hpp makes these reports.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The conclusion of a check.
enum class Verdict {
  /// Every entry agrees within its bound.
  passed,
  /// At least one entry disagrees.
  failed,
  /// No entry disagrees, but f or the claimed gradient is NaN or infinite somewhere.
  non_finite,
  /// No entry disagrees, but some could not be judged: they lie at a kink or a jump of f, or where
  /// f is mostly noise.
  inconclusive,
};

/// The way numeric derivatives are formed, with which the claimed gradient is compared.
enum class NumericMethod {
  /// Lets the check choose: the complex step where f takes complex tensors and is analytic, and
  /// central differences otherwise.
  automatic,
  /// Im f(x + i h v) / h. Nothing cancels, so the error is f's own rounding.
  complex_step,
  /// Differences over the steps h and 2 h, extrapolated.
  central_differences,
  /// f applied to v itself; only check_adjoint() uses it.
  linear_map,
};

/// The part of a gradient that a check looks at.
enum class Coverage {
  /// Lets the check choose: every entry of a small Jacobian, and projections of a large one.
  automatic,
  /// d f_i / d x_j for all i and j.
  every_entry,
  /// The products `<w, J v>` with random v and w.
  projections,
};

/// One comparison of a check.
///
/// A place that is missing stands for a random direction over all of that tensor. The place in a
/// single number is an empty list.
/// \code{.cpp}
/// er::GradientEntry entry;
/// entry.argument = "x";
/// entry.place = std::vector<er::Index>{2, 0};
/// \endcode
struct GradientEntry {
  std::string argument;                     ///< The argument's name.
  std::optional<std::vector<Index>> place;  ///< The place in it; none for a random direction.
  /// The place in the output; none for a random direction.
  std::optional<std::vector<Index>> output_place;
  double claimed = 0;     ///< The derivative that the gradient under test claims.
  double numeric = 0;     ///< The derivative that was measured.
  double difference = 0;  ///< |claimed - numeric|
  double bound = 0;       ///< The largest difference that counts as agreement.

  /// Returns the derivative's name, such as `d f[1] / d x[2, 0]`.
  EIGEN_ROPE_API std::string text() const;
};

/// The result of check_gradient() and check_adjoint().
///
/// \code{.cpp}
/// const auto square = [](const auto& v) { return v * v; };
/// const auto gradient = [](double v, double g) { return 2 * v * g; };
/// const er::GradientReport report = er::check_gradient(square, gradient, 3.0);
/// if (!report) std::cerr << report << '\n';
/// \endcode
struct GradientReport {
  Verdict verdict = Verdict::passed;                ///< The conclusion.
  NumericMethod method = NumericMethod::automatic;  ///< How the numeric derivatives were formed.
  Coverage coverage = Coverage::automatic;          ///< The part that was looked at.
  /// The comparison that the verdict rests on. Of the comparisons that ended worst it is one with a
  /// place rather than a projection, and of these the one with the largest difference / bound.
  /// Empty if nothing was compared.
  std::optional<GradientEntry> worst;
  Index checked = 0;      ///< The number of comparisons.
  Index disagreeing = 0;  ///< The number of comparisons whose difference exceeds the bound.
  Index non_finite = 0;   ///< The number of values on either side that are NaN or infinite.
  /// The number of comparisons whose numeric derivative is not good enough to judge by.
  Index undetermined = 0;
  Index evaluations = 0;           ///< The number of calls of f, whatever its scalar.
  Index gradient_evaluations = 0;  ///< The number of calls of the gradient under test.
  /// The reason why another method was used than could be expected; usually empty.
  std::string note;

  /// Returns whether the verdict is Verdict::passed.
  explicit operator bool() const { return verdict == Verdict::passed; }
  /// Returns the report as text: one line, then the worst entry and whatever else there is to say,
  /// each on a line of its own, without a line break at the end.
  EIGEN_ROPE_API std::string text() const;
};

/// Returns the verdict in words, such as `passed` or `not finite`.
///
/// \code{.cpp}
/// const std::string word = er::name_of(er::Verdict::inconclusive);
/// \endcode
EIGEN_ROPE_API const char* name_of(Verdict verdict);
/// Returns the method in words, such as `complex step`.
///
/// \code{.cpp}
/// const std::string words = er::name_of(er::NumericMethod::complex_step);
/// \endcode
EIGEN_ROPE_API const char* name_of(NumericMethod method);
/// Returns the coverage in words, such as `every entry`.
///
/// \code{.cpp}
/// const std::string words = er::name_of(er::Coverage::every_entry);
/// \endcode
EIGEN_ROPE_API const char* name_of(Coverage coverage);

/// Writes the report's text() to a stream.
///
/// \code{.cpp}
/// const auto report = er::check_gradient([](auto v) { return v * v; }, 6.0, 3.0);
/// std::cout << report << '\n';
/// \endcode
EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const GradientReport& report);

}  // namespace eigen_rope::EIGEN_ROPE_ABI
