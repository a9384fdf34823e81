// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope gradcheck`: answers against expectations over the matrix of pairings, scalings,
// scalars and layouts.
//
// Whoever answers is a parameter: the library, or in the tests a function with a fault. An answer
// that is missing, has the wrong length or is not a number fails; so does a call that throws
// eigen_rope::Error. What is adjoint is found here, from the answers "y" and "backward". Prints
// nothing: report.hpp does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tool/gradcheck/quantity.hpp"

namespace eigen_rope::tool {

/// Regular expressions (ECMAScript) that a whole name must match; empty ones match everything.
struct GradcheckFilters {
  std::string pairing{}, scaling{}, scalar{}, layout{};
};

/// The cases that pass the filters, layouts innermost. Throws eigen_rope::Error if an expression is
/// none, or if it matches no name.
std::vector<GradcheckCase> gradcheck_cases(const GradcheckFilters& filters);

/// The worst number of one answer.
struct GradcheckEntry {
  GradcheckCase at{};
  Quantity quantity = Quantity::y;
  std::string answer{}, method{};
  double error = 0, bound = 0;
  double ratio = 0;     ///< error / bound; 0 if both are 0
  std::string place{};  ///< "element 7, head 0, token 2"; empty for a single number
  double mine = 0, expected = 0;
  double ulp = -1;  ///< the worst error of all numbers in ulp of their pair's magnitude; -1 where
                    ///< there is no pair
  std::string problem{};  ///< a sentence if there is nothing to compare

  bool passed() const { return problem.empty() && ratio <= 1; }
};

struct GradcheckReport {
  std::vector<GradcheckCase> cases{};
  std::vector<GradcheckEntry> entries{};
  std::uint64_t seed = 0;

  std::int64_t passed() const;
  std::int64_t failed() const;
};

using Subject = std::function<Answers(const Problem&)>;

GradcheckReport gradcheck(const std::vector<GradcheckCase>& cases, std::uint64_t seed,
                          const Subject& subject);

}  // namespace eigen_rope::tool
