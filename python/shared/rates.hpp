// SPDX-License-Identifier: Apache-2.0
//
// Frequencies of rates that a framework's tensors hold. A rate is the sum of two doubles, where a
// tensor has the second: what one double has no room for.
#pragma once

#include <cstddef>
#include <eigen_rope/choices/frequencies.hpp>
#include <eigen_rope/numbers/double_double.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eigen_rope_packages {

/// - Errors:   eigen_rope::Error for low rates that are not one for each rate, and for numbers that
///             are not finite.
inline eigen_rope::Frequencies frequencies_of(const std::vector<double>& rates,
                                              const std::optional<std::vector<double>>& low_rates,
                                              double attention_factor) {
  using eigen_rope::DoubleDouble;
  if (!low_rates) return eigen_rope::Frequencies::explicit_rates(rates, attention_factor);
  if (low_rates->size() != rates.size()) {
    throw eigen_rope::Error("[rope] low_rates must be one for each rate (" +
                            std::to_string(rates.size()) + "), got " +
                            std::to_string(low_rates->size()));
  }
  std::vector<DoubleDouble> sums;
  sums.reserve(rates.size());
  for (std::size_t k = 0; k < rates.size(); ++k) {
    sums.push_back(DoubleDouble(rates[k]) + DoubleDouble((*low_rates)[k]));
  }
  return eigen_rope::Frequencies::explicit_rates(std::move(sums), DoubleDouble(attention_factor));
}

}  // namespace eigen_rope_packages
