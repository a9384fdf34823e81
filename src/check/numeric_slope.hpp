// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of f along directions, and what they may be off by.
//
//   central differences   d(h) = (f(x + h v) - f(x - h v)) / (2 h)       value
//                       d(h) + (d(h) - d(2h)) / 3
//                         error  |d(h) - d(2h)| + |D4| / (4 h) + 6 r / h
//   complex step          Im f(x + i h v) / h                            error  8 r
//   linear map            f(v)
//
// D4 = f(x-2hv) - 4 f(x-hv) + 6 f(x) - 4 f(x+hv) + f(x+2hv). Smooth f: the first term is h^2 / 2 of
// the third derivative, where the extrapolated value errs by h^4 only. One kink of slope change J
// at x + c h v: the value errs by J (1.5 - 1.75 c) / 3 for 0 <= c <= 1, which the first two terms,
// J c / 4 + J |2 - 3 c| / 4, exceed, with equality at c = 0; likewise beyond. r is the standard
// deviation of f's rounding error: a smooth function's fourth differences on fine grids, 4, 32 and
// 256 times finer than h, are rounding errors alone, with variance 70 r^2. 6 r / h is four times
// what rounding can add, 1.5 r / h.
//
// Not public, and no tensors: detail/gradient_problem.hpp.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "eigen_rope/check/detail/gradient_problem.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// v for the inputs [first, last), zero elsewhere; all of one argument, unless it is the check of
/// the complex step.
struct InputDirection {
  Index first = 0;
  Index last = 0;
  std::size_t argument = 0;
  FlatValues v{};

  InputDirection between(Index begin, Index end) const {
    return {begin, end, argument,
            FlatValues(v.begin() + (begin - first), v.begin() + (end - first))};
  }
};

/// f around x along one direction.
struct Slope {
  bool exact = false;
  std::size_t argument = 0;
  bool single = false;
  FlatValues derivative{};  // where exact
  FlatValues minus2{}, minus1{}, plus1{}, plus2{};
  double h = 0;
  /// How far rounding of the points turned each component of the direction; empty where it did not.
  FlatValues direction_error{};
};

struct Estimate {
  double value = 0;
  double error = 0;
  bool finite = false;
};

/// Fourth differences of a vector-valued function on a few fine grids.
class Noise {
 public:
  void add_grid(const std::vector<FlatValues>& samples);
  /// The standard deviation of sum w_i f_i over [first, last): the largest of all grids, from the
  /// finest on, without those where it is more than most_growth times that before.
  double along(const FlatValues& w, Index first, Index last, double most_growth = HUGE_VAL) const;

 private:
  std::vector<std::vector<FlatValues>> grids_;
};

class Slopes {
 public:
  Slopes(const GradientProblem& problem, const GradientCheckOptions& options, ProblemKind kind);

  void measure_value_noise(std::mt19937_64& random);
  /// Whether the complex step and a central difference agree along one random direction.
  bool complex_step_agrees(std::mt19937_64& random);
  void use(NumericMethod method, std::mt19937_64& random);
  /// Of each entry of the claimed J^T w.
  FlatValues noise_of_claim(std::mt19937_64& random);

  FlatValues random_cotangent(std::mt19937_64& random) const;
  InputDirection random_direction(std::mt19937_64& random, Index first, Index last,
                                  std::size_t argument) const;
  Slope along(const InputDirection& direction, double h);
  /// The derivative of sum w_i f_i over [first, last).
  Estimate estimate(const Slope& slope, const FlatValues& w, Index first, Index last) const;
  FlatValues claimed(const FlatValues& w);

  const FlatValues& value_at_x() const { return value_; }
  double largest_value() const { return largest_value_; }
  double norm_of_value() const { return norm_of_value_; }
  double step() const { return step_; }
  /// A power of 2, at least typical_x and |x_j|.
  double scale(Index j) const { return scale_[static_cast<std::size_t>(j)]; }
  Index evaluations() const { return evaluations_; }
  Index claims() const { return claims_; }

 private:
  FlatValues value(const FlatValues& x);
  FlatValues directional(const FlatValues& x, const FlatValues& v);
  FlatValues random_signs(std::mt19937_64& random, std::size_t count) const;
  FlatValues random_values(std::mt19937_64& random, std::size_t count) const;
  Slope central(const InputDirection& direction, double h);
  FlatValues spread(const InputDirection& direction) const;
  /// The noise of sample(x_t, t) for x_t on grids around x.
  template <class Sample>
  Noise noise_of(double step, std::mt19937_64& random, const Sample& sample) const;

  const GradientProblem& problem_;
  const ProblemKind kind_;
  NumericMethod method_ = NumericMethod::central_differences;
  double step_ = 0;
  FlatValues scale_;
  FlatValues point_;  // x, but for the components being moved
  FlatValues value_;
  double largest_value_ = 0;
  double norm_of_value_ = 0;
  Noise value_noise_;
  std::vector<Noise> derivative_noise_;  // one for each argument
  Index evaluations_ = 0;
  Index claims_ = 0;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
