// SPDX-License-Identifier: Apache-2.0
//
// Arrays that begin a few elements behind a page, as most arrays of a program do.
//
//   x, y   as those of a Case, so many elements further on
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "case.hpp"
#include "contender.hpp"
#include "expected.hpp"

namespace bench {

template <class T>
struct Shifted {
  using Map = typename Case<T>::Map;

  Shifted(const Case<T>& c, Index x_offset, Index y_offset)
      : x_memory(c.shape.size() + x_offset),
        y_memory(c.shape.size() + y_offset),
        x(x_memory.data() + x_offset, c.D(), heads, c.S()),
        y(y_memory.data() + y_offset, c.D(), heads, c.S()) {
    std::memcpy(static_cast<void*>(x.data()), c.x.data(), c.bytes());
    std::memset(static_cast<void*>(y.data()), 0, c.bytes());
  }

  PlacedArray<T> x_memory, y_memory;
  Map x, y;
};

/// `run` writes the rotation of shifted->x to shifted->y.
template <class T>
Prepared into(Case<T>& c, const std::shared_ptr<Shifted<T>>& shifted, const Action& run) {
  return {run, [&c, shifted, run] {
            std::memset(static_cast<void*>(shifted->y.data()), 0xff, c.bytes());
            run();
            return agrees(shifted->y.data(), rotated(c));
          }};
}

}  // namespace bench
