// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by the complex step: f'(p) = Im f(p + ih) / h, without cancellation, so h can be as
// small as a double gets.
//
// std::complex<double> needs no library and no traits: it is the plainest second opinion. One
// evaluation gives the derivative with respect to one input, so this is for checking and not for
// training.
#include "support/axis_derivatives.hpp"

namespace eigen_rope::test::autodiff {
namespace {

using Complex = std::complex<double>;

/// Its square vanishes beside 1 and beside any derivative's rounding.
constexpr double kStep = 0x1p-300;

template <class Problem>
double derivative(const Problem& s, std::vector<Complex> inputs, std::size_t which) {
  inputs[which] += Complex(0, kStep);
  return loss_of(s, inputs).imag() / kStep;
}

template <class Problem>
std::vector<double> gradient(const Problem& s) {
  const std::vector<double> values = values_of(s);
  const std::vector<Complex> inputs(values.begin(), values.end());
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.push_back(derivative(s, inputs, i));
  return result;
}

TEST(ComplexStep, GradientOfEverything) { expect_every_gradient(gradient<Setting>); }
TEST(ComplexStep, GradientAlongEveryAxis) { expect_along_every_axis(gradient<AxisProblem>); }

/// The slope of y in the base.
TEST(ComplexStep, ReadsLikeThis) {
  Powers<Complex> powers;
  powers.rotary_dims = 4;
  powers.base = Complex(10000, kStep);
  const Rates<Complex> rates = powers.rates();
  const auto table = Cache<Complex>::from_rates(rates.rates, rates.attention_factor,
                                                Positions::range(0, 8), Layout::sd());
  Eigen::Tensor<double, 2> x(4, 8);
  x.setConstant(1);
  const Eigen::Tensor<Complex, 2> y = eigen_rope::rotate(x, table, eigen_rope::split_half);
  // Pair 1 at position 7: y_A = cos t - sin t with t = 7 base^(-1/2), so dy_A/dbase = (sin t + cos
  // t) t / (2 base).
  const double t = 7.0 / 100;
  const double expected = (std::sin(t) + std::cos(t)) * t / 20000;
  constexpr double few_roundings = 8 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(y(1, 7).imag() / kStep, expected, few_roundings * expected);
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
