// SPDX-License-Identifier: Apache-2.0
//
// Rates and magnitude by the formulas of eigen_rope/choices/frequencies.hpp, in 200 bits and
// written independently of the library.
#pragma once

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <optional>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::test {

struct RealFrequencies {
  std::vector<Real> rates;
  Real magnitude;
};

/// YaRN's c(beta); original_context and beta are not 0.
inline Real real_correction(Index dims, double base, Index original_context, double beta) {
  const Real turns = Real(original_context) / (2 * boost::math::constants::pi<Real>() * Real(beta));
  return Real(dims) * log(turns) / (2 * log(Real(base)));
}

inline RealFrequencies real_frequencies(const Powers<>& powers,
                                        const std::optional<GgmlYarn<>>& yarn = std::nullopt) {
  const Index dims = powers.exponent_dims == 0 ? powers.rotary_dims : powers.exponent_dims;
  const bool blends = yarn && yarn->ext_factor != 0;
  Real low = 0;
  Real high = 0;
  if (blends) {
    low = std::max(
        Real(0),
        Real(floor(real_correction(dims, powers.base, yarn->original_context, yarn->beta_fast))));
    high = std::min(
        Real(dims - 1),
        Real(ceil(real_correction(dims, powers.base, yarn->original_context, yarn->beta_slow))));
  }
  RealFrequencies result{{}, Real(powers.attention_factor)};
  for (Index k = 0; k < powers.rotary_dims / 2; ++k) {
    const auto pair = static_cast<std::size_t>(k);
    const Real exponent = powers.exponents.empty() ? Real(k) : Real(powers.exponents[pair]);
    Real rate = pow(Real(powers.base), -2 * exponent / Real(dims));
    if (!powers.factors.empty()) rate /= Real(powers.factors[pair]);
    const Real scaled = rate * Real(powers.linear_scale);
    if (blends) {
      const Real place = (Real(k) - low) / std::max(Real(0.001), Real(high - low));
      const Real mix = (1 - std::clamp(place, Real(0), Real(1))) * Real(yarn->ext_factor);
      rate = scaled * (1 - mix) + rate * mix;
    } else {
      rate = scaled;
    }
    result.rates.push_back(rate);
  }
  if (blends) result.magnitude *= 1 + log(1 / Real(powers.linear_scale)) / 10;
  return result;
}

}  // namespace eigen_rope::test
