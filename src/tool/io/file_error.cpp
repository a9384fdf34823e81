// SPDX-License-Identifier: Apache-2.0
#include "tool/io/file_error.hpp"

#include <fmt/core.h>

#include "eigen_rope/numbers/detail/sentence.hpp"

namespace eigen_rope::tool {

void refuse(const std::string& where, std::string_view rule) {
  constexpr std::size_t longest = 560;
  throw FileError(fmt::format(
      "[rope] {}", eigen_rope::detail::one_line(fmt::format("{}: {}", where, rule), longest)));
}

}  // namespace eigen_rope::tool
