// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by ADOL-C's tape: one recording of the whole way, then reverse mode.
//
// adouble works in Eigen's tensors as it is, without traits. One gradient costs a few evaluations
// however many inputs there are. The tape holds what was done, branches included: record again when
// an input crosses from one band of a scaling to another.
#include "support/axis_derivatives.hpp"
#include "support/second_order.hpp"

#include <adolc/adolc.h>

namespace eigen_rope::test::autodiff {
namespace {

constexpr short kTape = 1;

/// Records loss(inputs) at `values`.
template <class Loss>
void record(const std::vector<double>& values, const Loss& loss) {
  trace_on(kTape);
  std::vector<adouble> inputs(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) inputs[i] <<= values[i];
  double result = 0;
  adouble active = loss(inputs);
  active >>= result;
  trace_off();
}

template <class Problem>
std::vector<double> gradient_of(const Problem& s) {
  const std::vector<double> values = values_of(s);
  record(values, [&s](const std::vector<adouble>& inputs) { return loss_of(s, inputs); });
  std::vector<double> result(values.size());
  ::gradient(kTape, static_cast<int>(values.size()), values.data(), result.data());
  return result;
}

TEST(AdolC, GradientOfEverything) { expect_every_gradient(gradient_of<Setting>); }
TEST(AdolC, GradientAlongEveryAxis) { expect_along_every_axis(gradient_of<AxisProblem>); }

std::vector<double> hessian_vector(const SecondOrderSetting& s) {
  record(s.inputs, [&s](const std::vector<adouble>& inputs) {
    return bilinear_loss(s, inputs, adouble(s.m));
  });
  std::vector<double> point = s.inputs;
  std::vector<double> direction = s.direction;
  std::vector<double> result(s.inputs.size());
  ::hess_vec(kTape, static_cast<int>(point.size()), point.data(), direction.data(), result.data());
  return result;
}

TEST(AdolC, SecondOrderFromTheSameTape) { expect_every_second_order(hessian_vector); }

/// Learned rates: the gradient of a loss in all of them.
TEST(AdolC, ReadsLikeThis) {
  const std::vector<double> rates{1, 0.1};
  trace_on(kTape);
  std::vector<adouble> active_rates(rates.size());
  for (std::size_t k = 0; k < rates.size(); ++k) active_rates[k] <<= rates[k];
  const auto table =
      Cache<adouble>::from_rates(active_rates, adouble(1.0), Positions::range(0, 2), Layout::sd());
  Eigen::Tensor<double, 2> x(4, 2);
  x.setConstant(1);
  const Eigen::Tensor<adouble, 2> y = eigen_rope::rotate(x, table, eigen_rope::split_half);
  adouble loss = y(0, 1) + y(1, 1);  // y_A of both pairs at position 1
  double value = 0;
  loss >>= value;
  trace_off();
  std::vector<double> gradient(rates.size());
  ::gradient(kTape, 2, rates.data(), gradient.data());
  constexpr double few_roundings = 8 * std::numeric_limits<double>::epsilon();
  for (std::size_t k = 0; k < rates.size(); ++k) {
    EXPECT_NEAR(gradient[k], -std::sin(rates[k]) - std::cos(rates[k]), few_roundings)
        << "pair " << k;
  }
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
