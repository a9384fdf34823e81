// SPDX-License-Identifier: Apache-2.0
//
// How far an answer is from a recorded one, in units of what is allowed.
//
//   nmse(mine, stored) = sum (mine - stored)^2 / sum stored^2
//                       equal arrays: 0, also where the denominator is 0
//   element by element: |mine - stored| / bound
//                       two NaN are equal; an infinity equals itself
//
// All values are doubles: every float, half and bfloat16 is one. Knows nothing of operators or
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"

namespace eigen_rope::tool {

/// One array of one case compared under one policy.
struct Check {
  std::string policy{};      ///< "exact" or "float-recurrence"
  std::string output{};      ///< the tensor's name
  double error = 0;          ///< nmse, or |mine - stored| of the worst element
  double bound = 0;          ///< what is allowed of it
  double ratio = 0;          ///< error / bound, 0 if both are 0
  std::int64_t element = 0;  ///< the worst one
  double mine = 0, stored = 0;
  std::string problem{};  ///< a sentence if something else than the bound failed
  /// Elements that are not the value rounded once, of `rounded`; counted over the group. One of
  /// `share` may be.
  std::int64_t unequal = 0, rounded = 0, share = 0;

  bool passed() const { return problem.empty() && ratio <= 1; }
};

double ratio_of(double error, double bound);

/// `value` rounded once, to nearest even, to a scalar.
double round_to(ScalarType type, double value);

/// The distance of the numbers of that type around |value|: one unit in the last place.
double unit_at(ScalarType type, double value);

/// 2^-24, 2^-53, 2^-11 or 2^-8: half a unit at 1.
double half_unit(ScalarType type);

double largest_finite(ScalarType type);

double smallest_positive(ScalarType type);

struct Nmse {
  double value = 0;
  std::int64_t worst = 0;  ///< the element with the largest error
};
/// Over the elements for which chosen[i] is not 0. Infinite where only one of the two is NaN, or
/// infinities differ.
Nmse nmse(const std::vector<double>& mine, const std::vector<double>& stored,
          const std::vector<char>& chosen);

/// What |mine - stored| may be, per element; what is not finite stands for 0.
struct Bounds {
  ScalarType type = ScalarType::f32;
  /// The result in double. Where it lies beyond the largest finite number, or so near it that
  /// rounding decides, infinity and that number are the same.
  std::vector<double> exact{};
  std::vector<double> allowed{};
};
/// Sets error, bound, ratio, element, mine and stored of a check: those of the worst element.
Check compare(const std::vector<double>& mine, const std::vector<double>& stored,
              const Bounds& bounds);

/// Counts the elements of `mine` that are not `once`, the result rounded once; one of `share` may
/// be. Two NaN are equal.
void count_unequal(Check& check, const std::vector<double>& mine, const std::vector<double>& once,
                   std::int64_t share);
/// The same for the elements for which chosen[i] is not 0.
void count_unequal(Check& check, const std::vector<double>& mine, const std::vector<double>& once,
                   std::int64_t share, const std::vector<char>& chosen);

}  // namespace eigen_rope::tool
