// SPDX-License-Identifier: Apache-2.0
#include "rope/frequencies.hpp"

#include <cstdint>
#include <utility>

#include "rope/error.hpp"

namespace rope {

Frequencies::Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor)
    : rates_(std::move(rates)), attention_factor_(attention_factor) {
  if (rates_.empty()) detail::fail("the number of rates must be positive", std::int64_t{0});
  for (std::size_t k = 0; k < rates_.size(); ++k) detail::require_finite_rate(k, static_cast<double>(rates_[k]));
  detail::require_finite("attention factor", static_cast<double>(attention_factor_));
}

Frequencies Frequencies::powers(const Powers& powers) {
  BasicRates<DoubleDouble> rates = power_rates(powers.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::yarn(const Powers& powers, const Yarn& yarn) {
  BasicRates<DoubleDouble> rates = yarn_rates(powers.cast<DoubleDouble>(), yarn.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::llama3(const Powers& powers, const Llama3& llama3) {
  BasicRates<DoubleDouble> rates = llama3_rates(powers.cast<DoubleDouble>(), llama3.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::explicit_rates(const std::vector<double>& rates, double attention_factor) {
  return Frequencies(std::vector<DoubleDouble>(rates.begin(), rates.end()), attention_factor);
}

Frequencies Frequencies::explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor) {
  return Frequencies(std::move(rates), attention_factor);
}

}  // namespace rope
