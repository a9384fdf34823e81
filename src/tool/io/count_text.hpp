// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers as people write them on a command line: 131072, 1e6, 1.28e5. What the number
// counts, and its range, are the caller's.
#pragma once

#include <optional>
#include <string_view>

#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::tool {

/// Nothing for a text that is no number, for one that is not whole (1.5, 1e-3), and for one past
/// 2^53 in scientific notation or past 2^63.
std::optional<eigen_rope::Index> parse_count(std::string_view text);

}  // namespace eigen_rope::tool
