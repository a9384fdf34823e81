// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/frequencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {

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

Frequencies Frequencies::ggml_yarn(const Powers& powers, const GgmlYarn& yarn) {
  BasicRates<DoubleDouble> rates = ggml_yarn_rates(powers.cast<DoubleDouble>(), yarn.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::llama3(const Powers& powers, const Llama3& llama3) {
  BasicRates<DoubleDouble> rates = llama3_rates(powers.cast<DoubleDouble>(), llama3.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::linear(const Powers& powers, double factor) {
  BasicRates<DoubleDouble> rates = linear_rates(powers.cast<DoubleDouble>(), DoubleDouble(factor));
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::proportional(const Powers& powers, const Proportional& proportional) {
  BasicRates<DoubleDouble> rates = proportional_rates(powers.cast<DoubleDouble>(), proportional.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::dynamic_ntk(const Powers& powers, const DynamicNtkScaling& ntk, Index length) {
  BasicRates<DoubleDouble> rates = dynamic_ntk_rates(powers.cast<DoubleDouble>(), ntk.cast<DoubleDouble>(), length);
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::ntk(const Powers& powers, const NtkScaling& ntk) {
  BasicRates<DoubleDouble> rates = ntk_rates(powers.cast<DoubleDouble>(), ntk.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::yarn(const Powers& powers, const Yarn& yarn) {
  BasicRates<DoubleDouble> rates = yarn_rates(powers.cast<DoubleDouble>(), yarn.cast<DoubleDouble>());
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::longrope(const Powers& powers, const LongRope& longrope, Index length) {
  BasicRates<DoubleDouble> rates = longrope_rates(powers.cast<DoubleDouble>(), longrope.cast<DoubleDouble>(), length);
  return Frequencies(std::move(rates.rates), rates.attention_factor);
}

Frequencies Frequencies::explicit_rates(const std::vector<double>& rates, double attention_factor) {
  return Frequencies(std::vector<DoubleDouble>(rates.begin(), rates.end()), attention_factor);
}

Frequencies Frequencies::explicit_rates(std::vector<DoubleDouble> rates, DoubleDouble attention_factor) {
  return Frequencies(std::move(rates), attention_factor);
}

std::string Frequencies::text() const {
  return fmt::format("{} pairs, {:.6g} to {:.6g} rad a token, m = {:.6g}", pairs(), rates_.front().high, rates_.back().high,
                     attention_factor_.high);
}

bool operator==(const Frequencies& a, const Frequencies& b) { return a.attention_factor_ == b.attention_factor_ && a.rates_ == b.rates_; }

std::ostream& operator<<(std::ostream& stream, const Frequencies& frequencies) { return stream << frequencies.text(); }

}  // namespace eigen_rope
