// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/loss.hpp"

#include <algorithm>
#include <cmath>

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

Quantity quantity_of_power(const std::string& parameter) {
  if (parameter == "base") return Quantity::base;
  if (parameter == "linear_scale") return Quantity::scale;
  if (parameter == "attention_factor") return Quantity::magnitude;
  return Quantity::factors;
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
      rates_(rates_of<Real>(problem)) {
  const eigen_rope::Index features = problem.shape[0];
  const eigen_rope::Index P = problem.pairs();
  const auto size = static_cast<eigen_rope::Index>(x_.size());
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
      const Complex growth = log_growth(k, stepped(positions_[id]), complex_beside());
      entries_[entry] = {k,
                         static_cast<std::size_t>(row),
                         id,
                         positions_[id],
                         rates_.rates[static_cast<std::size_t>(k)],
                         rates_.attention_factor * std::exp(growth.real()),
                         slope(growth)};
      pairs_of_entry_[entry].push_back(pairs_.size());
      const std::size_t a = element(slot.a);
      const std::size_t b = element(slot.b);
      const std::size_t A = element(slot.A);
      const std::size_t B = element(slot.B);
      pairs_.push_back(
          {a,
           b,
           A,
           B,
           entry,
           {std::hypot(x_[a], x_[b]), std::hypot(g_[A], g_[B]), std::hypot(v_[a], v_[b])}});
    }
  }
  for (const TableEntry& entry : entries_) {
    table_.cos.push_back(entry.magnitude * std::cos(entry.position * entry.rate));
    table_.sin.push_back(entry.magnitude * std::sin(entry.position * entry.rate));
  }
}

Complex Loss::log_growth(eigen_rope::Index pair, const Complex& position,
                         const BesideScaling<Complex>& beside) const {
  if (!problem_.has_xpos()) return 0;
  const Complex zeta =
      (Complex(static_cast<Real>(2 * pair)) / Complex(static_cast<Real>(2 * problem_.pairs())) +
       *beside.xpos_gamma) /
      (*beside.xpos_gamma + Complex(1));
  const Complex power = (position - *beside.xpos_center) / *beside.xpos_scale_base;
  return (problem_.xpos_side == XposSide::query ? power : -power) * std::log(zeta);
}

Loss::Polar Loss::polar(const TableEntry& entry, const Rates<Complex>& rates,
                        const Complex& position, const BesideScaling<Complex>& beside) const {
  return {rates.attention_factor * std::exp(log_growth(entry.pair, position, beside)),
          position * rates.rates[static_cast<std::size_t>(entry.pair)]};
}

Real Loss::slope_at(const Rates<Complex>& rates, const std::vector<Complex>& positions,
                    const BesideScaling<Complex>& beside) const {
  Complex sum(0);
  for (std::size_t e = 0; e < entries(); ++e) {
    const auto [magnitude, angle] = polar(entries_[e], rates, positions[entries_[e].id], beside);
    if (magnitude.imag() == 0 && angle.imag() == 0) continue;
    const Complex c = magnitude * std::cos(angle);
    const Complex s = magnitude * std::sin(angle);
    for (const std::size_t i : pairs_of_entry_[e]) {
      const PairPlace& pair = pairs_[i];
      sum += g_[pair.A] * first_output(c, s, x_[pair.a], x_[pair.b]);
      sum += g_[pair.B] * second_output(c, s, x_[pair.a], x_[pair.b]);
    }
  }
  return slope(sum);
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

Loss::Numbers Loss::position_gradient() const {
  const Rates<Complex> rates = stepped_rates();
  Numbers d;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    std::vector<Complex> positions = complex_positions();
    positions[i] = stepped(positions_[i]);
    d.push_back(slope_at(rates, positions, complex_beside()));
  }
  return d;
}

Loss::Numbers Loss::rate_gradient() const {
  Numbers d;
  for (std::size_t k = 0; k < rates_.rates.size(); ++k) {
    Rates<Complex> rates = stepped_rates();
    rates.rates[k] = stepped(rates_.rates[k]);
    d.push_back(slope_at(rates, complex_positions(), complex_beside()));
  }
  return d;
}

Real Loss::magnitude_gradient() const {
  Rates<Complex> rates = stepped_rates();
  rates.attention_factor = stepped(rates_.attention_factor);
  return slope_at(rates, complex_positions(), complex_beside());
}

std::vector<ParameterSlope> Loss::parameter_slopes() const {
  std::vector<ParameterSlope> slopes;
  if (!problem_.rates.empty()) return slopes;
  Powers<Complex> powers = problem_.powers.cast<Complex>();
  BesideScaling<Complex> beside = complex_beside();
  const auto add = [&](const auto& rates_of_moved, const ParameterNumbers<Complex>& parameter,
                       Quantity quantity) {
    ParameterSlope result{quantity, parameter.name, {}, {}, {}, {}};
    for (Complex* number : parameter.numbers) {
      const Complex before = *number;
      *number += Complex(0, imaginary_step);
      const Rates<Complex> rates = rates_of_moved();
      result.values.push_back(slope_at(rates, complex_positions(), beside));
      result.magnitude_slopes.push_back(slope(rates.attention_factor));
      Numbers rate_slopes;
      for (const Complex& rate : rates.rates) rate_slopes.push_back(slope(rate));
      result.rate_slopes.push_back(rate_slopes);
      Numbers growth_slopes;
      for (const TableEntry& entry : entries_)
        growth_slopes.push_back(
            slope(log_growth(entry.pair, Complex(positions_[entry.id]), beside)));
      result.growth_slopes.push_back(growth_slopes);
      *number = before;
    }
    if (!result.values.empty()) slopes.push_back(result);
  };
  std::visit(
      [&](const auto& one) {
        auto scaling = one.template cast<Complex>();
        const auto rates = [&] {
          return scaling.rates(stretched(powers, beside), sequence_length);
        };
        const auto own = numbers_of<Complex>(scaling);
        // Factors that are not given count as 1, unless the scaling brings its own.
        const bool has_lists =
            std::any_of(own.begin(), own.end(), [](const auto& each) { return each.is_list; });
        if (powers.factors.empty() && !has_lists)
          powers.factors.assign(rates_.rates.size(), Complex(1));
        for (const auto& parameter : numbers_of<Complex>(powers))
          add(rates, parameter, quantity_of_power(parameter.name));
        for (const auto& parameter : own) add(rates, parameter, Quantity::parameter);
        for (const auto& parameter : numbers_of<Complex>(beside))
          add(rates, parameter, problem_.has_xpos() ? Quantity::xpos : Quantity::parameter);
      },
      problem_.scaling);
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
