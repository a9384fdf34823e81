// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/scaling_gradients.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

/// A value and its derivatives by N parameters, in double-double: forward-mode differentiation.
template <std::size_t N>
struct Dual {
  DoubleDouble value;
  std::array<DoubleDouble, N> by{};

  Dual() = default;
  Dual(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor): a constant
  Dual(double parameter, std::size_t index) : value(parameter) { by[index] = DoubleDouble(1); }
};

template <std::size_t N>
double eigen_rope_passive(const Dual<N>& x) {
  return x.value.high;
}

/// The result of an operation with this value, whose derivatives by its operands are a and b.
template <std::size_t N>
Dual<N> chain(DoubleDouble value, DoubleDouble a, const Dual<N>& x, DoubleDouble b,
              const Dual<N>& y) {
  Dual<N> result;
  result.value = value;
  for (std::size_t i = 0; i < N; ++i) result.by[i] = a * x.by[i] + b * y.by[i];
  return result;
}

template <std::size_t N>
Dual<N> chain(DoubleDouble value, DoubleDouble a, const Dual<N>& x) {
  Dual<N> result;
  result.value = value;
  for (std::size_t i = 0; i < N; ++i) result.by[i] = a * x.by[i];
  return result;
}

template <std::size_t N>
Dual<N> operator+(const Dual<N>& x, const Dual<N>& y) {
  return chain(x.value + y.value, DoubleDouble(1), x, DoubleDouble(1), y);
}

template <std::size_t N>
Dual<N> operator-(const Dual<N>& x, const Dual<N>& y) {
  return chain(x.value - y.value, DoubleDouble(1), x, DoubleDouble(-1), y);
}

template <std::size_t N>
Dual<N> operator-(const Dual<N>& x) {
  return chain(-x.value, DoubleDouble(-1), x);
}

template <std::size_t N>
Dual<N> operator*(const Dual<N>& x, const Dual<N>& y) {
  return chain(x.value * y.value, y.value, x, x.value, y);
}

template <std::size_t N>
Dual<N> operator/(const Dual<N>& x, const Dual<N>& y) {
  const DoubleDouble quotient = x.value / y.value;
  return chain(quotient, DoubleDouble(1) / y.value, x, -quotient / y.value, y);
}

template <std::size_t N>
Dual<N> exp(const Dual<N>& x) {
  const DoubleDouble power = exp(x.value);
  return chain(power, power, x);
}

template <std::size_t N>
Dual<N> log(const Dual<N>& x) {
  return chain(log(x.value), DoubleDouble(1) / x.value, x);
}

// Which derivative is which: those of Powers, then a scaling's own. A list has one derivative for
// all its entries, since each moves the rate of its own pair only.
enum : std::size_t { base, linear_scale, attention_factor, own_factor, first_of_scaling };
constexpr std::size_t most_parameters = first_of_scaling + 6;
using S = Dual<most_parameters>;

Powers<S> seeded(const Powers<>& powers) {
  Powers<S> result{powers.rotary_dims, S(powers.base, base), S(powers.linear_scale, linear_scale),
                   S(powers.attention_factor, attention_factor)};
  detail::checked_product("the number of bytes of all rates", powers.rotary_dims / 2, sizeof(S));
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  result.factors.reserve(pairs);
  for (std::size_t k = 0; k < pairs; ++k)
    result.factors.emplace_back(powers.factors.empty() ? 1.0 : powers.factors[k], own_factor);
  result.exponents = powers.exponents;
  result.exponent_dims = powers.exponent_dims;
  return result;
}

/// Gives each real parameter of a scaling a derivative of its own.
class Seeding {
 public:
  void operator()(const char* /*name*/, S& to, double from) { to = S(from, next()); }
  void operator()(const char* /*name*/, std::optional<S>& to, const std::optional<double>& from) {
    const std::size_t own = next();
    if (from) to = S(*from, own);
  }
  void operator()(const char* /*name*/, std::vector<S>& to, const std::vector<double>& from) {
    const std::size_t own = next();
    for (const double value : from) to.emplace_back(value, own);
    has_lists_ = true;
  }
  template <class Other>
  void operator()(const char* /*name*/, Other& to, const Other& from) {
    to = from;
  }

  /// Whether the scaling brings factors of its own, which stand for those of the powers.
  bool has_lists() const { return has_lists_; }

 private:
  std::size_t next() {
    if (next_ == most_parameters) detail::fail("a scaling must have at most 6 real parameters");
    return next_++;
  }

  std::size_t next_ = first_of_scaling;
  bool has_lists_ = false;
};

/// Reads off the derivatives, in the same order.
class Reading {
 public:
  Reading(const Rates<S>& rates, const RateGradients& gradients)
      : rates_(rates), gradients_(gradients) {}

  void operator()(const char* /*name*/, double& to, double /*from*/) { to = sum(next_++); }
  void operator()(const char* /*name*/, std::optional<double>& to,
                  const std::optional<double>& from) {
    const std::size_t own = next_++;
    if (from) to = sum(own);
  }
  void operator()(const char* /*name*/, std::vector<double>& to, const std::vector<double>& from) {
    if (!from.empty()) to = of_pairs(next_);
    ++next_;
  }
  template <class Other>
  void operator()(const char* /*name*/, Other& to, const Other& from) {
    to = from;
  }

  double sum(std::size_t parameter) const {
    DoubleDouble result =
        DoubleDouble(gradients_.attention_factor) * rates_.attention_factor.by[parameter];
    for (std::size_t k = 0; k < rates_.rates.size(); ++k) {
      result = result + DoubleDouble(gradients_.rates[k]) * rates_.rates[k].by[parameter];
    }
    return static_cast<double>(result);
  }

  std::vector<double> of_pairs(std::size_t parameter) const {
    std::vector<double> result;
    result.reserve(rates_.rates.size());
    for (std::size_t k = 0; k < rates_.rates.size(); ++k) {
      result.push_back(
          static_cast<double>(DoubleDouble(gradients_.rates[k]) * rates_.rates[k].by[parameter]));
    }
    return result;
  }

 private:
  const Rates<S>& rates_;
  const RateGradients& gradients_;
  std::size_t next_ = first_of_scaling;
};

template <template <class> class OneScaling>
ScalingGradients<Scaling> gradients_through(const Powers<>& powers,
                                            const OneScaling<double>& scaling,
                                            const RateGradients& gradients, Index length) {
  detail::require_valid(powers);
  OneScaling<S> seeds;
  Seeding seeding;
  OneScaling<S>::for_each_parameter(seeding, seeds, scaling);
  Powers<S> of_powers = seeded(powers);
  if (powers.factors.empty() && seeding.has_lists()) of_powers.factors.clear();
  const bool has_factors = !of_powers.factors.empty();
  const Rates<S> rates = seeds.rates(of_powers, length);
  if (gradients.rates.size() != rates.rates.size()) {
    detail::fail(
        fmt::format("the gradients of the rates must be one per pair ({})", rates.rates.size()),
        static_cast<std::int64_t>(gradients.rates.size()));
  }
  Reading reading(rates, gradients);
  ScalingGradients<Scaling> result{powers, OneScaling<double>()};
  result.powers.base = reading.sum(base);
  result.powers.linear_scale = reading.sum(linear_scale);
  result.powers.attention_factor = reading.sum(attention_factor);
  result.powers.factors.clear();
  if (has_factors) result.powers.factors = reading.of_pairs(own_factor);
  OneScaling<double>::for_each_parameter(reading, std::get<OneScaling<double>>(result.scaling),
                                         scaling);
  return result;
}

}  // namespace

ScalingGradients<Scaling> scaling_gradients(const Powers<>& powers, const Scaling& scaling,
                                            const RateGradients& gradients, Index length) {
  return std::visit(
      [&](const auto& one) { return gradients_through(powers, one, gradients, length); }, scaling);
}

Powers<> powers_gradients(const Powers<>& powers, const RateGradients& gradients) {
  return scaling_gradients(powers, Unscaled<>(), gradients).powers;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
