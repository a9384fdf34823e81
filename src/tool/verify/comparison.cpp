// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/comparison.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace eigen_rope::tool {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The float with an odd last bit next to an inexact value: no later rounding mistakes it for a tie.
float round_to_odd(double value) {
  float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  if (std::abs(static_cast<double>(nearest)) > std::abs(value))
    nearest = std::nextafter(nearest, 0.0F);
  std::uint32_t bits;
  std::memcpy(&bits, &nearest, sizeof bits);
  bits |= 1U;
  std::memcpy(&nearest, &bits, sizeof bits);
  return nearest;
}

bool same(double mine, double stored) {
  return mine == stored || (std::isnan(mine) && std::isnan(stored));
}

// May an infinity stand for a finite value here, or a finite value for it?
bool near_overflow(double mine, double stored, double exact, double allowed, double largest) {
  if (!std::isfinite(allowed) || std::isnan(mine) || std::isnan(stored) ||
      std::signbit(mine) != std::signbit(stored))
    return false;
  return std::abs(exact) >= largest - allowed && std::abs(mine) >= largest - allowed &&
         std::abs(stored) >= largest - allowed;
}

// What a scalar is: digits (with the leading one), smallest exponent of a normal number, largest
// exponent.
struct Format {
  int digits, lowest, highest;
};
Format format_of(ScalarType type) {
  switch (type) {
    case ScalarType::f32: return {24, -126, 127};
    case ScalarType::f64: return {53, -1022, 1023};
    case ScalarType::f16: return {11, -14, 15};
    case ScalarType::bf16: break;
  }
  return {8, -126, 127};
}

}  // namespace

double ratio_of(double error, double bound) {
  if (error == 0) return 0;
  return bound > 0 ? error / bound : infinity;
}

double round_to(ScalarType type, double value) {
  switch (type) {
    case ScalarType::f64: return value;
    case ScalarType::f32: return static_cast<double>(static_cast<float>(value));
    case ScalarType::f16: return static_cast<double>(static_cast<Eigen::half>(round_to_odd(value)));
    case ScalarType::bf16: break;
  }
  return static_cast<double>(static_cast<Eigen::bfloat16>(round_to_odd(value)));
}

double unit_at(ScalarType type, double value) {
  const Format format = format_of(type);
  int exponent = format.lowest;
  if (std::isfinite(value) && value != 0)
    exponent = std::clamp(std::ilogb(value), format.lowest, format.highest);
  if (std::isinf(value)) exponent = format.highest;
  return std::ldexp(1.0, exponent - format.digits + 1);
}

double half_unit(ScalarType type) { return std::ldexp(1.0, -format_of(type).digits); }

double largest_finite(ScalarType type) {
  const Format format = format_of(type);
  return std::ldexp(2 - std::ldexp(1.0, 1 - format.digits), format.highest);
}

double smallest_positive(ScalarType type) {
  const Format format = format_of(type);
  return std::ldexp(1.0, format.lowest - format.digits + 1);
}

Nmse nmse(const std::vector<double>& mine, const std::vector<double>& stored,
          const std::vector<char>& chosen) {
  Nmse result;
  double error = 0;
  double norm = 0;
  double worst = -1;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (!chosen[i]) continue;
    double difference = same(mine[i], stored[i]) ? 0 : std::abs(mine[i] - stored[i]);
    if (std::isnan(difference)) difference = infinity;
    if (difference > worst) {
      worst = difference;
      result.worst = static_cast<std::int64_t>(i);
    }
    error += difference * difference;
    if (std::isfinite(stored[i])) norm += stored[i] * stored[i];
  }
  result.value = ratio_of(error, norm);
  return result;
}

Check compare(const std::vector<double>& mine, const std::vector<double>& stored,
              const Bounds& bounds) {
  const double largest = largest_finite(bounds.type);
  Check check;
  double worst = -1;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    double error = std::abs(mine[i] - stored[i]);
    if (same(mine[i], stored[i]) ||
        near_overflow(mine[i], stored[i], bounds.exact[i], bounds.allowed[i], largest))
      error = 0;
    // Where a term is not finite there is no scale to measure by: only the same value will do.
    const double allowed = std::isfinite(bounds.allowed[i]) ? bounds.allowed[i] : 0;
    double ratio = ratio_of(error, allowed);
    if (std::isnan(error) || std::isinf(error)) ratio = infinity;
    if (ratio <= worst) continue;
    worst = ratio;
    check.error = error;
    check.bound = allowed;
    check.ratio = ratio;
    check.element = static_cast<std::int64_t>(i);
    check.mine = mine[i];
    check.stored = stored[i];
  }
  return check;
}

void count_unequal(Check& check, const std::vector<double>& mine, const std::vector<double>& once,
                   std::int64_t share) {
  count_unequal(check, mine, once, share, std::vector<char>(mine.size(), 1));
}

void count_unequal(Check& check, const std::vector<double>& mine, const std::vector<double>& once,
                   std::int64_t share, const std::vector<char>& chosen) {
  check.share = share;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (chosen[i] == 0) continue;
    ++check.rounded;
    if (mine[i] != once[i] && !(std::isnan(mine[i]) && std::isnan(once[i]))) ++check.unequal;
  }
}

}  // namespace eigen_rope::tool
