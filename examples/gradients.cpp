// SPDX-License-Identifier: Apache-2.0
//
// What a training step can ask of a rotation: dx, and the gradients of rates, positions, attention
// factor and base, from y and dL/dy alone. The loss is L = sum w y; each number is compared with a
// difference quotient of L.
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

namespace {

using Tensor = Eigen::Tensor<double, 3>;

constexpr er::Index head_size = 16, heads = 2, tokens = 6;

/// Rates from a base, scaled by YaRN so that the base moves the ends of its ramp as well.
struct Model {
  er::Powers<> powers{head_size};
  er::GgmlYarn<> yarn;
  std::vector<double> positions{0, 1, 2, 3, 4.5, 7};

  er::Frequencies frequencies() const { return er::Frequencies(powers, yarn); }
  er::Positions places() const { return er::Positions::ids(positions); }
  er::Cache<double> cache() const { return {frequencies(), places(), er::Layout::tnd()}; }
};

double loss(const Model& model, const Tensor& x, const Tensor& w) {
  const er::Cache<double> cache = model.cache();
  const Eigen::Tensor<double, 0> sum = (er::rotate(x, cache, er::split_half) * w).sum();
  return sum();
}

bool show(const char* name, double gradient, double quotient) {
  fmt::print("{:<18} {:>14.9f}   by differences {:>14.9f}\n", name, gradient, quotient);
  return std::abs(gradient - quotient) < 1e-6 * std::max(1.0, std::abs(quotient));
}

}  // namespace

int main() {
  Model model;
  model.powers.base = 50;
  model.powers.linear_scale = 0.25;
  model.yarn.original_context = 64;
  model.yarn.beta_fast = 8;
  model.yarn.ends = er::RampEnds::exact;
  Tensor x(head_size, heads, tokens), w(head_size, heads, tokens), dx(head_size, heads, tokens);
  x.setRandom();
  w.setRandom();

  // Forward, in place: the input is not kept.
  const er::Cache<double> cache = model.cache();
  Tensor y = x;
  er::rotate_inplace(y, cache, er::split_half);

  // Backward: one pass over y and dL/dy = w.
  const auto wanted = er::Wanted::angle | er::Wanted::log_magnitude;
  const auto d = er::gradients_to(dx, y, w, cache, er::split_half, {wanted});
  const er::RateGradients rates{
      er::rate_gradients(d, model.places(), er::Layout::tnd()),
      er::attention_factor_gradient(d, model.frequencies(), model.places(), er::Layout::tnd())};
  const auto parameters = er::scaling_gradients(model.powers, model.yarn, rates);
  const std::vector<double> positions =
      er::position_gradients(d, model.frequencies(), model.places(), er::Layout::tnd());

  const auto quotient = [&](auto&& member) {
    Model more = model;
    Model less = model;
    const double step = 1e-5 * std::max(1.0, std::abs(member(model)));
    member(more) += step;
    member(less) -= step;
    return (loss(more, x, w) - loss(less, x, w)) / (2 * step);
  };
  Tensor moved = x;
  moved(3, 1, 4) += 1;  // L is linear in x: the step may be large
  bool right = show("x(3, 1, 4)", dx(3, 1, 4), loss(model, moved, w) - loss(model, x, w));
  right &= show("base", parameters.powers.base,
                quotient([](auto& m) -> auto& { return m.powers.base; }));
  right &= show("linear scale", parameters.powers.linear_scale,
                quotient([](auto& m) -> auto& { return m.powers.linear_scale; }));
  right &= show("attention factor", parameters.powers.attention_factor,
                quotient([](auto& m) -> auto& { return m.powers.attention_factor; }));
  right &= show("beta fast", parameters.scaling.beta_fast,
                quotient([](auto& m) -> auto& { return m.yarn.beta_fast; }));
  right &= show("position of 4", positions[4],
                quotient([](auto& m) -> auto& { return m.positions[4]; }));

  // Forward mode: how y moves when the fifth token's angles move by its rates, that is when its
  // position does.
  std::vector<double> dt(static_cast<std::size_t>(cache.pairs() * tokens));
  for (er::Index k = 0; k < cache.pairs(); ++k) {
    dt[static_cast<std::size_t>(4 * cache.pairs() + k)] =
        static_cast<double>(model.frequencies().rates()[static_cast<std::size_t>(k)]);
  }
  Tensor still(head_size, heads, tokens), dy(head_size, heads, tokens);
  still.setZero();
  er::jvp_to(dy, x, still, cache, er::tangent_of(cache, dt), er::split_half);
  const Eigen::Tensor<double, 0> along = (dy * w).sum();
  right &= show("the same, forward", along(), positions[4]);

  // Second order: how dL/dx moves when that position does, and how dL/dposition does.
  Tensor ddx(head_size, heads, tokens);
  er::rotate_tangent_to(ddx, w, er::tangent_of(cache, dt), er::split_half, er::Direction::backward);
  double curvature = 0;
  for (std::size_t i = 0; i < dt.size(); ++i) curvature -= dt[i] * dt[i] * d.log_magnitude[i];
  const auto moved_by = [&](double step) {
    Model other = model;
    other.positions[4] += step;
    return other;
  };
  const double step = 1e-3;
  right &= show("dx's derivative", ddx(3, 1, 4),
                (loss(moved_by(step), moved, w) - loss(moved_by(step), x, w) -
                 loss(moved_by(-step), moved, w) + loss(moved_by(-step), x, w)) /
                    (2 * step));
  right &= show("second derivative", curvature,
                (loss(moved_by(step), x, w) - 2 * loss(model, x, w) + loss(moved_by(-step), x, w)) /
                    (step * step));
  return right ? 0 : 1;
}
