// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by Eigen's AutoDiffScalar the whole way: of fixed and of dynamic size, and nested for
// second derivatives.
//
// The rotation alone, its Jacobian and its paths are in autodiff_test.cpp.
#include "support/axis_derivatives.hpp"
#include "support/second_order.hpp"

// After the Tensor module: AutoDiff replaces functions of std that Eigen's packets use.
#include <unsupported/Eigen/AutoDiff>

namespace eigen_rope::test::autodiff {
namespace {

constexpr int kParts = 8;
using Fixed = Eigen::AutoDiffScalar<Eigen::Matrix<double, kParts, 1>>;
using Dynamic = Eigen::AutoDiffScalar<Eigen::VectorXd>;

/// All inputs at once.
template <class Problem>
std::vector<double> dynamic_gradient(const Problem& s) {
  const std::vector<double> values = values_of(s);
  const auto count = static_cast<int>(values.size());
  std::vector<Dynamic> inputs;
  for (int i = 0; i < count; ++i)
    inputs.emplace_back(values[static_cast<std::size_t>(i)], count, i);
  const Dynamic loss = loss_of(s, inputs);
  return std::vector<double>(loss.derivatives().data(), loss.derivatives().data() + count);
}

TEST(EigenAutoDiff, GradientOfEverythingWithDynamicSize) {
  expect_every_gradient(dynamic_gradient<Setting>);
}
TEST(EigenAutoDiff, GradientAlongEveryAxisWithDynamicSize) {
  expect_along_every_axis(dynamic_gradient<AxisProblem>);
}

/// kParts inputs at a time.
template <class Problem>
std::vector<double> fixed_gradient(const Problem& s) {
  const std::vector<double> values = values_of(s);
  std::vector<double> result;
  for (std::size_t begin = 0; begin < values.size(); begin += kParts) {
    std::vector<Fixed> inputs(values.begin(), values.end());
    const std::size_t parts = std::min<std::size_t>(kParts, values.size() - begin);
    for (std::size_t i = 0; i < parts; ++i)
      inputs[begin + i].derivatives()(static_cast<int>(i)) = 1;
    const Fixed loss = loss_of(s, inputs);
    result.insert(result.end(), loss.derivatives().data(), loss.derivatives().data() + parts);
  }
  return result;
}

TEST(EigenAutoDiff, GradientOfEverythingWithFixedSize) {
  expect_every_gradient(fixed_gradient<Setting>);
}
TEST(EigenAutoDiff, GradientAlongEveryAxisWithFixedSize) {
  expect_along_every_axis(fixed_gradient<AxisProblem>);
}

/// The inner part is the derivative along the direction, its own parts are that derivative's
/// gradient.
std::vector<double> hessian_vector(const SecondOrderSetting& s) {
  using Nested = Eigen::AutoDiffScalar<Eigen::Matrix<Fixed, 1, 1>>;
  std::vector<double> result;
  for (std::size_t begin = 0; begin < s.inputs.size(); begin += kParts) {
    std::vector<Nested> inputs;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      Nested input(Fixed(s.inputs[i]));
      input.derivatives()(0) = Fixed(s.direction[i]);
      if (i >= begin && i < begin + kParts)
        input.value().derivatives()(static_cast<int>(i - begin)) = 1;
      inputs.push_back(input);
    }
    const Nested loss = bilinear_loss(s, inputs, Nested(s.m));
    const std::size_t parts = std::min<std::size_t>(kParts, s.inputs.size() - begin);
    const double* derivatives = loss.derivatives()(0).derivatives().data();
    result.insert(result.end(), derivatives, derivatives + parts);
  }
  return result;
}

TEST(EigenAutoDiff, SecondOrderByNesting) { expect_every_second_order(hessian_vector); }

/// The slope of y in the base and in the attention factor.
TEST(EigenAutoDiff, ReadsLikeThis) {
  Powers<Dynamic> powers;
  powers.rotary_dims = 4;
  powers.base = Dynamic(10000, 2, 0);
  powers.attention_factor = Dynamic(1.25, 2, 1);
  const Rates<Dynamic> rates = powers.rates();
  const auto table = Cache<Dynamic>::from_rates(rates.rates, rates.attention_factor,
                                                Positions::range(0, 8), Layout::sd());
  Eigen::Tensor<double, 2> x(4, 8);
  x.setConstant(1);
  const Eigen::Tensor<Dynamic, 2> y = eigen_rope::rotate(x, table, eigen_rope::split_half);
  // Pair 1 at position 7: y_A = m (cos t - sin t) with t = 7 base^(-1/2).
  const double t = 7.0 / 100;
  constexpr double few_roundings = 8 * std::numeric_limits<double>::epsilon();
  const double by_base = 1.25 * (std::sin(t) + std::cos(t)) * t / 20000;
  EXPECT_NEAR(y(1, 7).derivatives()(0), by_base, few_roundings * by_base);
  EXPECT_NEAR(y(1, 7).derivatives()(1), std::cos(t) - std::sin(t), few_roundings);
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
