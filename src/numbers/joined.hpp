// SPDX-License-Identifier: Apache-2.0
//
// Values one behind another in a sentence.
//
//   joined(std::vector{1, 2, 3}, ", ") -> "1, 2, 3"
//
// As fmt::join, which compiles fmt's formatting anew in every file that uses it: this one calls
// fmt's library for each value. Private to the library and its program.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Each value is written as `form` says.
template <class Range>
std::string joined(const Range& values, std::string_view separator, std::string_view form = "{}") {
  std::string text;
  std::string_view before;
  for (const auto& value : values) {
    text += before;
    before = separator;
    text += fmt::format(fmt::runtime(form), value);
  }
  return text;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
