// SPDX-License-Identifier: Apache-2.0
#include "rope/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace rope::detail {

void fail(std::string_view rule) { throw Error(fmt::format("[rope] {}", rule)); }

void fail(std::string_view rule, std::int64_t got) { throw Error(fmt::format("[rope] {}, got {}", rule, got)); }

void fail(std::string_view rule, double got) {
  // The sign of a NaN means nothing, and it depends on the machine.
  throw Error(fmt::format("[rope] {}, got {}", rule, std::isnan(got) ? std::numeric_limits<double>::quiet_NaN() : got));
}

void fail(std::string_view rule, std::string_view got) { throw Error(fmt::format("[rope] {}, got {}", rule, got)); }

void require_positive(std::string_view name, double value) {
  if (!(value > 0) || !std::isfinite(value)) fail(fmt::format("{} must be finite and greater than 0", name), value);
}

void require_finite(std::string_view name, double value) {
  if (!std::isfinite(value)) fail(fmt::format("{} must be finite", name), value);
}

std::int64_t checked_product(std::string_view what, std::int64_t a, std::int64_t b) {
  if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) {
    fail(fmt::format("{} must fit a 64-bit count", what), fmt::format("{} x {}", a, b));
  }
  return a * b;
}

}  // namespace rope::detail
