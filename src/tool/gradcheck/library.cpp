// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/library.hpp"

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/scaling_gradients.hpp"
#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/gradients/xpos_gradients.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::tool {
namespace {

template <class Scalar>
std::vector<Scalar> narrow(const std::vector<double>& values) {
  std::vector<Scalar> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(static_cast<Scalar>(value));
  return result;
}

template <class Scalar>
std::vector<double> widen(const std::vector<Scalar>& values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const Scalar value : values) result.push_back(static_cast<double>(value));
  return result;
}

template <class Scalar>
StridedView<Scalar> dense(Scalar* data, const Shape& shape) {
  StridedView<Scalar> view{data, shape, {}};
  eigen_rope::Index stride = 1;
  for (int axis = 1; axis < shape.rank(); ++axis) view.strides.push_back(stride *= shape[axis - 1]);
  return view;
}

/// A full-width table made from a half-width one.
template <class Scalar>
struct FullTable {
  std::vector<Scalar> cos{}, sin{};
  eigen_rope::Index width = 0;
  Shape outer{};

  FullTable(const TableView<Scalar>& table, PairKind kind)
      : width(2 * table.width), outer(table.outer) {
    cos.resize(static_cast<std::size_t>(width * outer.size()));
    sin.resize(cos.size());
    for (eigen_rope::Index row = 0; row < outer.size(); ++row) {
      for (eigen_rope::Index k = 0; k < table.width; ++k) {
        const PairSlots slot = pair_slots(kind, k, width);
        const auto A = static_cast<std::size_t>(row * width + slot.A);
        const auto B = static_cast<std::size_t>(row * width + slot.B);
        const auto c = static_cast<double>(table.cos[row * table.width + k]);
        const auto s = static_cast<double>(table.sin[row * table.width + k]);
        cos[A] = static_cast<Scalar>(full_width.a_cos * c);
        cos[B] = static_cast<Scalar>(full_width.b_cos * c);
        sin[A] = static_cast<Scalar>(full_width.a_sin * s);
        sin[B] = static_cast<Scalar>(full_width.b_sin * s);
      }
    }
  }
  TableView<Scalar> view() const { return {cos.data(), sin.data(), width, outer}; }
};

/// From the rates' gradients to the parameters they were made from.
void add_scaling(Answers& answers, const Problem& problem, const RateGradients& rates,
                 const std::string& from) {
  if (!problem.rates.empty()) return;
  const auto add = [&](auto& gradients) {
    for (const auto& [name, numbers, is_list] : numbers_of<double>(gradients)) {
      for (const double* number : numbers) answers[name + from].push_back(*number);
    }
  };
  const Powers<> powers = stretched(problem.powers, problem.beside);
  auto d = scaling_gradients(powers, problem.scaling, rates, sequence_length);
  if (problem.beside.ntk_factor) {
    const auto dims = static_cast<double>(powers.rotary_dims);
    const double by_stretched = d.powers.base;
    d.powers.base = by_stretched * (powers.base / problem.powers.base);
    answers["ntk_factor" + from] = {
        by_stretched * (powers.base * (dims / (dims - 2)) / *problem.beside.ntk_factor)};
  }
  add(d.powers);
  std::visit(add, d.scaling);
}

/// From the angles' gradients to positions and rates, and on.
void add_parameters(Answers& answers, const Problem& problem, const Gradients<double>& d,
                    const std::string& from) {
  const Frequencies frequencies = problem.frequencies();
  const Positions positions = problem.positions();
  answers["positions" + from] = position_gradients(d, frequencies, positions, problem.layout());
  const RateGradients rates{rate_gradients(d, positions, problem.layout()),
                            attention_factor_gradient(d, frequencies, positions, problem.layout())};
  answers["rates" + from] = rates.rates;
  answers["m" + from] = {rates.attention_factor};
  add_scaling(answers, problem, rates, from);
  if (!problem.has_xpos()) return;
  const XposGradients xpos =
      xpos_gradients(d, positions, problem.xpos(), problem.xpos_side, problem.layout());
  answers["xpos_scale_base" + from] = {xpos.scale_base};
  answers["xpos_gamma" + from] = {xpos.gamma};
  answers["xpos_center" + from] = {xpos.center};
  std::vector<double>& both = answers["positions" + from];
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += xpos.positions[i];
}

template <class Scalar>
Cache<Scalar> table_of(const Problem& problem) {
  if (problem.has_xpos())
    return xpos_cache<Scalar>(problem.frequencies(), problem.positions(), problem.xpos(),
                              problem.xpos_side, problem.layout());
  return Cache<Scalar>(problem.frequencies(), problem.positions(), problem.layout());
}

template <class Scalar>
Answers answers_in(const Problem& problem) {
  using TableScalar = std::conditional_t<std::is_same_v<Scalar, double>, double, float>;
  constexpr Wanted everything = Wanted::angle | Wanted::log_magnitude | Wanted::table;
  const Cache<TableScalar> cache = table_of<TableScalar>(problem);
  const Pairing pairing = problem.pairing;
  const Shape& shape = problem.shape;
  const std::vector<Scalar> x = narrow<Scalar>(problem.x);
  const std::vector<Scalar> g = narrow<Scalar>(problem.g);
  const std::vector<Scalar> v = narrow<Scalar>(problem.v);
  const auto x_view = dense(x.data(), shape);
  const auto g_view = dense(g.data(), shape);
  const auto v_view = dense(v.data(), shape);
  Answers answers;

  std::vector<Scalar> y(x.size());
  const auto y_view = dense(y.data(), shape);
  rotate_to(y_view, x_view, cache, pairing);
  answers["y"] = widen(y);
  std::vector<Scalar> out(x.size());
  const auto out_view = dense(out.data(), shape);
  rotate_to(out_view, y_view, cache, pairing, Direction::inverse);
  answers["inverse"] = widen(out);
  rotate_to(out_view, g_view, cache, pairing, Direction::backward);
  answers["backward"] = widen(out);

  const auto from_y = gradients_to(out_view, y_view, g_view, cache, pairing, {everything});
  answers["dx from y"] = widen(out);
  answers["cos from y"] = from_y.cos;
  answers["sin from y"] = from_y.sin;
  answers["angle from y"] = from_y.angle;
  answers["log m from y"] = from_y.log_magnitude;
  add_parameters(answers, problem, from_y, " from y");
  const auto alone = gradients_to(out_view, y_view, g_view, cache, pairing);
  answers["dx with angle alone"] = widen(out);
  answers["angle alone from y"] = alone.angle;

  const auto from_x =
      gradients_to(out_view, x_view, g_view, cache, pairing, {everything, GradientsFrom::input});
  answers["dx from x"] = widen(out);
  answers["cos from x"] = from_x.cos;
  answers["sin from x"] = from_x.sin;
  answers["angle from x"] = from_x.angle;
  answers["log m from x"] = from_x.log_magnitude;
  add_parameters(answers, problem, from_x, " from x");

  std::vector<Scalar> dcos(from_x.cos.size());
  std::vector<Scalar> dsin(from_x.cos.size());
  table_gradient(TableGradient<Scalar>{dcos.data(), dsin.data(), cache.pairs(), cache.outer()},
                 x_view, g_view, pairing);
  answers["cos of table_gradient"] = widen(dcos);
  answers["sin of table_gradient"] = widen(dsin);

  const FullTable<TableScalar> full(cache.view(), pairing.kind());
  const auto of_full =
      gradients_to(out_view, x_view, g_view, full, pairing, {Wanted::table, GradientsFrom::input});
  answers["dx, full width"] = widen(out);
  answers["cos, full width"] = of_full.cos;
  answers["sin, full width"] = of_full.sin;

  const auto tangent = tangent_of(cache, problem.angle_tangent, problem.log_magnitude_tangent);
  jvp_to(out_view, x_view, v_view, cache, tangent, pairing);
  answers["jvp"] = widen(out);
  const auto turning = tangent_of(cache, problem.angle_tangent);
  jvp_to(out_view, x_view, v_view, cache, turning, pairing);
  answers["second order, to g"] = widen(out);
  rotate_tangent_to(out_view, g_view, turning, pairing, Direction::backward);
  answers["second order, to x"] = widen(out);
  std::vector<double> to_angle =
      gradients(v_view, g_view, cache, pairing, {Wanted::angle, GradientsFrom::input}).angle;
  for (std::size_t e = 0; e < to_angle.size(); ++e)
    to_angle[e] -= problem.angle_tangent[e] * from_x.log_magnitude[e];
  answers["second order, to angles"] = to_angle;
  return answers;
}

}  // namespace

Answers library_answers(const Problem& problem) {
  return detail::with_scalar(problem.at.scalar, [&](auto tag) {
    return answers_in<typename decltype(tag)::type>(problem);
  });
}

}  // namespace eigen_rope::tool
