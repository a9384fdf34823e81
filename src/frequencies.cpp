// SPDX-License-Identifier: Apache-2.0
#include "rope/frequencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "rope/error.hpp"

namespace rope {
namespace {

constexpr DoubleDouble two_pi{6.2831853071795862, 2.4492935982947064e-16};

void check(const Powers& powers) {
  if (powers.rotary_dims <= 0) detail::fail("rotary dims must be positive", static_cast<std::int64_t>(powers.rotary_dims));
  if (powers.rotary_dims % 2 != 0) detail::fail("rotary dims must be even", static_cast<std::int64_t>(powers.rotary_dims));
  detail::require_positive("base", powers.base);
  detail::require_positive("linear scale", powers.linear_scale);
  detail::require_finite("attention factor", powers.attention_factor);
  if (powers.exponent_dims < 0) detail::fail("exponent dims must not be negative", static_cast<std::int64_t>(powers.exponent_dims));
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  if (!powers.factors.empty() && powers.factors.size() < pairs) {
    detail::fail(fmt::format("frequency factors must be at least one per pair ({})", pairs),
                 static_cast<std::int64_t>(powers.factors.size()));
  }
  for (std::size_t k = 0; k < pairs && k < powers.factors.size(); ++k) {
    if (powers.factors[k] == 0 || !std::isfinite(powers.factors[k])) {
      detail::fail(fmt::format("frequency factor {} must be finite and not 0", k), powers.factors[k]);
    }
  }
  if (!powers.exponents.empty() && powers.exponents.size() != pairs) {
    detail::fail(fmt::format("exponents must be one per pair ({})", pairs), static_cast<std::int64_t>(powers.exponents.size()));
  }
}

void check(Index dims, double base, const Yarn& yarn) {
  detail::require_finite("ext factor", yarn.ext_factor);
  if (yarn.original_context < 0) detail::fail("original context must not be negative", static_cast<std::int64_t>(yarn.original_context));
  if (!(yarn.beta_fast >= 0) || !std::isfinite(yarn.beta_fast)) detail::fail("beta fast must be finite and not negative", yarn.beta_fast);
  if (!(yarn.beta_slow >= 0) || !std::isfinite(yarn.beta_slow)) detail::fail("beta slow must be finite and not negative", yarn.beta_slow);
  if (dims <= 0) detail::fail("rotary dims must be positive", static_cast<std::int64_t>(dims));
  detail::require_positive("base", base);
  if (base == 1) detail::fail("base must not be 1 with YaRN, whose correction dims divide by its logarithm", base);
}

Index exponent_dims(const Powers& powers) { return powers.exponent_dims == 0 ? powers.rotary_dims : powers.exponent_dims; }

/// clamp((pair - low) / max(0.001, high - low), 0, 1), where low and high may be infinite.
DoubleDouble place_in_ramp(double pair, const CorrectionDims& ramp) {
  const double from_low = pair - ramp.low;
  const double width = std::max(0.001, ramp.high - ramp.low);
  if (from_low <= 0) return 0;
  if (from_low >= width) return 1;
  return DoubleDouble(from_low) / DoubleDouble(width);
}

/// base^(-2 e_k / d) / factor_k
std::vector<DoubleDouble> unscaled_rates(const Powers& powers) {
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  const DoubleDouble log_base = log(DoubleDouble(powers.base));
  const DoubleDouble dims(static_cast<double>(exponent_dims(powers)));
  std::vector<DoubleDouble> rates(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto power = powers.exponents.empty() ? static_cast<double>(k) : static_cast<double>(powers.exponents[k]);
    rates[k] = exp(log_base * DoubleDouble(-2 * power) / dims);
    detail::require_finite(fmt::format("rate {}", k), rates[k].high);
    if (!powers.factors.empty()) rates[k] = rates[k] / DoubleDouble(powers.factors[k]);
  }
  return rates;
}

}  // namespace

CorrectionDims yarn_correction_dims(Index dims, double base, const Yarn& yarn) {
  check(dims, base, yarn);
  const DoubleDouble log_base = log(DoubleDouble(base));
  const auto correction = [&](double beta) {
    // A context of 0 wins over a beta of 0, so that 0/0 cannot arise.
    if (yarn.original_context == 0) return -std::numeric_limits<double>::infinity();
    if (beta == 0) return std::numeric_limits<double>::infinity();
    // A sum of logarithms, because the quotient could overflow.
    const DoubleDouble log_turns = log(from_integer(yarn.original_context)) - log(two_pi) - log(DoubleDouble(beta));
    const DoubleDouble c = DoubleDouble(static_cast<double>(dims)) * log_turns / (DoubleDouble(2) * log_base);
    return static_cast<double>(c);
  };
  return {std::max(0.0, std::floor(correction(yarn.beta_fast))),
          std::min(static_cast<double>(dims - 1), std::ceil(correction(yarn.beta_slow)))};
}

double ntk_base(Index dims, double base, double factor) {
  if (dims <= 2) detail::fail("rotary dims must be greater than 2 for NTK scaling", static_cast<std::int64_t>(dims));
  detail::require_positive("base", base);
  detail::require_positive("factor", factor);
  const DoubleDouble power = DoubleDouble(static_cast<double>(dims)) / DoubleDouble(static_cast<double>(dims - 2));
  return static_cast<double>(DoubleDouble(base) * exp(log(DoubleDouble(factor)) * power));
}

Frequencies::Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor)
    : rates_(std::move(rates)), attention_factor_(attention_factor) {
  if (rates_.empty()) detail::fail("the number of rates must be positive", std::int64_t{0});
  for (std::size_t k = 0; k < rates_.size(); ++k) {
    detail::require_finite(fmt::format("rate {}", k), static_cast<double>(rates_[k]));
  }
  detail::require_finite("attention factor", static_cast<double>(attention_factor_));
}

Frequencies Frequencies::powers(const Powers& powers) {
  check(powers);
  std::vector<DoubleDouble> rates = unscaled_rates(powers);
  for (DoubleDouble& rate : rates) rate = rate * DoubleDouble(powers.linear_scale);
  return Frequencies(std::move(rates), powers.attention_factor);
}

Frequencies Frequencies::yarn(const Powers& powers, const Yarn& yarn) {
  check(powers);
  const CorrectionDims ramp = yarn_correction_dims(exponent_dims(powers), powers.base, yarn);
  if (yarn.ext_factor == 0) return Frequencies::powers(powers);
  const DoubleDouble scale(powers.linear_scale);
  std::vector<DoubleDouble> rates = unscaled_rates(powers);
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const DoubleDouble mix = (DoubleDouble(1) - place_in_ramp(static_cast<double>(k), ramp)) * DoubleDouble(yarn.ext_factor);
    rates[k] = rates[k] * (scale * (DoubleDouble(1) - mix) + mix);
  }
  const DoubleDouble stretch = DoubleDouble(1) - log(scale) / DoubleDouble(10);
  return Frequencies(std::move(rates), DoubleDouble(powers.attention_factor) * stretch);
}

Frequencies Frequencies::explicit_rates(const std::vector<double>& rates, double attention_factor) {
  return Frequencies(std::vector<DoubleDouble>(rates.begin(), rates.end()), attention_factor);
}

Frequencies Frequencies::explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor) {
  return Frequencies(std::move(rates), attention_factor);
}

}  // namespace rope
