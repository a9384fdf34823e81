// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/loss.hpp"

#include <cmath>
#include <functional>

namespace eigen_rope::tool {
namespace {

constexpr Real imaginary_step = 0x1p-200L;  // its square is nothing beside any number here

Complex stepped(Real value) { return {value, imaginary_step}; }
Real slope(const Complex& value) { return value.imag() / imaginary_step; }

std::vector<Real> wide(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// The members of pair k in a window of 2 P elements, read at a, b and written to A, B.
PairSlots slots_by_definition(PairKind kind, eigen_rope::Index k, eigen_rope::Index P) {
  switch (kind) {
    case PairKind::split_half: return {k, k + P, k, k + P};
    case PairKind::interleaved: return {2 * k, 2 * k + 1, 2 * k, 2 * k + 1};
    case PairKind::interleaved_to_split_half: return {2 * k, 2 * k + 1, k, k + P};
    case PairKind::quarter: break;
  }
  const eigen_rope::Index first = k < P / 2 ? k : k + P / 2;
  return {first, first + P / 2, first, first + P / 2};
}

template <class C, class X>
auto first_output(const C& c, const C& s, const X& a, const X& b) {
  return c * a - s * b;
}
template <class C, class X>
auto second_output(const C& c, const C& s, const X& a, const X& b) {
  return c * b + s * a;
}

}  // namespace

Loss::Loss(const Problem& problem)
    : problem_(problem),
      x_(wide(problem.x)),
      g_(wide(problem.g)),
      v_(wide(problem.v)),
      positions_(wide(problem.ids)),
      angle_tangent_(wide(problem.angle_tangent)),
      log_magnitude_tangent_(wide(problem.log_magnitude_tangent)),
      rates_(rates_of(problem.at.scaling, problem.parameters.cast<Real>())) {
  const eigen_rope::Index features = problem.shape[0];
  const eigen_rope::Index P = problem.pairs();
  const auto size = static_cast<eigen_rope::Index>(x_.size());
  copied_.assign(x_.size(), 1);
  const auto places = static_cast<std::size_t>(problem.tokens * problem.batches);
  pairs_of_entry_.resize(places * static_cast<std::size_t>(P));
  entries_.resize(pairs_of_entry_.size());
  for (eigen_rope::Index k = 0; k < P; ++k) {
    const PairSlots slot = slots_by_definition(problem.at.pairing, k, P);
    full_places_.push_back(static_cast<std::size_t>(slot.A));
    full_places_.push_back(static_cast<std::size_t>(slot.B));
  }
  for (eigen_rope::Index first = 0; first < size; first += features) {
    eigen_rope::Index rest = first / features;
    eigen_rope::Index row = 0, stride = 1, token = 0, batch = 0;
    for (const Axis& axis : problem.axes) {
      const eigen_rope::Index coordinate = rest % axis.extent;
      rest /= axis.extent;
      if (axis.name == "head") continue;
      (axis.name == "token" ? token : batch) = coordinate;
      row += coordinate * stride;
      stride *= axis.extent;
    }
    for (eigen_rope::Index k = 0; k < P; ++k) {
      const PairSlots slot = slots_by_definition(problem.at.pairing, k, P);
      const auto element = [&](eigen_rope::Index i) {
        return static_cast<std::size_t>(first + problem.pairing.offset() + i);
      };
      const auto entry = static_cast<std::size_t>(row * P + k);
      const eigen_rope::Index axis = problem.sections ? problem.sections->axis(k) : 0;
      const auto id =
          static_cast<std::size_t>((axis * problem.batches + batch) * problem.tokens + token);
      const Complex growth = log_growth(k, stepped(positions_[id]), complex_xpos());
      entries_[entry] = {k,
                         static_cast<std::size_t>(row),
                         id,
                         positions_[id],
                         rates_.rates[static_cast<std::size_t>(k)],
                         rates_.attention_factor * std::exp(growth.real()),
                         slope(growth)};
      pairs_of_entry_[entry].push_back(pairs_.size());
      pairs_.push_back({element(slot.a), element(slot.b), element(slot.A), element(slot.B), entry});
      for (const eigen_rope::Index i : {slot.A, slot.B}) copied_[element(i)] = 0;
    }
  }
  table_ = table_of(rates_, positions_, problem.parameters.cast<Real>().xpos);
}

PairSizes Loss::sizes(const PairPlace& pair) const {
  return {std::hypot(x_[pair.a], x_[pair.b]), std::hypot(g_[pair.A], g_[pair.B]),
          std::hypot(v_[pair.a], v_[pair.b])};
}

template <class S>
S Loss::log_growth(eigen_rope::Index pair, const S& position, const XposParameters<S>& xpos) const {
  using std::log;
  if (problem_.at.scaling != ScalingKind::xpos) return S(0);
  const S zeta =
      (S(static_cast<Real>(2 * pair)) / S(static_cast<Real>(2 * problem_.pairs())) + xpos.gamma) /
      (xpos.gamma + S(1));
  const S power = (position - xpos.center) / xpos.scale_base;
  return problem_.xpos_side == XposSide::query ? S(power * log(zeta)) : S(-power * log(zeta));
}

template <class S>
Loss::Table<S> Loss::table_of(const Rates<S>& rates, const std::vector<S>& positions,
                              const XposParameters<S>& xpos) const {
  using std::cos;
  using std::exp;
  using std::sin;
  Table<S> table;
  for (const TableEntry& entry : entries_) {
    const S angle = positions[entry.id] * rates.rates[static_cast<std::size_t>(entry.pair)];
    const S magnitude =
        rates.attention_factor * exp(log_growth(entry.pair, positions[entry.id], xpos));
    table.cos.push_back(magnitude * cos(angle));
    table.sin.push_back(magnitude * sin(angle));
  }
  return table;
}

template <class S>
S Loss::value(const Table<S>& table) const {
  S sum(0);
  for (const PairPlace& pair : pairs_) {
    const S& c = table.cos[pair.entry];
    const S& s = table.sin[pair.entry];
    sum += g_[pair.A] * first_output(c, s, x_[pair.a], x_[pair.b]);
    sum += g_[pair.B] * second_output(c, s, x_[pair.a], x_[pair.b]);
  }
  return sum;
}

Loss::Numbers Loss::rotated() const {
  Numbers y = x_;
  for (const PairPlace& pair : pairs_) {
    y[pair.A] =
        first_output(table_.cos[pair.entry], table_.sin[pair.entry], x_[pair.a], x_[pair.b]);
    y[pair.B] =
        second_output(table_.cos[pair.entry], table_.sin[pair.entry], x_[pair.a], x_[pair.b]);
  }
  return y;
}

// The loss is a sum over pairs: stepping an element, its own pair is all that moves.

Loss::Numbers Loss::input_gradient() const {
  Numbers dx = g_;
  for (const PairPlace& pair : pairs_) {
    const Real c = table_.cos[pair.entry];
    const Real s = table_.sin[pair.entry];
    const auto loss = [&](const Complex& a, const Complex& b) {
      return g_[pair.A] * first_output(c, s, a, b) + g_[pair.B] * second_output(c, s, a, b);
    };
    const Complex a(x_[pair.a]);
    const Complex b(x_[pair.b]);
    dx[pair.a] = slope(loss(stepped(x_[pair.a]), b));
    dx[pair.b] = slope(loss(a, stepped(x_[pair.b])));
  }
  return dx;
}

Loss::Numbers Loss::full_width_input_gradient() const {
  Numbers dx = g_;
  for (const PairPlace& pair : pairs_) {
    const Real c = table_.cos[pair.entry];
    const Real s = table_.sin[pair.entry];
    const auto loss = [&](const Complex& a, const Complex& b) {
      return g_[pair.A] * first_output(full_width.a_cos * c, full_width.a_sin * s, a, b) +
             g_[pair.B] * second_output(full_width.b_cos * c, full_width.b_sin * s, a, b);
    };
    dx[pair.a] = slope(loss(stepped(x_[pair.a]), Complex(x_[pair.b])));
    dx[pair.b] = slope(loss(Complex(x_[pair.a]), stepped(x_[pair.b])));
  }
  return dx;
}

Loss::TableNumbers Loss::table_gradient() const {
  TableNumbers d{Numbers(entries(), 0), Numbers(entries(), 0)};
  for (const PairPlace& pair : pairs_) {
    const std::size_t e = pair.entry;
    const auto loss = [&](const Complex& c, const Complex& s) {
      return g_[pair.A] * first_output(c, s, x_[pair.a], x_[pair.b]) +
             g_[pair.B] * second_output(c, s, x_[pair.a], x_[pair.b]);
    };
    d.cos[e] += slope(loss(stepped(table_.cos[e]), Complex(table_.sin[e])));
    d.sin[e] += slope(loss(Complex(table_.cos[e]), stepped(table_.sin[e])));
  }
  return d;
}

Loss::FullSlots Loss::full_slot(const PairPlace& pair) const {
  const TableEntry& entry = entries_[pair.entry];
  const std::size_t row = entry.row * full_places_.size();
  const auto k = static_cast<std::size_t>(entry.pair);
  return {row + full_places_[2 * k], row + full_places_[2 * k + 1]};
}

Loss::TableNumbers Loss::full_width_table_gradient() const {
  TableNumbers d{Numbers(2 * entries(), 0), Numbers(2 * entries(), 0)};
  for (const PairPlace& pair : pairs_) {
    const FullSlots slot = full_slot(pair);
    const Complex c(table_.cos[pair.entry]);
    const Complex s(table_.sin[pair.entry]);
    const Complex i(0, imaginary_step);
    const Real a = x_[pair.a];
    const Real b = x_[pair.b];
    d.cos[slot.A] += slope(g_[pair.A] * first_output(c + i, s, a, b));
    d.sin[slot.A] += slope(g_[pair.A] * first_output(c, s + i, a, b));
    d.cos[slot.B] += slope(g_[pair.B] * second_output(c + i, s, a, b));
    d.sin[slot.B] += slope(g_[pair.B] * second_output(c, s + i, a, b));
  }
  return d;
}

Loss::Numbers Loss::angle_gradient() const {
  Numbers d(entries(), 0);
  for (const PairPlace& pair : pairs_) {
    const TableEntry& entry = entries_[pair.entry];
    const Complex angle = stepped(entry.position * entry.rate);
    const Complex c = entry.magnitude * std::cos(angle);
    const Complex s = entry.magnitude * std::sin(angle);
    d[pair.entry] += slope(g_[pair.A] * first_output(c, s, x_[pair.a], x_[pair.b]) +
                           g_[pair.B] * second_output(c, s, x_[pair.a], x_[pair.b]));
  }
  return d;
}

Loss::Numbers Loss::log_magnitude_gradient() const {
  Numbers d(entries(), 0);
  const Complex growth = std::exp(Complex(0, imaginary_step));
  for (const PairPlace& pair : pairs_) {
    const Complex c = table_.cos[pair.entry] * growth;
    const Complex s = table_.sin[pair.entry] * growth;
    d[pair.entry] += slope(g_[pair.A] * first_output(c, s, x_[pair.a], x_[pair.b]) +
                           g_[pair.B] * second_output(c, s, x_[pair.a], x_[pair.b]));
  }
  return d;
}

std::vector<Complex> Loss::complex_positions() const {
  return {positions_.begin(), positions_.end()};
}

Rates<Complex> Loss::stepped_rates() const {
  return {std::vector<Complex>(rates_.rates.begin(), rates_.rates.end()),
          Complex(rates_.attention_factor)};
}

Real Loss::slope_at(const Rates<Complex>& rates, const XposParameters<Complex>& xpos) const {
  return slope(value(table_of(rates, complex_positions(), xpos)));
}

Loss::Numbers Loss::position_gradient() const {
  const Rates<Complex> rates = stepped_rates();
  Numbers d;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    std::vector<Complex> positions = complex_positions();
    positions[i] = stepped(positions_[i]);
    d.push_back(slope(value(table_of(rates, positions, complex_xpos()))));
  }
  return d;
}

Loss::Numbers Loss::rate_gradient() const {
  Numbers d;
  for (std::size_t k = 0; k < rates_.rates.size(); ++k) {
    Rates<Complex> rates = stepped_rates();
    rates.rates[k] = stepped(rates_.rates[k]);
    d.push_back(slope_at(rates, complex_xpos()));
  }
  return d;
}

Real Loss::magnitude_gradient() const {
  Rates<Complex> rates = stepped_rates();
  rates.attention_factor = stepped(rates_.attention_factor);
  return slope_at(rates, complex_xpos());
}

std::vector<ParameterSlope> Loss::parameter_slopes() const {
  using Parameters = ScalingParameters<Complex>;
  const ScalingKind kind = problem_.at.scaling;
  std::vector<ParameterSlope> slopes;
  if (kind == ScalingKind::rates) return slopes;
  Parameters parameters = problem_.parameters.cast<Complex>();
  // Factors that are not given count as 1.
  const bool has_lists = kind == ScalingKind::longrope;
  if (parameters.powers.factors.empty() && !has_lists)
    parameters.powers.factors.assign(rates_.rates.size(), Complex(1));

  const auto add = [&](ParameterSlope& result, const std::function<Complex&(Parameters&)>& member) {
    Parameters moved = parameters;
    member(moved) += Complex(0, imaginary_step);
    const Rates<Complex> rates = rates_of(kind, moved);
    result.values.push_back(slope_at(rates, moved.xpos));
    result.magnitude_slopes.push_back(slope(rates.attention_factor));
    Numbers rate_slopes;
    for (const Complex& rate : rates.rates) rate_slopes.push_back(slope(rate));
    result.rate_slopes.push_back(rate_slopes);
    Numbers growth_slopes;
    for (const TableEntry& entry : entries_)
      growth_slopes.push_back(
          slope(log_growth(entry.pair, Complex(positions_[entry.id]), moved.xpos)));
    result.growth_slopes.push_back(growth_slopes);
  };
  const auto add_one = [&](Quantity quantity, const char* name,
                           const std::function<Complex&(Parameters&)>& member) {
    ParameterSlope result{quantity, name, {}, {}, {}, {}};
    add(result, member);
    slopes.push_back(result);
  };
  add_one(Quantity::base, "base", [](Parameters& p) -> Complex& { return p.powers.base; });
  add_one(Quantity::scale, "linear scale",
          [](Parameters& p) -> Complex& { return p.powers.linear_scale; });
  add_one(Quantity::magnitude, "attention factor",
          [](Parameters& p) -> Complex& { return p.powers.attention_factor; });
  ParameterSlope factors{Quantity::factors, "freq factors", {}, {}, {}, {}};
  for (std::size_t k = 0; k < rates_.rates.size(); ++k) {
    add(factors, [k, has_lists](Parameters& p) -> Complex& {
      return has_lists ? p.longrope.long_factor[k] : p.powers.factors[k];
    });
  }
  slopes.push_back(factors);
  if (kind == ScalingKind::ntk)
    add_one(Quantity::base, "ntk factor", [](Parameters& p) -> Complex& { return p.ntk_factor; });
  if (kind == ScalingKind::ggml_yarn || kind == ScalingKind::ggml_yarn_exact) {
    add_one(Quantity::ext, "ext factor",
            [](Parameters& p) -> Complex& { return p.ggml_yarn.ext_factor; });
    add_one(Quantity::betas, "beta fast",
            [](Parameters& p) -> Complex& { return p.ggml_yarn.beta_fast; });
    add_one(Quantity::betas, "beta slow",
            [](Parameters& p) -> Complex& { return p.ggml_yarn.beta_slow; });
  }
  const auto add_factor = [&](const std::function<Complex&(Parameters&)>& member) {
    add_one(Quantity::scale, "factor", member);
  };
  if (kind == ScalingKind::proportional)
    add_factor([](Parameters& p) -> Complex& { return p.proportional.factor; });
  if (kind == ScalingKind::dynamic)
    add_factor([](Parameters& p) -> Complex& { return p.dynamic.factor; });
  if (kind == ScalingKind::longrope)
    add_factor([](Parameters& p) -> Complex& { return p.longrope.factor; });
  if (kind == ScalingKind::ntk_mixed) {
    add_factor([](Parameters& p) -> Complex& { return p.ntk.factor; });
    add_one(Quantity::base, "mixed_b", [](Parameters& p) -> Complex& { return p.ntk.mixed_b; });
  }
  if (kind == ScalingKind::yarn || kind == ScalingKind::yarn_deepseek) {
    add_factor([](Parameters& p) -> Complex& { return p.yarn.factor; });
    add_one(Quantity::betas, "beta fast",
            [](Parameters& p) -> Complex& { return p.yarn.beta_fast; });
    add_one(Quantity::betas, "beta slow",
            [](Parameters& p) -> Complex& { return p.yarn.beta_slow; });
    add_one(Quantity::magnitude, "mscale",
            [](Parameters& p) -> Complex& { return *p.yarn.mscale; });
    add_one(Quantity::magnitude, "mscale_all_dim",
            [](Parameters& p) -> Complex& { return p.yarn.mscale_all_dim; });
    add_one(Quantity::ext, "extrapolation",
            [](Parameters& p) -> Complex& { return p.yarn.extrapolation; });
  }
  if (kind == ScalingKind::xpos) {
    add_one(Quantity::xpos, "xpos scale base",
            [](Parameters& p) -> Complex& { return p.xpos.scale_base; });
    add_one(Quantity::xpos, "xpos gamma", [](Parameters& p) -> Complex& { return p.xpos.gamma; });
    add_one(Quantity::xpos, "xpos center", [](Parameters& p) -> Complex& { return p.xpos.center; });
  }
  if (kind == ScalingKind::llama3) {
    add_one(Quantity::llama3, "llama3 factor",
            [](Parameters& p) -> Complex& { return p.llama3.factor; });
    add_one(Quantity::llama3, "low freq factor",
            [](Parameters& p) -> Complex& { return p.llama3.low_freq_factor; });
    add_one(Quantity::llama3, "high freq factor",
            [](Parameters& p) -> Complex& { return p.llama3.high_freq_factor; });
  }
  return slopes;
}

Loss::Numbers Loss::directional(const Numbers& log_magnitude) const {
  Numbers dy = v_;
  for (const PairPlace& pair : pairs_) {
    const std::size_t e = pair.entry;
    const Complex angle(entries_[e].position * entries_[e].rate,
                        imaginary_step * angle_tangent_[e]);
    const Complex m =
        entries_[e].magnitude * std::exp(Complex(0, imaginary_step * log_magnitude[e]));
    const Complex c = m * std::cos(angle);
    const Complex s = m * std::sin(angle);
    const Complex a(x_[pair.a], imaginary_step * v_[pair.a]);
    const Complex b(x_[pair.b], imaginary_step * v_[pair.b]);
    dy[pair.A] = slope(first_output(c, s, a, b));
    dy[pair.B] = slope(second_output(c, s, a, b));
  }
  return dy;
}

// L is linear in x: where x is a unit vector, L is that element of dL/dx.
Loss::Numbers Loss::turned_gradient() const {
  Numbers dx(x_.size(), 0);
  for (const PairPlace& pair : pairs_) {
    const std::size_t e = pair.entry;
    const Complex angle(entries_[e].position * entries_[e].rate,
                        imaginary_step * angle_tangent_[e]);
    const Complex c = entries_[e].magnitude * std::cos(angle);
    const Complex s = entries_[e].magnitude * std::sin(angle);
    const auto loss = [&](Real a, Real b) {
      return g_[pair.A] * first_output(c, s, a, b) + g_[pair.B] * second_output(c, s, a, b);
    };
    dx[pair.a] = slope(loss(1, 0));
    dx[pair.b] = slope(loss(0, 1));
  }
  return dx;
}

Real Loss::angle_slope_along_tangents(std::size_t e, Real angle) const {
  const Complex moved(angle, imaginary_step * angle_tangent_[e]);
  const Complex c = entries_[e].magnitude * std::cos(moved);
  const Complex s = entries_[e].magnitude * std::sin(moved);
  Complex sum(0);
  for (const std::size_t i : pairs_of_entry_[e]) {
    const PairPlace& pair = pairs_[i];
    const Complex a(x_[pair.a], imaginary_step * v_[pair.a]);
    const Complex b(x_[pair.b], imaginary_step * v_[pair.b]);
    sum += g_[pair.A] * first_output(c, s, a, b) + g_[pair.B] * second_output(c, s, a, b);
  }
  return slope(sum);
}

// The slope has frequency 1 in the angle, so with h = 2^-6 truncation, h^8 / 630, and rounding,
// 2^-64 / h, are both 2^-57 of its size.
Loss::Numbers Loss::second_angle_gradient() const {
  constexpr Real h = 0x1p-6L;
  constexpr Real weights[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280};
  Numbers d;
  for (std::size_t e = 0; e < entries(); ++e) {
    const Real angle = entries_[e].position * entries_[e].rate;
    Real sum = 0;
    for (int i = 0; i < 4; ++i) {
      const Real far = h * static_cast<Real>(i + 1);
      sum += weights[i] * (angle_slope_along_tangents(e, angle + far) -
                           angle_slope_along_tangents(e, angle - far));
    }
    d.push_back(sum / h);
  }
  return d;
}

}  // namespace eigen_rope::tool
