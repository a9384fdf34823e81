// SPDX-License-Identifier: Apache-2.0
//
// What a rotation and all its derivatives should be, by means that share nothing with
// eigen_rope::gradients().
//
//   L(parameters, positions, x) = sum over elements of g y   the scalings' formulas -> angles ->
//                                                            cos and sin -> loops, long double
//   dL/dp = Im L(p + i h) / h,  h = 2^-200                   the complex step: no difference is
//                                                            formed, nothing cancels
//
// Each parameter is stepped by itself; second derivatives in angles are complex steps differenced
// to order 8. With u half an ulp of x's scalar (u_T the table's), e = 2^-53, t a pair's angle, N
// its rows' sum of m |x| |g| and n the number of terms, the bounds are
//
//   y, dx        1.5 ulp of the pair's magnitude + sqrt(2) d (magnitude),
//                       d = u_T + |t| K 2^-64 + |position| 2^-63
//   sums         n e N (double: 2 e + n^2 2^-106), and N's share of y's own bound where they are
//                made from y;
//                2^-23 N where angles alone are asked for, since differences of floats are formed
//       in float
//   parameters   those of the sums they are made of, times the derivative, + 6 e of the terms
//
// m is an entry's own magnitude, as xPos has them. K, about 4 |ln rate| + 12 times what the scaling
// amplifies, is the reference's own error in the rate. Not the comparison.
#pragma once

#include <vector>

#include "tool/gradcheck/quantity.hpp"

namespace eigen_rope::tool {

/// Every quantity the case has.
std::vector<Expectation> expectations(const Problem& problem);

}  // namespace eigen_rope::tool
