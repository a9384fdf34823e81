// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by Ceres' Jet: forward mode with a fixed number of derivatives at a time.
//
// jet.h brings Eigen's traits along and is all that is needed of Ceres; nothing has to be solved or
// linked. Where there are more inputs than a Jet has parts, they are taken some at a time, as
// Ceres' DynamicAutoDiffCostFunction does. Jets nest, for second derivatives, but convert from a
// number only explicitly, and a Jet of Jets only from a Jet.
#include "support/axis_derivatives.hpp"
#include "support/second_order.hpp"

#include <ceres/jet.h>

#include <algorithm>
#include <array>
#include <eigen_rope/forms/reference.hpp>
#include <eigen_rope/gradients/gradients.hpp>
#include <eigen_rope/rotation/rotate_strided.hpp>
#include <eigen_rope/rotation/tensor_view.hpp>
#include <limits>
#include <vector>

namespace eigen_rope::test::autodiff {
namespace {

constexpr int kParts = 8;
using Jet = ceres::Jet<double, kParts>;

template <class Problem>
std::vector<double> gradient(const Problem& s) {
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

TEST(CeresJet, GradientOfEverything) { expect_every_gradient(gradient<Setting>); }
TEST(CeresJet, GradientAlongEveryAxis) { expect_along_every_axis(gradient<AxisProblem>); }

/// The inner part is the derivative along the direction, its own parts are that derivative's
/// gradient.
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

using InnerJet = ceres::Jet<double, 1>;
using JetOfJets = ceres::Jet<InnerJet, 1>;
using Part = double (*)(const JetOfJets&);
/// The value, the derivative in either variable, and the one in both.
constexpr std::array<Part, 4> every_part{
    [](const JetOfJets& x) { return x.a.a; }, [](const JetOfJets& x) { return x.a.v[0]; },
    [](const JetOfJets& x) { return x.v[0].a; }, [](const JetOfJets& x) { return x.v[0].v[0]; }};

using Rows = Eigen::Tensor<JetOfJets, 3>;

/// y is linear in x, so each part of y is the rotation of that part of x.
void expect_every_part_rotated(const Rows& y, const Rows& x, const Cache<double>& table,
                               Pairing pairing, Direction direction) {
  const Shape shape{x.dimension(0), x.dimension(1), x.dimension(2)};
  for (const Part part : every_part) {
    std::vector<double> x_part(static_cast<std::size_t>(x.size()));
    std::transform(x.data(), x.data() + x.size(), x_part.begin(), part);
    std::vector<double> expected(x_part.size());
    reference::rotate(x_part.data(), expected.data(), shape, table.view(), pairing, direction);
    // |x| < 1, m = 1: two products and a sum, with a determinant and two divisions in the inverse.
    constexpr double bound = 8 * std::numeric_limits<double>::epsilon();
    for (Index i = 0; i < x.size(); ++i)
      ASSERT_NEAR(part(y.data()[i]), expected[static_cast<std::size_t>(i)], bound);
  }
}

/// On the fastest axis, the middle one and the slowest one.
TEST(CeresJet, OfJetsTurnsByATableOfDoubles) {
  const Index D = 10;
  const Index heads = 2;
  const Index tokens = 3;
  const Cache<double> table(Frequencies::powers({8}), Positions::range(5, tokens), Layout::tnd());
  const std::vector<double> values = random_values<double>(4 * D * heads * tokens, 21);
  Rows x(D, heads, tokens);
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
    JetOfJets& element = x.data()[i];
    element.a.a = values[4 * i];
    element.a.v[0] = values[4 * i + 1];
    element.v[0].a = values[4 * i + 2];
    element.v[0].v[0] = values[4 * i + 3];
  }
  using Axis = AlongAxis<3, Eigen::ColMajor>;
  const Axis axes[] = {Axis(x.dimensions(), 0), Axis(Axis::Sizes(heads, D, tokens), 1),
                       Axis(Axis::Sizes(heads, tokens, D), 2)};
  for (const PairKind kind : every_kind) {
    const Pairing front = Pairing(kind).with_offset(1).with_rotary_dims(8);
    for (const Axis& axis : axes) {
      SCOPED_TRACE(testing::Message() << front << ", axis " << axis.place());
      const Pairing pairing = axis.place() == 0 ? front : front.along(axis.place());
      const Rows moved = axis.from_front(x);
      Rows y = eigen_rope::rotate(moved, table, pairing);
      expect_every_part_rotated(axis.to_front(y), x, table, front, Direction::forward);
      y = -eigen_rope::rotate_backward(-moved, table, pairing);
      expect_every_part_rotated(axis.to_front(y), x, table, front, Direction::backward);
      eigen_rope::rotate_to(eigen_rope::strided_view(y), eigen_rope::strided_view(moved), table,
                            pairing, Direction::inverse);
      expect_every_part_rotated(axis.to_front(y), x, table, front, Direction::inverse);
    }
  }
}

/// The sums of gradients begin at numbers, too: <dx, x> = <g, y>, and the angle's gradient is y_A
/// g_B - y_B g_A.
TEST(CeresJet, OfJetsHasGradients) {
  const Cache<double> table(Frequencies::powers({2}), Positions::range(5, 1), Layout::sd());
  Eigen::Tensor<JetOfJets, 2> y(2, 1);
  Eigen::Tensor<JetOfJets, 2> g(2, 1);
  for (Index i = 0; i < 2; ++i) {
    y(i, 0) = JetOfJets(InnerJet(0.5 + static_cast<double>(i), 0));
    g(i, 0) = JetOfJets(InnerJet(0.25 - static_cast<double>(i)), 0);
  }
  const auto gradients = eigen_rope::gradients(y, g, table, eigen_rope::split_half,
                                               {Wanted::angle | Wanted::log_magnitude});
  const JetOfJets angle = y(0, 0) * g(1, 0) - y(1, 0) * g(0, 0);
  const JetOfJets log_magnitude = y(0, 0) * g(0, 0) + y(1, 0) * g(1, 0);
  for (const Part part : every_part) {
    EXPECT_DOUBLE_EQ(part(gradients.angle[0]), part(angle));
    EXPECT_DOUBLE_EQ(part(gradients.log_magnitude[0]), part(log_magnitude));
  }
}

/// The slope of y in YaRN's three parameters at once.
TEST(CeresJet, ReadsLikeThis) {
  using Jet3 = ceres::Jet<double, 3>;
  Powers<Jet3> powers;
  powers.rotary_dims = 8;
  powers.linear_scale = Jet3(0.25);
  GgmlYarn<Jet3> yarn;
  yarn.original_context = 4096;
  yarn.ends = RampEnds::exact;
  yarn.ext_factor = Jet3(1.0, 0);
  yarn.beta_fast = Jet3(32.0, 1);
  yarn.beta_slow = Jet3(1.0, 2);
  const Rates<Jet3> rates = yarn.rates(powers);
  const auto table = Cache<Jet3>::from_rates(rates.rates, rates.attention_factor,
                                             Positions::range(0, 8), Layout::sd());
  Eigen::Tensor<double, 2> x(8, 8);
  x.setConstant(1);
  const Eigen::Tensor<Jet3, 2> y = eigen_rope::rotate(x, table, eigen_rope::interleaved);
  // Pair 2 lies on the ramp: it turns slower when beta_fast or beta_slow grows, and faster with
  // ext_factor. y_A falls as the angle grows.
  EXPECT_LT(y(4, 7).v[0], 0);
  EXPECT_GT(y(4, 7).v[1], 0);
  EXPECT_GT(y(4, 7).v[2], 0);
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
