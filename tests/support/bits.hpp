// SPDX-License-Identifier: Apache-2.0
//
// The bits of scalars, so that a test can tell 0 from -0 and compare whole arrays.
#pragma once

#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::test {

/// The bytes of each of `count` scalars that carry its value: a long double of 80 bits lies in 16
/// bytes.
template <class Scalar>
auto bits_of(const Scalar* values, Index count) {
  constexpr std::size_t size = std::is_same_v<Scalar, long double> && sizeof(Scalar) == 16 &&
                                       std::numeric_limits<Scalar>::digits == 64
                                   ? 10
                                   : sizeof(Scalar);
  std::vector<std::array<unsigned char, size>> bits(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(bits[i].data(), values + i, size);
  return bits;
}

template <class Scalar>
auto bits_of(const std::vector<Scalar>& values) {
  return bits_of(values.data(), static_cast<Index>(values.size()));
}

}  // namespace eigen_rope::test
