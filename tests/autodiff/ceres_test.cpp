// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by Ceres' Jet: forward mode with a fixed number of derivatives at a time.
//
// jet.h brings Eigen's traits along and is all that is needed of Ceres; nothing has to be solved or linked. Where there are more inputs
// than a Jet has parts, they are taken some at a time, as Ceres' DynamicAutoDiffCostFunction does. Jets nest, for second
// derivatives, but convert from a number only explicitly, and a Jet of Jets only from a Jet.
#include "autodiff/second_order.hpp"

#include <ceres/jet.h>

namespace rope::test::autodiff {
namespace {

constexpr int kParts = 8;
using Jet = ceres::Jet<double, kParts>;

std::vector<double> gradient(const Setting& s) {
  const std::vector<double> values = values_of(s);
  std::vector<double> result;
  for (std::size_t begin = 0; begin < values.size(); begin += kParts) {
    std::vector<Jet> inputs(values.begin(), values.end());
    const std::size_t parts = std::min<std::size_t>(kParts, values.size() - begin);
    for (std::size_t i = 0; i < parts; ++i) inputs[begin + i].v[static_cast<int>(i)] = 1;
    const Jet loss = loss_of(s, inputs);
    result.insert(result.end(), loss.v.data(), loss.v.data() + parts);
  }
  return result;
}

TEST(CeresJet, GradientOfEverything) { expect_every_gradient(gradient); }

/// The inner part is the derivative along the direction, its own parts are that derivative's gradient.
std::vector<double> hessian_vector(const SecondOrderSetting& s) {
  using Nested = ceres::Jet<Jet, 1>;
  std::vector<double> result;
  for (std::size_t begin = 0; begin < s.inputs.size(); begin += kParts) {
    std::vector<Nested> inputs;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      Nested input(Jet(s.inputs[i]));
      input.v[0] = Jet(s.direction[i]);
      if (i >= begin && i < begin + kParts) input.a.v[static_cast<int>(i - begin)] = 1;
      inputs.push_back(input);
    }
    const Nested loss = bilinear_loss(s, inputs, Nested(Jet(s.m)));
    const std::size_t parts = std::min<std::size_t>(kParts, s.inputs.size() - begin);
    result.insert(result.end(), loss.v[0].v.data(), loss.v[0].v.data() + parts);
  }
  return result;
}

TEST(CeresJet, SecondOrderByNesting) { expect_every_second_order(hessian_vector); }

/// The slope of y in YaRN's three parameters at once.
TEST(CeresJet, ReadsLikeThis) {
  using Jet3 = ceres::Jet<double, 3>;
  BasicPowers<Jet3> powers;
  powers.rotary_dims = 8;
  powers.linear_scale = Jet3(0.25);
  BasicYarn<Jet3> yarn;
  yarn.original_context = 4096;
  yarn.ends = RampEnds::exact;
  yarn.ext_factor = Jet3(1.0, 0);
  yarn.beta_fast = Jet3(32.0, 1);
  yarn.beta_slow = Jet3(1.0, 2);
  const BasicRates<Jet3> rates = yarn_rates(powers, yarn);
  const auto table = CosSinCache<Jet3>::from_rates(rates.rates, rates.attention_factor, Positions::range(0, 8), Layout::sd());
  Eigen::Tensor<double, 2> x(8, 8);
  x.setConstant(1);
  const Eigen::Tensor<Jet3, 2> y = rope::rotate(x, table, rope::interleaved);
  // Pair 2 lies on the ramp: it turns slower when beta_fast or beta_slow grows, and faster with ext_factor. y_A falls as the angle grows.
  EXPECT_LT(y(4, 7).v[0], 0);
  EXPECT_GT(y(4, 7).v[1], 0);
  EXPECT_GT(y(4, 7).v[2], 0);
}

}  // namespace
}  // namespace rope::test::autodiff
