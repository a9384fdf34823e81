// SPDX-License-Identifier: Apache-2.0
#include "tool/io/count_text.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace eigen_rope::tool {

std::optional<eigen_rope::Index> parse_count(std::string_view text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  eigen_rope::Index count = 0;
  const auto [stop, error] = std::from_chars(begin, end, count);
  if (error == std::errc() && stop == end) return count;
  if (error == std::errc::result_out_of_range) return {};
  double value = 0;
  const auto [stop_of_value, error_of_value] = std::from_chars(begin, end, value);
  const bool read = error_of_value == std::errc() && stop_of_value == end;
  // Up to 2^53 every whole number is a double, so none of them is another one rounded.
  if (!read || !(std::fabs(value) <= 0x1p53) || value != std::floor(value)) return {};
  return static_cast<eigen_rope::Index>(value);
}

}  // namespace eigen_rope::tool
