// SPDX-License-Identifier: Apache-2.0
#include "file_error.hpp"

#include <fmt/format.h>

#include "rope/detail/sentence.hpp"

namespace rope::tool {

void refuse(const std::string& where, std::string_view rule) {
  constexpr std::size_t longest = 560;
  throw FileError(fmt::format("[rope] {}", rope::detail::one_line(fmt::format("{}: {}", where, rule), longest)));
}

}  // namespace rope::tool
