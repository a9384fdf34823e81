// SPDX-License-Identifier: Apache-2.0
//
// What a contender must leave in memory, from eigen_rope::reference, and how near it must come.
//
// |result - reference| <= tolerance everywhere: 4 epsilon for float and double, because
// -march=native contracts products and sums; one epsilon, an ulp of the largest results, for the
// 16-bit types. Results lie within (-2, 2).
#pragma once

#include <algorithm>
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

/// x's bytes seen as [D, S, H], rotated, in their order.
template <class T>
std::vector<T> rotated_heads_outside(const Case<T>& c) {
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), c.cache.pairs(), {c.S(), 1}};
  std::vector<T> result(static_cast<std::size_t>(c.shape.size()));
  eigen_rope::reference::rotate(c.x.data(), result.data(), eigen_rope::Shape{c.D(), c.S(), heads},
                                table, c.pairing);
  return result;
}

/// [D, H, S] as [D, S, H].
template <class T>
std::vector<T> with_heads_outside(const Case<T>& c, const std::vector<T>& y) {
  std::vector<T> result(y.size());
  for (Index s = 0; s < c.S(); ++s) {
    for (Index h = 0; h < heads; ++h)
      std::copy_n(y.data() + (s * heads + h) * c.D(), c.D(),
                  result.data() + (h * c.S() + s) * c.D());
  }
  return result;
}

/// The gradient of angles, y_A g_B - y_B g_A summed over heads, in double.
template <class T>
std::vector<double> angles(const Case<T>& c, const T* y, const T* g) {
  const Index pairs = c.shape.rotary_dims / 2;
  std::vector<double> sums(static_cast<std::size_t>(pairs * c.S()));
  for (Index s = 0; s < c.S(); ++s) {
    for (Index h = 0; h < heads; ++h) {
      const Index row = (s * heads + h) * c.D();
      for (Index k = 0; k < pairs; ++k) {
        const eigen_rope::PairSlots slot =
            eigen_rope::pair_slots(c.pairing.kind(), k, c.shape.rotary_dims);
        const auto value = [row](const T* from, Index at) {
          return static_cast<double>(from[row + at]);
        };
        sums[static_cast<std::size_t>(s * pairs + k)] +=
            value(y, slot.A) * value(g, slot.B) - value(y, slot.B) * value(g, slot.A);
      }
    }
  }
  return sums;
}

/// The error of 32 heads of two products below 1, each within an ulp of float.
inline constexpr double angle_tolerance = 64 * 0x1p-23;

template <class Values>
bool agrees_with_angles(const Values& values, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::abs(values[i] - expected[i]) <= angle_tolerance)) return false;
  }
  return true;
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
Prepared into_y(Case<T>& c, const Action& run, const Expected& expected) {
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
