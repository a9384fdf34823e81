// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/frequencies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

Rates<DoubleDouble> rates_of(const Powers<>& powers, const Scaling& scaling, Index length) {
  if (length < 0) detail::fail("length must not be negative", static_cast<std::int64_t>(length));
  const auto through = [&](const auto& one) {
    return one.template cast<DoubleDouble>().rates(powers.cast<DoubleDouble>(), length);
  };
  return std::visit(through, scaling);
}

}  // namespace

Frequencies::Frequencies(std::vector<DoubleDouble> rates, DoubleDouble attention_factor)
    : rates_(std::move(rates)), attention_factor_(attention_factor) {
  if (rates_.empty()) detail::fail("the number of rates must be positive", std::int64_t{0});
  for (std::size_t k = 0; k < rates_.size(); ++k)
    detail::require_finite_rate(k, static_cast<double>(rates_[k]));
  detail::require_finite("attention factor", static_cast<double>(attention_factor_));
}

Frequencies::Frequencies(Rates<DoubleDouble> rates)
    : Frequencies(std::move(rates.rates), rates.attention_factor) {}

Frequencies::Frequencies(const Powers<>& powers, const Scaling& scaling, Index length)
    : Frequencies(rates_of(powers, scaling, length)) {}

Frequencies Frequencies::powers(const Powers<>& powers) {
  return Frequencies(powers, Unscaled<>());
}

Frequencies Frequencies::explicit_rates(const std::vector<double>& rates, double attention_factor) {
  return Frequencies(std::vector<DoubleDouble>(rates.begin(), rates.end()), attention_factor);
}

Frequencies Frequencies::explicit_rates(std::vector<DoubleDouble> rates,
                                        DoubleDouble attention_factor) {
  return Frequencies(std::move(rates), attention_factor);
}

std::string Frequencies::text() const {
  return fmt::format("{} pairs, {:.6g} to {:.6g} rad a token, m = {:.6g}", pairs(),
                     rates_.front().high, rates_.back().high, attention_factor_.high);
}

bool operator==(const Frequencies& a, const Frequencies& b) {
  return a.attention_factor_ == b.attention_factor_ && a.rates_ == b.rates_;
}

std::ostream& operator<<(std::ostream& stream, const Frequencies& frequencies) {
  return stream << frequencies.text();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
