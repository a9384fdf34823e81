// SPDX-License-Identifier: Apache-2.0
//
// Numbers at the ends of their types, which bad input is made of.
#pragma once

#include <cstdint>
#include <limits>

namespace rope::test {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

}  // namespace rope::test
