// SPDX-License-Identifier: Apache-2.0
//
// Bytes taken apart into the arguments of a call. When they run out, zeros follow.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "targets.hpp"

namespace eigen_rope::fuzz {

/// Shapes, slowest or fastest axis first as the call has them.
using Extents = std::vector<std::int64_t>;

class Take {
 public:
  explicit Take(Bytes bytes) : left_(bytes) {}

  template <class Value>
  Value raw() {
    Value value{};
    const std::size_t count = std::min(sizeof value, left_.size());
    std::memcpy(&value, left_.data(), count);
    left_.remove_prefix(count);
    return value;
  }
  std::uint8_t byte() { return raw<std::uint8_t>(); }
  bool one_in(int chances) { return byte() % chances == 0; }

  template <class Value, std::size_t Count>
  Value one_of(const std::array<Value, Count>& values) {
    return values[byte() % Count];
  }

  /// Mostly small, sometimes at an edge of the type, sometimes anything.
  std::int64_t integer() {
    static constexpr std::array<std::int64_t, 16> edges{-1,
                                                        256,
                                                        4096,
                                                        65536,
                                                        INT32_MAX,
                                                        INT32_MIN,
                                                        std::int64_t{INT32_MAX} + 1,
                                                        std::int64_t{1} << 32,
                                                        std::int64_t{1} << 53,
                                                        std::int64_t{1} << 61,
                                                        std::int64_t{1} << 62,
                                                        (std::int64_t{1} << 62) + 1,
                                                        INT64_MAX,
                                                        INT64_MAX - 1,
                                                        INT64_MIN,
                                                        INT64_MIN + 1};
    const std::uint8_t first = byte();
    if (first < 224) return first % 56;
    return first < 248 ? edges[first % 16] : raw<std::int64_t>();
  }
  std::int32_t integer32() { return static_cast<std::int32_t>(integer()); }

  /// Mostly a usual number, sometimes any bits.
  double number() {
    static constexpr std::array<double, 12> usual{1.0,  2.0, 10000.0, 0.5,      32.0,    0.0,
                                                  -1.0, 1e6, 1e-6,    0x1p-149, 0x1p100, -3.5};
    const std::uint8_t first = byte();
    return first < 192   ? usual[first % usual.size()]
           : first < 224 ? static_cast<double>(raw<float>())
                         : raw<double>();
  }
  /// As number(); what does not fit becomes infinite.
  float number32() {
    static constexpr double largest = 3.4028234663852886e38;
    const double value = number();
    return value > largest ? HUGE_VALF : value < -largest ? -HUGE_VALF : static_cast<float>(value);
  }

  /// A rank of up to 5, mostly `rank`.
  Extents extents(std::size_t rank) {
    if (one_in(16)) rank = byte() % 6;
    Extents result(rank);
    for (std::int64_t& extent : result) extent = integer();
    return result;
  }

  Bytes rest() const { return left_; }

 private:
  Bytes left_;
};

}  // namespace eigen_rope::fuzz
