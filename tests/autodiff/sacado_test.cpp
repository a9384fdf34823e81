// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by Sacado: forward mode with any number of derivatives (Fad::DFad), nested for second
// ones, and reverse mode (Rad::ADvar).
//
// All of them work in Eigen's tensors as they are. TRILINOS_NO_CONFIG_H is Trilinos' own switch for
// its headers without what a build of Trilinos found: Sacado is then headers and nothing else,
// where Debian's configuration would want Kokkos, Teuchos and MPI beside it.
#include "support/axis_derivatives.hpp"
#include "support/second_order.hpp"

#define TRILINOS_NO_CONFIG_H
#include <Sacado_No_Kokkos.hpp>

namespace eigen_rope::test::autodiff {
namespace {

using Fad = Sacado::Fad::DFad<double>;
using Rad = Sacado::Rad::ADvar<double>;

template <class Problem>
std::vector<double> forward_gradient(const Problem& s) {
  const std::vector<double> values = values_of(s);
  const auto count = static_cast<int>(values.size());
  std::vector<Fad> inputs;
  for (int i = 0; i < count; ++i)
    inputs.emplace_back(count, i, values[static_cast<std::size_t>(i)]);
  const Fad loss = loss_of(s, inputs);
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(loss.dx(i));
  return result;
}

TEST(Sacado, ForwardGradientOfEverything) { expect_every_gradient(forward_gradient<Setting>); }
TEST(Sacado, ForwardGradientAlongEveryAxis) {
  expect_along_every_axis(forward_gradient<AxisProblem>);
}

template <class Problem>
std::vector<double> reverse_gradient(const Problem& s) {
  const std::vector<double> values = values_of(s);
  std::vector<double> result;
  std::vector<Rad> inputs(values.begin(), values.end());
  const Rad loss = loss_of(s, inputs);
  // Of the variable computed last, which is the loss.
  Rad::Gradcomp();
  for (const Rad& input : inputs) result.push_back(input.adj());
  return result;
}

TEST(Sacado, ReverseGradientOfEverything) { expect_every_gradient(reverse_gradient<Setting>); }
TEST(Sacado, ReverseGradientAlongEveryAxis) {
  expect_along_every_axis(reverse_gradient<AxisProblem>);
}

/// The inner part is the derivative along the direction, its own parts are that derivative's
/// gradient.
std::vector<double> hessian_vector(const SecondOrderSetting& s) {
  using Nested = Sacado::Fad::DFad<Fad>;
  const auto count = static_cast<int>(s.inputs.size());
  std::vector<Nested> inputs;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Nested input(1, Fad(count, i, s.inputs[at]));
    input.fastAccessDx(0) = s.direction[at];
    inputs.push_back(input);
  }
  const Nested loss = bilinear_loss(s, inputs, Nested(s.m));
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(loss.dx(0).dx(i));
  return result;
}

TEST(Sacado, SecondOrderByNesting) { expect_every_second_order(hessian_vector); }

/// Learned positions, in reverse mode: the gradient of a loss in where two tokens stand.
TEST(Sacado, ReadsLikeThis) {
  const std::vector<double> rates{1, 0.1};
  const std::vector<Rad> positions{Rad(0.5), Rad(2.0)};
  std::vector<Rad> angles;
  for (const Rad& position : positions) {
    for (const double rate : rates) angles.push_back(position * rate);
  }
  const auto table = Cache<Rad>::from_angles(angles, Rad(1.0), 2, Shape{2});
  Eigen::Tensor<double, 2> x(4, 2);
  x.setConstant(1);
  const Eigen::Tensor<Rad, 2> y = eigen_rope::rotate(x, table, eigen_rope::interleaved);
  Rad loss = y(0, 0) + y(0, 1);  // y_A of pair 0, whose rate is 1
  Rad::Gradcomp();
  constexpr double few_roundings = 8 * std::numeric_limits<double>::epsilon();
  for (const Rad& position : positions)
    EXPECT_NEAR(position.adj(), -std::sin(position.val()) - std::cos(position.val()),
                few_roundings);
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
