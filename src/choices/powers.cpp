// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/powers.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void require_valid(const Powers<>& powers) {
  if (powers.rotary_dims <= 0)
    fail("rotary dims must be positive", static_cast<std::int64_t>(powers.rotary_dims));
  if (powers.rotary_dims % 2 != 0)
    fail("rotary dims must be even", static_cast<std::int64_t>(powers.rotary_dims));
  require_positive("base", powers.base);
  require_positive("linear scale", powers.linear_scale);
  require_finite("attention factor", powers.attention_factor);
  if (powers.exponent_dims < 0)
    fail("exponent dims must not be negative", static_cast<std::int64_t>(powers.exponent_dims));
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  if (!powers.factors.empty() && powers.factors.size() < pairs) {
    fail(fmt::format("frequency factors must be at least one per pair ({})", pairs),
         static_cast<std::int64_t>(powers.factors.size()));
  }
  for (std::size_t k = 0; k < pairs && k < powers.factors.size(); ++k) {
    if (powers.factors[k] == 0 || !std::isfinite(powers.factors[k])) {
      fail(fmt::format("frequency factor {} must be finite and not 0", k), powers.factors[k]);
    }
  }
  if (!powers.exponents.empty() && powers.exponents.size() != pairs) {
    fail(fmt::format("exponents must be one per pair ({})", pairs),
         static_cast<std::int64_t>(powers.exponents.size()));
  }
}

void require_finite_rate(std::size_t pair, double rate) {
  // Not require_finite, whose name would have to be formatted for every pair.
  if (!std::isfinite(rate)) fail(fmt::format("rate {} must be finite", pair), rate);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
