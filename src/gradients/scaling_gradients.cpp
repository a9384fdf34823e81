// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/scaling_gradients.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {
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
Dual<N> chain(DoubleDouble value, DoubleDouble a, const Dual<N>& x, DoubleDouble b, const Dual<N>& y) {
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

// Which derivative is which: those of Powers, then a scaling's own. All factors share one, since each moves the rate of its own pair only.
enum : std::size_t { base, linear_scale, attention_factor, own_factor, first_of_scaling };
constexpr std::size_t of_scaling = 3;
constexpr std::size_t of_powers = first_of_scaling;

template <std::size_t N>
BasicPowers<Dual<N>> seeded(const Powers& powers) {
  using S = Dual<N>;
  BasicPowers<S> result{powers.rotary_dims, S(powers.base, base), S(powers.linear_scale, linear_scale),
                        S(powers.attention_factor, attention_factor)};
  detail::checked_product("the number of bytes of all rates", powers.rotary_dims / 2, sizeof(S));
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  result.factors.reserve(pairs);
  for (std::size_t k = 0; k < pairs; ++k) result.factors.emplace_back(powers.factors.empty() ? 1.0 : powers.factors[k], own_factor);
  result.exponents = powers.exponents;
  result.exponent_dims = powers.exponent_dims;
  return result;
}

template <std::size_t N>
void require_one_per_pair(const BasicRates<Dual<N>>& rates, const RateGradients& gradients) {
  if (gradients.rates.size() == rates.rates.size()) return;
  detail::fail(fmt::format("the gradients of the rates must be one per pair ({})", rates.rates.size()),
               static_cast<std::int64_t>(gradients.rates.size()));
}

template <std::size_t N>
double gradient_of(std::size_t parameter, const BasicRates<Dual<N>>& rates, const RateGradients& gradients) {
  DoubleDouble sum = DoubleDouble(gradients.attention_factor) * rates.attention_factor.by[parameter];
  for (std::size_t k = 0; k < rates.rates.size(); ++k) sum = sum + DoubleDouble(gradients.rates[k]) * rates.rates[k].by[parameter];
  return static_cast<double>(sum);
}

template <std::size_t N>
PowersGradients gradients_of_powers(const BasicRates<Dual<N>>& rates, const RateGradients& gradients) {
  require_one_per_pair(rates, gradients);
  PowersGradients result;
  result.base = gradient_of(base, rates, gradients);
  result.linear_scale = gradient_of(linear_scale, rates, gradients);
  result.attention_factor = gradient_of(attention_factor, rates, gradients);
  for (std::size_t k = 0; k < rates.rates.size(); ++k) {
    result.factors.push_back(static_cast<double>(DoubleDouble(gradients.rates[k]) * rates.rates[k].by[own_factor]));
  }
  return result;
}

}  // namespace

PowersGradients powers_gradients(const Powers& powers, const RateGradients& gradients) {
  detail::require_valid(powers);
  return gradients_of_powers(power_rates(seeded<of_powers>(powers)), gradients);
}

GgmlYarnGradients ggml_yarn_gradients(const Powers& powers, const GgmlYarn& yarn, const RateGradients& gradients) {
  using S = Dual<of_powers + of_scaling>;
  enum : std::size_t { ext_factor = first_of_scaling, beta_fast, beta_slow };
  detail::require_valid(powers);
  const BasicGgmlYarn<S> scaling{S(yarn.ext_factor, ext_factor), yarn.original_context, S(yarn.beta_fast, beta_fast),
                                 S(yarn.beta_slow, beta_slow), yarn.ends};
  const BasicRates<S> rates = ggml_yarn_rates(seeded<of_powers + of_scaling>(powers), scaling);
  return {gradients_of_powers(rates, gradients), gradient_of(ext_factor, rates, gradients), gradient_of(beta_fast, rates, gradients),
          gradient_of(beta_slow, rates, gradients)};
}

Llama3Gradients llama3_gradients(const Powers& powers, const Llama3& llama3, const RateGradients& gradients) {
  using S = Dual<of_powers + of_scaling>;
  enum : std::size_t { factor = first_of_scaling, low_freq_factor, high_freq_factor };
  detail::require_valid(powers);
  const BasicLlama3<S> scaling{S(llama3.factor, factor), S(llama3.low_freq_factor, low_freq_factor),
                               S(llama3.high_freq_factor, high_freq_factor), llama3.original_context};
  const BasicRates<S> rates = llama3_rates(seeded<of_powers + of_scaling>(powers), scaling);
  return {gradients_of_powers(rates, gradients), gradient_of(factor, rates, gradients), gradient_of(low_freq_factor, rates, gradients),
          gradient_of(high_freq_factor, rates, gradients)};
}

FactorGradients proportional_gradients(const Powers& powers, const Proportional& proportional, const RateGradients& gradients) {
  using S = Dual<of_powers + 1>;
  detail::require_valid(powers);
  const BasicProportional<S> scaling{S(proportional.factor, first_of_scaling), proportional.rotated_pairs};
  const BasicRates<S> rates = proportional_rates(seeded<of_powers + 1>(powers), scaling);
  return {gradients_of_powers(rates, gradients), gradient_of(first_of_scaling, rates, gradients)};
}

FactorGradients linear_gradients(const Powers& powers, double factor, const RateGradients& gradients) {
  return proportional_gradients(powers, {factor, powers.rotary_dims / 2}, gradients);
}

FactorGradients dynamic_ntk_gradients(const Powers& powers, const DynamicNtkScaling& ntk, Index length, const RateGradients& gradients) {
  using S = Dual<of_powers + 1>;
  detail::require_valid(powers);
  const BasicDynamicNtkScaling<S> scaling{S(ntk.factor, first_of_scaling), ntk.original_context};
  const BasicRates<S> rates = dynamic_ntk_rates(seeded<of_powers + 1>(powers), scaling, length);
  return {gradients_of_powers(rates, gradients), gradient_of(first_of_scaling, rates, gradients)};
}

NtkGradients ntk_gradients(const Powers& powers, const NtkScaling& ntk, const RateGradients& gradients) {
  using S = Dual<of_powers + 2>;
  enum : std::size_t { factor = first_of_scaling, mixed_b };
  detail::require_valid(powers);
  const BasicNtkScaling<S> scaling{S(ntk.factor, factor), S(ntk.mixed_b, mixed_b)};
  const BasicRates<S> rates = ntk_rates(seeded<of_powers + 2>(powers), scaling);
  return {gradients_of_powers(rates, gradients), gradient_of(factor, rates, gradients), gradient_of(mixed_b, rates, gradients)};
}

YarnGradients yarn_gradients(const Powers& powers, const Yarn& yarn, const RateGradients& gradients) {
  using S = Dual<of_powers + 6>;
  enum : std::size_t { factor = first_of_scaling, beta_fast, beta_slow, mscale, mscale_all_dim, extrapolation };
  detail::require_valid(powers);
  BasicYarn<S> scaling = yarn.cast<S>();
  scaling.factor = S(yarn.factor, factor);
  scaling.beta_fast = S(yarn.beta_fast, beta_fast);
  scaling.beta_slow = S(yarn.beta_slow, beta_slow);
  if (yarn.mscale || yarn.magnitude == YarnMagnitude::deepseek) scaling.mscale = S(yarn.mscale.value_or(1.0), mscale);
  scaling.mscale_all_dim = S(yarn.mscale_all_dim, mscale_all_dim);
  scaling.extrapolation = S(yarn.extrapolation, extrapolation);
  const BasicRates<S> rates = yarn_rates(seeded<of_powers + 6>(powers), scaling);
  YarnGradients result;
  result.powers = gradients_of_powers(rates, gradients);
  result.factor = gradient_of(factor, rates, gradients);
  result.beta_fast = gradient_of(beta_fast, rates, gradients);
  result.beta_slow = gradient_of(beta_slow, rates, gradients);
  result.mscale = gradient_of(mscale, rates, gradients);
  result.mscale_all_dim = gradient_of(mscale_all_dim, rates, gradients);
  result.extrapolation = gradient_of(extrapolation, rates, gradients);
  return result;
}

LongRopeGradients longrope_gradients(const Powers& powers, const LongRope& longrope, Index length, const RateGradients& gradients) {
  using S = Dual<of_powers + 1>;
  detail::require_valid(powers);
  detail::require_valid(longrope, powers, length);
  BasicPowers<S> seeds = seeded<of_powers + 1>(powers);
  seeds.factors.clear();
  BasicLongRope<S> scaling{{}, {}, longrope.original_context, S(longrope.factor, first_of_scaling), longrope.magnitude};
  // Only one of the two is in use.
  for (const double divisor : longrope.short_factor) scaling.short_factor.emplace_back(divisor, own_factor);
  for (const double divisor : longrope.long_factor) scaling.long_factor.emplace_back(divisor, own_factor);
  const BasicRates<S> rates = longrope_rates(seeds, scaling, length);
  return {gradients_of_powers(rates, gradients), gradient_of(first_of_scaling, rates, gradients)};
}

}  // namespace eigen_rope
