// SPDX-License-Identifier: Apache-2.0
#include "check/numeric_slope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

constexpr int grid_points = 20;
/// A jump between two points of the grid reaches 4 of its 16 fourth differences, a kink 3; the
/// largest 4 are left out, and what that takes from the variance of normally distributed ones is
/// made up for.
constexpr std::size_t left_out = 4;
constexpr double variance_of_the_rest = 0.3685;
/// A coarse grid shows rounding that changes slowly, a fine one has next to no truncation, and what
/// one random direction hides another shows.
constexpr double grid_refinements[] = {256, 32, 4};
/// From grid to grid truncation grows by 8^4, rounding hardly; what grows by more than the square
/// root of that is not rounding.
constexpr double most_by_rounding = 64;
constexpr double float_epsilon = static_cast<double>(std::numeric_limits<float>::epsilon());
constexpr double double_epsilon = std::numeric_limits<double>::epsilon();

/// epsilon^(1/3) as a power of 2: where truncation, h^2, and rounding, epsilon / h, are the same.
double chosen_step(double epsilon) { return std::exp2(std::round(std::log2(epsilon) / 3)); }

/// The smallest power of 2 that is not less than magnitude.
double power_of_2(double magnitude) { return std::exp2(std::ceil(std::log2(magnitude))); }

double rounded(double value, double epsilon) {
  return epsilon >= float_epsilon ? static_cast<double>(static_cast<float>(value)) : value;
}

}  // namespace

void Noise::add_grid(const std::vector<FlatValues>& samples) {
  std::vector<FlatValues> fourth;
  for (std::size_t k = 0; k + 4 < samples.size(); ++k) {
    FlatValues difference(samples[k].size());
    for (std::size_t i = 0; i < difference.size(); ++i) {
      const double outer = samples[k][i] + samples[k + 4][i];
      const double inner = samples[k + 1][i] + samples[k + 3][i];
      const double middle = samples[k + 2][i];
      difference[i] = (outer - 2 * middle) - 4 * (inner - 2 * middle);
    }
    fourth.push_back(std::move(difference));
  }
  grids_.push_back(std::move(fourth));
}

double Noise::along(const FlatValues& w, Index first, Index last, double most_growth) const {
  double result = 0;
  for (const std::vector<FlatValues>& fourth : grids_) {
    std::vector<double> sizes;
    sizes.reserve(fourth.size());
    for (const FlatValues& difference : fourth) {
      double sum = 0;
      for (Index i = first; i < last; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (w[at] != 0) sum += w[at] * difference[at];
      }
      if (std::isfinite(sum)) sizes.push_back(std::abs(sum));
    }
    if (sizes.size() <= left_out) continue;
    const auto kept = static_cast<std::ptrdiff_t>(sizes.size() - left_out);
    std::nth_element(sizes.begin(), sizes.begin() + kept - 1, sizes.end());
    const double scale = sizes[static_cast<std::size_t>(kept) - 1];
    if (scale == 0) continue;
    double squares = 0;
    std::for_each(sizes.begin(), sizes.begin() + kept,
                  [&](double size) { squares += size / scale * (size / scale); });
    const double deviation =
        scale * std::sqrt(squares / (70 * variance_of_the_rest * static_cast<double>(kept)));
    if (result == 0 || deviation <= most_growth * result) result = std::max(result, deviation);
  }
  return result;
}

Slopes::Slopes(const GradientProblem& problem, const GradientCheckOptions& options,
               ProblemKind kind)
    : problem_(problem),
      kind_(kind),
      step_(options.step != 0 ? options.step : chosen_step(problem.value_epsilon)),
      point_(problem.x) {
  for (const double x : problem.x)
    scale_.push_back(power_of_2(std::isfinite(x) ? std::max(options.typical_x, std::abs(x))
                                                 : options.typical_x));
  if (kind == ProblemKind::linear) {
    method_ = NumericMethod::linear_map;
    return;
  }
  value_ = value(problem.x);
  double squares = 0;
  for (const double f : value_) {
    if (!std::isfinite(f)) continue;
    largest_value_ = std::max(largest_value_, std::abs(f));
    squares += f * f;
  }
  norm_of_value_ = std::sqrt(squares);
}

FlatValues Slopes::value(const FlatValues& x) {
  ++evaluations_;
  return problem_.value(x);
}

FlatValues Slopes::directional(const FlatValues& x, const FlatValues& v) {
  ++evaluations_;
  return problem_.directional(x, v);
}

FlatValues Slopes::claimed(const FlatValues& w) {
  ++claims_;
  return problem_.claimed(problem_.x, w);
}

FlatValues Slopes::random_signs(std::mt19937_64& random, std::size_t count) const {
  FlatValues signs(count);
  for (double& sign : signs) sign = (random() >> 63) != 0 ? 1.0 : -1.0;
  return signs;
}

FlatValues Slopes::random_values(std::mt19937_64& random, std::size_t count) const {
  FlatValues values = random_signs(random, count);
  for (double& value : values) value *= 1 + static_cast<double>(random() >> 60) / 16;
  return values;
}

template <class Sample>
Noise Slopes::noise_of(double step, std::mt19937_64& random, const Sample& sample) const {
  Noise noise;
  for (const double finer : grid_refinements) {
    const FlatValues signs = random_signs(random, problem_.x.size());
    std::vector<FlatValues> samples;
    for (int k = 0; k < grid_points; ++k) {
      const double t = (k - (grid_points - 1) / 2.0) * step / finer;  // x itself may be a kink
      FlatValues x = problem_.x;
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += t * scale_[j] * signs[j];
      samples.push_back(sample(x, t, k == 0));
    }
    noise.add_grid(samples);
  }
  return noise;
}

void Slopes::measure_value_noise(std::mt19937_64& random) {
  value_noise_ =
      noise_of(step_, random, [&](const FlatValues& x, double, bool) { return value(x); });
}

void Slopes::use(NumericMethod method, std::mt19937_64& random) {
  method_ = method;
  if (method != NumericMethod::complex_step) return;
  Index begin = 0;
  for (const FlatArray& argument : problem_.arguments) {
    const Index end = begin + argument.size();
    FlatValues v(problem_.x.size(), 0.0);
    derivative_noise_.push_back(noise_of(
        chosen_step(double_epsilon), random, [&](const FlatValues& x, double, bool first_of_grid) {
          if (first_of_grid) {
            const FlatValues part = random_values(random, static_cast<std::size_t>(end - begin));
            std::copy(part.begin(), part.end(), v.begin() + begin);
          }
          return directional(x, v);
        }));
    begin = end;
  }
}

FlatValues Slopes::noise_of_claim(std::mt19937_64& random) {
  FlatValues w, direction;
  const Noise noise = noise_of(chosen_step(problem_.claimed_epsilon), random,
                               [&](const FlatValues& x, double t, bool first_of_grid) {
                                 if (first_of_grid) {
                                   w = random_values(random, value_.size());
                                   direction = random_signs(random, value_.size());
                                 }
                                 // w moves too: the gradient of a linear f depends on nothing else.
                                 FlatValues moved = w;
                                 for (std::size_t i = 0; i < w.size(); ++i)
                                   moved[i] += t * direction[i];
                                 ++claims_;
                                 return problem_.claimed(x, moved);
                               });
  const FlatValues ones(problem_.x.size(), 1.0);
  FlatValues result;
  for (Index j = 0; j < static_cast<Index>(problem_.x.size()); ++j)
    result.push_back(noise.along(ones, j, j + 1));
  return result;
}

FlatValues Slopes::random_cotangent(std::mt19937_64& random) const {
  const auto size = static_cast<std::size_t>(problem_.output.size());
  return kind_ == ProblemKind::linear ? random_values(random, size) : random_signs(random, size);
}

InputDirection Slopes::random_direction(std::mt19937_64& random, Index first, Index last,
                                        std::size_t argument) const {
  const auto size = static_cast<std::size_t>(last - first);
  InputDirection direction{
      first, last, argument,
      kind_ == ProblemKind::linear ? random_values(random, size) : random_signs(random, size)};
  for (Index j = first; j < last && method_ == NumericMethod::central_differences; ++j) {
    direction.v[static_cast<std::size_t>(j - first)] *= scale(j);
  }
  return direction;
}

FlatValues Slopes::spread(const InputDirection& direction) const {
  FlatValues v(problem_.x.size(), 0.0);
  std::copy(direction.v.begin(), direction.v.end(), v.begin() + direction.first);
  return v;
}

Slope Slopes::along(const InputDirection& direction, double h) {
  if (method_ == NumericMethod::central_differences) return central(direction, h);
  Slope slope;
  slope.exact = true;
  slope.argument = direction.argument;
  slope.single = direction.last - direction.first == 1;
  slope.derivative = directional(problem_.x, spread(direction));
  return slope;
}

Slope Slopes::central(const InputDirection& direction, double h) {
  Slope slope;
  slope.h = h;
  slope.argument = direction.argument;
  const auto point = [&](Index j, double t) {
    const double v = direction.v[static_cast<std::size_t>(j - direction.first)];
    return rounded(problem_.x[static_cast<std::size_t>(j)] + t * v, problem_.value_epsilon);
  };
  const auto at = [&](double t) {
    for (Index j = direction.first; j < direction.last; ++j)
      point_[static_cast<std::size_t>(j)] = point(j, t);
    return value(point_);
  };
  slope.minus2 = at(-2 * h);
  slope.minus1 = at(-h);
  slope.plus1 = at(h);
  slope.plus2 = at(2 * h);
  for (Index j = direction.first; j < direction.last; ++j) {
    const double v = direction.v[static_cast<std::size_t>(j - direction.first)];
    const double error1 = std::abs((point(j, h) - point(j, -h)) / (2 * h) - v);
    const double error2 = std::abs((point(j, 2 * h) - point(j, -2 * h)) / (4 * h) - v);
    slope.direction_error.push_back((4 * error1 + error2) / 3);
  }
  std::copy(problem_.x.begin() + direction.first, problem_.x.begin() + direction.last,
            point_.begin() + direction.first);
  return slope;
}

Estimate Slopes::estimate(const Slope& slope, const FlatValues& w, Index first, Index last) const {
  Estimate result;
  const double epsilon = kind_ == ProblemKind::linear ? problem_.value_epsilon : double_epsilon;
  if (slope.exact) {
    long double sum = 0;
    double terms = 0, largest = 0, squares = 0;
    for (const double d : slope.derivative)
      largest = std::isfinite(d) ? std::max(largest, std::abs(d)) : largest;
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (w[at] == 0) continue;
      sum += static_cast<long double>(w[at]) * static_cast<long double>(slope.derivative[at]);
      terms += std::abs(w[at] * slope.derivative[at]);
      squares += w[at] * w[at];
    }
    result.value = static_cast<double>(sum);
    if (kind_ == ProblemKind::linear) {
      const auto size = static_cast<double>(problem_.x.size() + slope.derivative.size());
      result.error = slope.single ? 8 * epsilon * largest : 8 * epsilon * std::sqrt(size) * terms;
    } else {
      result.error = 8 * derivative_noise_[slope.argument].along(w, first, last) +
                     4 * epsilon * (terms + std::sqrt(squares) * largest);
    }
  } else {
    long double near = 0, far = 0, even = 0;
    double squares = 0;
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (w[at] == 0) continue;
      const double up1 = slope.plus1[at] - value_[at], down1 = slope.minus1[at] - value_[at];
      const double up2 = slope.plus2[at] - value_[at], down2 = slope.minus2[at] - value_[at];
      near += static_cast<long double>(w[at] * (up1 - down1));
      far += static_cast<long double>(w[at] * (up2 - down2));
      even += static_cast<long double>(w[at] * ((up2 + down2) - 4 * (up1 + down1)));
      squares += w[at] * value_[at] * w[at] * value_[at];
    }
    const double d1 = static_cast<double>(near) / (2 * slope.h);
    const double d2 = static_cast<double>(far) / (4 * slope.h);
    const double noise = std::max(value_noise_.along(w, first, last, most_by_rounding),
                                  problem_.value_epsilon / 2 * std::sqrt(squares));
    result.value = d1 + (d1 - d2) / 3;
    result.error = std::abs(d1 - d2) + std::abs(static_cast<double>(even)) / (4 * slope.h) +
                   6 * noise / slope.h;
  }
  result.finite = std::isfinite(result.value) && std::isfinite(result.error);
  return result;
}

bool Slopes::complex_step_agrees(std::mt19937_64& random) {
  method_ = NumericMethod::central_differences;
  const auto inputs = static_cast<Index>(problem_.x.size());
  const InputDirection direction = random_direction(random, 0, inputs, 0);
  const FlatValues exact = directional(problem_.x, spread(direction));
  double largest = 0;
  for (const double d : exact) largest = std::max(largest, std::abs(d));
  if (!std::isfinite(largest)) return false;
  const FlatValues ones(value_.size(), 1.0);
  const auto agree = [&](double h) {
    const Slope slope = central(direction, h);
    const double direction_error = 64 * problem_.value_epsilon / h * largest;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const Estimate e = estimate(slope, ones, static_cast<Index>(i), static_cast<Index>(i) + 1);
      if (e.finite && !(std::abs(e.value - exact[i]) <= e.error + direction_error)) return false;
    }
    return true;
  };
  return agree(step_) || agree(step_ / 16);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
