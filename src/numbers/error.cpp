// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/numbers/error.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/numbers/detail/sentence.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

// Together less than 600 bytes.
constexpr std::size_t longest_rule = 400;
constexpr std::size_t longest_value = 160;

[[noreturn]] void fail_with(std::string_view rule, std::string_view got) {
  throw Error(
      fmt::format("[rope] {}, got {}", one_line(rule, longest_rule), one_line(got, longest_value)));
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

void fail_allocation() { throw std::bad_alloc(); }

std::string one_line(std::string_view text, std::size_t most) {
  constexpr std::string_view left_out = "...";
  const std::size_t kept = (most - left_out.size()) / 2;
  std::string line;
  // Far more than is kept need not be looked at: an escape has at most 4 bytes for each.
  const bool cut = text.size() > 2 * most;
  const std::string_view begin = cut ? text.substr(0, most) : text;
  const auto append = [&line](std::string_view part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto byte = static_cast<unsigned char>(part[i]);
      const bool high_control = byte == 0xC2U && i + 1 < part.size() &&
                                static_cast<unsigned char>(part[i + 1]) - 0x80U < 0x20U;
      if (high_control) {
        line += fmt::format("\\x{:02x}", static_cast<unsigned char>(part[++i]));
      } else if (byte < 0x20U || byte == 0x7FU) {
        line += fmt::format("\\x{:02x}", byte);
      } else {
        line += part[i];
      }
    }
  };
  append(begin);
  if (cut) append(text.substr(text.size() - most));
  if (line.size() <= most) return line;
  std::size_t head = kept, tail = line.size() - kept;
  while (head > 0 && continues_character(line[head])) --head;
  while (tail < line.size() && continues_character(line[tail])) ++tail;
  return line.substr(0, head).append(left_out).append(line, tail);
}

void fail(std::string_view rule) {
  throw Error(fmt::format("[rope] {}", one_line(rule, longest_rule + longest_value)));
}

void fail(std::string_view rule, std::int64_t got) { fail_with(rule, fmt::format("{}", got)); }

void fail(std::string_view rule, double got) {
  // The sign of a NaN means nothing, and it depends on the machine.
  fail_with(rule,
            fmt::format("{}", std::isnan(got) ? std::numeric_limits<double>::quiet_NaN() : got));
}

void fail(std::string_view rule, std::string_view got) { fail_with(rule, got); }

void require_positive(std::string_view name, double value) {
  if (!(value > 0) || !std::isfinite(value))
    fail(fmt::format("{} must be finite and greater than 0", name), value);
}

void require_finite(std::string_view name, double value) {
  if (!std::isfinite(value)) fail(fmt::format("{} must be finite", name), value);
}

std::int64_t checked_large_product(std::string_view what, std::int64_t a, std::int64_t b) {
  if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) {
    fail(fmt::format("{} must fit a 64-bit count", what), fmt::format("{} x {}", a, b));
  }
  return a * b;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
