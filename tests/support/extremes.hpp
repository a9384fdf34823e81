// SPDX-License-Identifier: Apache-2.0
//
// The ends of int64, which ids, counts and strides may have.
#pragma once

#include <cstdint>
#include <limits>

namespace eigen_rope::test {

inline constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

}  // namespace eigen_rope::test
