// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {

const char* name_of(RampEnds ends) { return ends == RampEnds::rounded ? "rounded" : "exact"; }

namespace detail {
namespace {

void require_not_negative(std::string_view name, double value) {
  if (!(value >= 0) || !std::isfinite(value)) fail(fmt::format("{} must be finite and not negative", name), value);
}

void require_context(Index original_context) {
  if (original_context < 0) fail("original context must not be negative", static_cast<std::int64_t>(original_context));
}

}  // namespace

void require_valid(const Powers& powers) {
  if (powers.rotary_dims <= 0) fail("rotary dims must be positive", static_cast<std::int64_t>(powers.rotary_dims));
  if (powers.rotary_dims % 2 != 0) fail("rotary dims must be even", static_cast<std::int64_t>(powers.rotary_dims));
  require_positive("base", powers.base);
  require_positive("linear scale", powers.linear_scale);
  require_finite("attention factor", powers.attention_factor);
  if (powers.exponent_dims < 0) fail("exponent dims must not be negative", static_cast<std::int64_t>(powers.exponent_dims));
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  if (!powers.factors.empty() && powers.factors.size() < pairs) {
    fail(fmt::format("frequency factors must be at least one per pair ({})", pairs), static_cast<std::int64_t>(powers.factors.size()));
  }
  for (std::size_t k = 0; k < pairs && k < powers.factors.size(); ++k) {
    if (powers.factors[k] == 0 || !std::isfinite(powers.factors[k])) {
      fail(fmt::format("frequency factor {} must be finite and not 0", k), powers.factors[k]);
    }
  }
  if (!powers.exponents.empty() && powers.exponents.size() != pairs) {
    fail(fmt::format("exponents must be one per pair ({})", pairs), static_cast<std::int64_t>(powers.exponents.size()));
  }
}

void require_valid(Index dims, double base, const GgmlYarn& yarn) {
  require_finite("ext factor", yarn.ext_factor);
  require_context(yarn.original_context);
  require_not_negative("beta fast", yarn.beta_fast);
  require_not_negative("beta slow", yarn.beta_slow);
  if (dims <= 0) fail("rotary dims must be positive", static_cast<std::int64_t>(dims));
  require_positive("base", base);
  if (base == 1) fail("base must not be 1 with YaRN, whose correction dims divide by its logarithm", base);
}

void require_valid(const Llama3& llama3) {
  require_positive("llama3 factor", llama3.factor);
  require_not_negative("low freq factor", llama3.low_freq_factor);
  require_not_negative("high freq factor", llama3.high_freq_factor);
  if (llama3.high_freq_factor < llama3.low_freq_factor) {
    fail(fmt::format("high freq factor must be at least the low freq factor ({})", llama3.low_freq_factor), llama3.high_freq_factor);
  }
  require_context(llama3.original_context);
}

void require_valid_ntk(Index dims, double base, double factor) {
  if (dims <= 2) fail("rotary dims must be greater than 2 for NTK scaling", static_cast<std::int64_t>(dims));
  require_positive("base", base);
  require_positive("factor", factor);
}

void require_finite_rate(std::size_t pair, double rate) {
  // Not require_finite, whose name would have to be formatted for every pair.
  if (!std::isfinite(rate)) fail(fmt::format("rate {} must be finite", pair), rate);
}

}  // namespace detail

CorrectionDims yarn_correction_dims(Index dims, double base, const GgmlYarn& yarn) {
  detail::require_valid(dims, base, yarn);
  const auto correction = [&](double beta) {
    return static_cast<double>(detail::yarn_correction<DoubleDouble>(dims, base, yarn.original_context, beta));
  };
  double low = correction(yarn.beta_fast);
  double high = correction(yarn.beta_slow);
  if (yarn.ends == RampEnds::rounded) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  return {std::max(0.0, low), std::min(static_cast<double>(dims - 1), high)};
}

double ntk_base(Index dims, double base, double factor) { return static_cast<double>(ntk_base<DoubleDouble>(dims, base, factor)); }

}  // namespace eigen_rope
