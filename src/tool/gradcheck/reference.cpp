// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/reference.hpp"

#include <cmath>
#include <complex>
#include <limits>

#include "tool/gradcheck/loss.hpp"
#include "tool/verify/comparison.hpp"

namespace eigen_rope::tool {
namespace {

constexpr Real unit_double = 0x1p-53L;
constexpr Real unit_reference = std::numeric_limits<Real>::epsilon() / 2;  // 2^-64 on x86
constexpr Real root_two = 1.4142135623730950488L;

Real unit_of(ScalarType type) { return static_cast<Real>(half_unit(type)); }

/// A number of the reference's and a bound of the error it has gathered: running error analysis
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.3). exp and log
/// are good to an ulp, and so is the conversion of a constant with more digits.
struct Tracked {
  Real value = 0;
  Real error = 0;

  Tracked() = default;
  Tracked(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor): a constant
  Tracked(Real result, Real inherited, Real ulps)
      : value(result), error(inherited + ulps * unit_reference * std::abs(result)) {}
};

double eigen_rope_passive(const Tracked& x) { return static_cast<double>(x.value); }

Tracked operator+(const Tracked& a, const Tracked& b) {
  return {a.value + b.value, a.error + b.error, 1};
}
Tracked operator-(const Tracked& a) { return {-a.value, a.error, 0}; }
Tracked operator-(const Tracked& a, const Tracked& b) { return a + -b; }
Tracked operator*(const Tracked& a, const Tracked& b) {
  return {a.value * b.value,
          std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error, 1};
}
Tracked operator/(const Tracked& a, const Tracked& b) {
  const Real quotient = a.value / b.value;
  return {quotient, (a.error + std::abs(quotient) * b.error) / (std::abs(b.value) - b.error), 1};
}
Tracked exp(const Tracked& x) {
  const Real power = std::exp(x.value);
  return {power, power * std::expm1(x.error), 2};
}
Tracked log(const Tracked& x) {
  return {std::log(x.value), -std::log1p(-x.error / std::abs(x.value)), 2};
}

/// Sizes of a table entry's terms, summed over the rows that share it, and the errors that follow
/// from them.
struct EntryBounds {
  Real product = 0;        ///< sum |x| |g| over pairs
  Real tangent = 0;        ///< sum |v| |g|
  Real rounding_of_y = 0;  ///< sum |g| sqrt(2) 1.5 ulp(m |x|)
  Real table = 0;          ///< error of cos and sin, over m
  Real angle_from_y = 0;   ///< bounds of d angle, and of d log m
  Real angle_alone = 0;
  Real angle_from_x = 0;
  Real cos_from_y = 0;
  Real cos_from_x = 0;
};

class Reference {
 public:
  explicit Reference(const Problem& problem)
      : problem_(problem),
        loss_(problem),
        type_(problem.at.scalar),
        table_unit_(unit_of(table_scalar(type_))) {
    find_bounds();
  }

  std::vector<Expectation> all() {
    add_rotations();
    add_table();
    add_angles();
    add_parameters();
    add_tangents();
    return std::move(expectations_);
  }

 private:
  using Numbers = std::vector<Real>;

  /// The size of an entry's magnitude.
  Real m(std::size_t e) const { return std::abs(loss_.entry(e).magnitude); }
  Real m(const PairPlace& pair) const { return m(pair.entry); }
  Real ulp(Real magnitude) const {
    return static_cast<Real>(unit_at(type_, static_cast<double>(magnitude)));
  }
  Real rotation_bound(Real magnitude, Real table_error) const {
    return 1.5L * ulp(magnitude) + root_two * table_error * magnitude;
  }

  Real sum_bound(Real terms) const {
    const Real reference = 4 * terms * unit_reference;
    if (type_ == ScalarType::f64) return 2 * unit_double + terms * terms * 0x1p-106L + reference;
    return terms * unit_double + reference;
  }
  Real difference_bound() const { return type_ == ScalarType::f64 ? 0 : 0x1p-23L; }

  void find_bounds() {
    bounds_.resize(loss_.entries());
    const Rates<Tracked> rates = rates_of<Tracked>(problem_);
    const Real magnitude_error =
        rates.attention_factor.error / std::abs(rates.attention_factor.value);
    for (std::size_t e = 0; e < bounds_.size(); ++e) {
      const TableEntry& entry = loss_.entry(e);
      const Real growth = std::abs(std::log(m(e) / std::abs(loss_.attention_factor())));
      // The product that is the angle; exp, cos or sin, and their products with m.
      const Real roundings = std::abs(entry.rate * entry.position) + 8 * growth + 6;
      bounds_[e].table =
          table_unit_ + roundings * unit_reference + magnitude_error +
          std::abs(entry.position) * rates.rates[static_cast<std::size_t>(entry.pair)].error +
          std::abs(entry.position) * 0x1p-63L * std::max(1.0L, m(e)) / m(e);
    }
    for (const PairPlace& pair : loss_.pairs()) {
      const PairSizes& size = pair.sizes;
      EntryBounds& entry = bounds_[pair.entry];
      entry.product += size.x * size.g;
      entry.tangent += size.v * size.g;
      entry.rounding_of_y += size.g * root_two * 1.5L * ulp(m(pair) * size.x);
    }
    const Real terms = 2 * static_cast<Real>(problem_.heads);
    for (std::size_t e = 0; e < bounds_.size(); ++e) {
      EntryBounds& entry = bounds_[e];
      const Real size = m(e) * entry.product;
      entry.angle_from_y = entry.rounding_of_y + (root_two * entry.table + sum_bound(terms)) * size;
      entry.angle_alone = entry.angle_from_y + difference_bound() * size;
      entry.angle_from_x = angle_from_input(e, entry.product);
      entry.cos_from_x = sum_bound(terms) * entry.product;
      entry.cos_from_y =
          root_two * (entry.rounding_of_y + (sum_bound(terms) + 6 * unit_double) * size) / m(e);
    }
  }

  Real angle_from_input(std::size_t e, Real product) const {
    const Real terms = 2 * static_cast<Real>(problem_.heads);
    return (root_two * (bounds_[e].table + sum_bound(terms)) + 4 * unit_double) * m(e) * product;
  }

  // Places.

  std::vector<Axis> elements() const { return with_outer("element", problem_.shape[0], true); }
  std::vector<Axis> entries(const char* first, eigen_rope::Index extent) const {
    return with_outer(first, extent, false);
  }
  std::vector<Axis> with_outer(const char* first, eigen_rope::Index extent, bool with_heads) const {
    std::vector<Axis> axes{{first, extent}};
    for (const Axis& axis : problem_.axes) {
      if (with_heads || axis.name != "head") axes.push_back(axis);
    }
    return axes;
  }

  void add(Quantity quantity, const std::string& answer, const char* method, std::vector<Axis> axes,
           Numbers values, Numbers bounds, Numbers units = {}) {
    expectations_.push_back({quantity, answer, method, std::move(axes), std::move(values),
                             std::move(bounds), std::move(units)});
  }

  /// One number for each element: 0 outside the window, set(pair, a's number, b's) inside.
  template <class Set>
  Numbers inside(Side side, const Set& set) const {
    Numbers numbers(problem_.x.size(), 0);
    for (const PairPlace& pair : loss_.pairs()) {
      set(pair, numbers[side == Side::input ? pair.a : pair.A],
          numbers[side == Side::input ? pair.b : pair.B]);
    }
    return numbers;
  }
  template <class Size>
  Numbers same_for_pair(Side side, const Size& size) const {
    return inside(side, [&](const PairPlace& pair, Real& first, Real& second) {
      first = second = size(pair, pair.sizes);
    });
  }

  void add_rotations() {
    const auto pair_of_y = [&](const PairPlace& pair, const PairSizes& size) {
      return m(pair) * size.x;
    };
    const auto pair_of_g = [&](const PairPlace& pair, const PairSizes& size) {
      return m(pair) * size.g;
    };
    const auto units = [&](Side side, auto magnitude) {
      return same_for_pair(side, [&](const PairPlace& pair, const PairSizes& size) {
        return ulp(magnitude(pair, size));
      });
    };
    const Numbers y = loss_.rotated();
    const Numbers y_bounds =
        same_for_pair(Side::output, [&](const PairPlace& pair, const PairSizes& size) {
          return rotation_bound(m(pair) * size.x, bounds_[pair.entry].table);
        });
    add(Quantity::y, "y", "definition", elements(), y, y_bounds, units(Side::output, pair_of_y));

    const Real coefficient_unit = type_ == ScalarType::f64 ? unit_double : 0x1p-24L;
    const auto inverse_bound = [&](const PairPlace& pair, const PairSizes& size) {
      return root_two * 1.5L * ulp(m(pair) * size.x) / m(pair) + 1.5L * ulp(size.x) +
             root_two * 5 * coefficient_unit * size.x;
    };
    add(Quantity::inverse, "inverse", "round trip", elements(), loss_.x(),
        same_for_pair(Side::input, inverse_bound),
        units(Side::input, [](const PairPlace&, const PairSizes& size) { return size.x; }));

    Numbers adjoint_bounds;
    for (const PairPlace& pair : loss_.pairs()) {
      const PairSizes& size = pair.sizes;
      adjoint_bounds.push_back(
          root_two * 1.5L * (size.g * ulp(m(pair) * size.x) + size.x * ulp(m(pair) * size.g)) +
          16 * unit_reference * m(pair) * size.x * size.g);
    }
    add(Quantity::adjoint, "adjoint", "inner products of y, g and x, dx",
        with_outer("pair", problem_.pairs(), true), Numbers(adjoint_bounds.size(), 0),
        adjoint_bounds);

    const Numbers dx = loss_.input_gradient();
    const Numbers dx_bounds =
        same_for_pair(Side::input, [&](const PairPlace& pair, const PairSizes& size) {
          return rotation_bound(m(pair) * size.g, bounds_[pair.entry].table);
        });
    for (const char* answer : {"backward", "dx from y", "dx with angle alone", "dx from x"}) {
      add(Quantity::dx, answer, "complex step", elements(), dx, dx_bounds,
          units(Side::input, pair_of_g));
    }
    const Real widest = std::max({std::abs(full_width.a_cos), std::abs(full_width.b_cos),
                                  std::abs(full_width.a_sin), std::abs(full_width.b_sin)});
    const Numbers full_bounds =
        same_for_pair(Side::input, [&](const PairPlace& pair, const PairSizes& size) {
          return rotation_bound(widest * m(pair) * size.g, bounds_[pair.entry].table + table_unit_);
        });
    add(Quantity::dx, "dx, full width", "complex step", elements(),
        loss_.full_width_input_gradient(), full_bounds);
  }

  Numbers each_entry(Real EntryBounds::*member) const {
    Numbers numbers;
    for (const EntryBounds& entry : bounds_) numbers.push_back(entry.*member);
    return numbers;
  }

  void add_table() {
    const auto [dcos, dsin] = loss_.table_gradient();
    const std::vector<Axis> axes = entries("pair", problem_.pairs());
    const auto rounded = [&](const Numbers& values) {
      Numbers bounds = each_entry(&EntryBounds::cos_from_x);
      for (std::size_t e = 0; e < bounds.size(); ++e)
        bounds[e] += 0.5L * ulp(std::abs(values[e]) + bounds[e]);
      return bounds;
    };
    const char* method = "complex step";
    add(Quantity::cos, "cos from y", method, axes, dcos, each_entry(&EntryBounds::cos_from_y));
    add(Quantity::cos, "cos from x", method, axes, dcos, each_entry(&EntryBounds::cos_from_x));
    add(Quantity::cos, "cos of table_gradient", method, axes, dcos, rounded(dcos));
    add(Quantity::sin, "sin from y", method, axes, dsin, each_entry(&EntryBounds::cos_from_y));
    add(Quantity::sin, "sin from x", method, axes, dsin, each_entry(&EntryBounds::cos_from_x));
    add(Quantity::sin, "sin of table_gradient", method, axes, dsin, rounded(dsin));

    const auto full = loss_.full_width_table_gradient();
    Numbers bounds(full.cos.size(), 0);
    for (const PairPlace& pair : loss_.pairs()) {
      const PairSizes& size = pair.sizes;
      for (const std::size_t slot : {loss_.full_slot(pair).A, loss_.full_slot(pair).B}) {
        bounds[slot] += sum_bound(static_cast<Real>(problem_.heads)) * size.x * size.g;
      }
    }
    const std::vector<Axis> full_axes = entries("element", 2 * problem_.pairs());
    add(Quantity::cos, "cos, full width", method, full_axes, full.cos, bounds);
    add(Quantity::sin, "sin, full width", method, full_axes, full.sin, bounds);
  }

  void add_angles() {
    angle_ = loss_.angle_gradient();
    log_m_ = loss_.log_magnitude_gradient();
    const std::vector<Axis> axes = entries("pair", problem_.pairs());
    add(Quantity::angle, "angle from y", "complex step", axes, angle_,
        each_entry(&EntryBounds::angle_from_y));
    add(Quantity::angle, "angle alone from y", "complex step", axes, angle_,
        each_entry(&EntryBounds::angle_alone));
    add(Quantity::angle, "angle from x", "complex step", axes, angle_,
        each_entry(&EntryBounds::angle_from_x));
    add(Quantity::magnitude, "log m from y", "complex step", axes, log_m_,
        each_entry(&EntryBounds::angle_from_y));
    add(Quantity::magnitude, "log m from x", "complex step", axes, log_m_,
        each_entry(&EntryBounds::angle_from_x));
  }

  /// Bounds of what is summed from the angles' gradients, whose bounds are `angle`.
  struct ParameterBounds {
    Numbers positions, rates;
    Real m = 0;
  };
  ParameterBounds parameter_bounds(Real EntryBounds::*angle) const {
    ParameterBounds bounds{Numbers(problem_.ids.size(), 0),
                           Numbers(static_cast<std::size_t>(problem_.pairs()), 0), 0};
    for (std::size_t e = 0; e < bounds_.size(); ++e) {
      const TableEntry& entry = loss_.entry(e);
      const Real error = bounds_[e].*angle;
      const Real term = error + 6 * unit_double * std::abs(angle_[e]);
      bounds.positions[entry.id] += std::abs(entry.rate) * term;
      bounds.rates[static_cast<std::size_t>(entry.pair)] += std::abs(entry.position) * term;
      const Real magnitude = error + 8 * unit_double * std::abs(log_m_[e]);
      bounds.positions[entry.id] += std::abs(entry.magnitude_slope) * magnitude;
      bounds.m += magnitude / std::abs(loss_.attention_factor());
    }
    return bounds;
  }

  void add_parameters() {
    const Numbers positions = loss_.position_gradient();
    const Numbers rates = loss_.rate_gradient();
    const Numbers m{loss_.magnitude_gradient()};
    const std::vector<ParameterSlope> slopes = loss_.parameter_slopes();
    const std::vector<Axis> position_axes{
        {"token", problem_.tokens},
        {"batch", problem_.batches},
        {"axis", problem_.sections ? problem_.sections->axes() : 1}};
    for (const auto& [from, angle] : {std::pair{" from y", &EntryBounds::angle_from_y},
                                      std::pair{" from x", &EntryBounds::angle_from_x}}) {
      const ParameterBounds bounds = parameter_bounds(angle);
      add(Quantity::positions, std::string("positions") + from, "complex step", position_axes,
          positions, bounds.positions);
      add(Quantity::rates, std::string("rates") + from, "complex step",
          {{"pair", problem_.pairs()}}, rates, bounds.rates);
      add(Quantity::magnitude, std::string("m") + from, "complex step", {}, m, {bounds.m});
      for (const ParameterSlope& slope : slopes) {
        Numbers allowed;
        for (std::size_t i = 0; i < slope.values.size(); ++i) {
          Real bound =
              std::abs(slope.magnitude_slopes[i]) * (bounds.m + 6 * unit_double * std::abs(m[0]));
          for (std::size_t k = 0; k < rates.size(); ++k) {
            bound += std::abs(slope.rate_slopes[i][k]) *
                     (bounds.rates[k] + 6 * unit_double * std::abs(rates[k]));
          }
          for (std::size_t e = 0; e < bounds_.size(); ++e) {
            bound += std::abs(slope.growth_slopes[i][e]) *
                     (bounds_[e].*angle + 12 * unit_double * std::abs(log_m_[e]));
          }
          allowed.push_back(bound);
        }
        std::vector<Axis> axes;
        if (slope.values.size() > 1) axes.push_back({"pair", problem_.pairs()});
        add(slope.quantity, slope.name + from, "complex step", axes, slope.values, allowed);
      }
    }
  }

  void add_tangents() {
    const Numbers turning(problem_.log_magnitude_tangent.size(), 0);
    add_jvp(Quantity::jvp, "jvp", loss_.log_magnitude_tangent());
    add_jvp(Quantity::second, "second order, to g", turning);

    const auto turned = [&](const PairPlace& pair, const PairSizes& size) {
      return tangent_bound(m(pair) * size.g, std::abs(loss_.angle_tangent()[pair.entry]),
                           bounds_[pair.entry].table);
    };
    add(Quantity::second, "second order, to x", "complex step", elements(), loss_.turned_gradient(),
        same_for_pair(Side::input, turned));

    Numbers bounds;
    for (std::size_t e = 0; e < bounds_.size(); ++e) {
      const Real w = std::abs(loss_.angle_tangent()[e]);
      const Real size = m(e) * (bounds_[e].tangent + w * bounds_[e].product);
      bounds.push_back(angle_from_input(e, bounds_[e].tangent) + w * bounds_[e].angle_from_x +
                       (3 * unit_double + 1024 * unit_reference) * size);
    }
    add(Quantity::second, "second order, to angles", "complex step, differenced to order 8",
        entries("pair", problem_.pairs()), loss_.second_angle_gradient(), bounds);
  }

  /// What rotating a pair of this magnitude by a tangent of size `tangent` may lose. Its entries
  /// are rounded once more.
  Real tangent_bound(Real magnitude, Real tangent, Real table_error) const {
    return rotation_bound(magnitude * tangent, table_error + table_unit_ + 3 * unit_double);
  }

  void add_jvp(Quantity quantity, const char* answer, const Numbers& log_magnitude) {
    const auto bound = [&](const PairPlace& pair, const PairSizes& size) {
      const Real tangent =
          std::abs(loss_.angle_tangent()[pair.entry]) + std::abs(log_magnitude[pair.entry]);
      const Real table = bounds_[pair.entry].table;
      return rotation_bound(m(pair) * size.v, table) +
             tangent_bound(m(pair) * size.x, tangent, table) +
             0.5L * ulp(m(pair) * (size.v + size.x * tangent));
    };
    add(quantity, answer, "complex step", elements(), loss_.directional(log_magnitude),
        same_for_pair(Side::output, bound));
  }

  const Problem& problem_;
  Loss loss_;
  ScalarType type_;
  Real table_unit_;
  std::vector<EntryBounds> bounds_;
  Numbers angle_, log_m_;
  std::vector<Expectation> expectations_;
};

}  // namespace

std::vector<Expectation> expectations(const Problem& problem) { return Reference(problem).all(); }

}  // namespace eigen_rope::tool
