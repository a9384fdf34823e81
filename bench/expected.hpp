// SPDX-License-Identifier: Apache-2.0
//
// What a contender must leave in memory, from eigen_rope::reference, and how near it must come.
//
// |result - reference| <= tolerance everywhere: 4 epsilon for float and double, because
// -march=native contracts products and sums; one epsilon, an ulp of the largest results, for the
// 16-bit types. Results lie within (-2, 2).
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "case.hpp"
#include "contender.hpp"

namespace bench {

template <class T>
double tolerance() {
  return (sizeof(T) == 2 ? 1 : 4) * static_cast<double>(Eigen::NumTraits<T>::epsilon());
}

/// x rotated as [D, H, S], in x's order.
template <class T>
std::vector<T> rotated(const Case<T>& c, eigen_rope::Direction direction) {
  std::vector<T> result(static_cast<std::size_t>(c.shape.size()));
  eigen_rope::reference::rotate(c.x.data(), result.data(), eigen_rope::Shape{c.D(), heads, c.S()},
                                c.cache.view(), c.pairing, direction);
  return result;
}

/// The same forward, kept: most contenders need it.
template <class T>
const std::vector<T>& rotated(Case<T>& c) {
  if (c.expected.empty()) c.expected = rotated(c, eigen_rope::Direction::forward);
  return c.expected;
}

/// Not true for NaN.
template <class T>
bool agrees(const T* result, const std::vector<T>& expected, double allowed = tolerance<T>()) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::abs(static_cast<double>(result[i]) - static_cast<double>(expected[i])) <= allowed))
      return false;
  }
  return true;
}

/// Every element of y NaN, so that one left out is seen.
template <class T>
void spoil(Case<T>& c) {
  std::memset(static_cast<void*>(c.y.data()), 0xff, c.bytes());
}

/// `run` reads x and writes y, which must become what `expected` returns.
template <class T, class Expected>
Prepared into_y(Case<T>& c, const Action& run, Expected expected) {
  auto correct = [&c, run, expected] {
    spoil(c);
    run();
    return agrees(c.y.data(), expected());
  };
  return {run, correct};
}

/// `run` writes the rotation of x to y.
template <class T>
Prepared rotates_into_y(Case<T>& c, const Action& run) {
  return into_y(c, run, [&c]() -> const std::vector<T>& { return rotated(c); });
}

}  // namespace bench
