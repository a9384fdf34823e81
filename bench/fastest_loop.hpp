// SPDX-License-Identifier: Apache-2.0
//
// The fastest of the loops written by hand (hand/hand.hpp) for one call, found by timing them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "hand/hand.hpp"
#include "timing.hpp"

namespace bench {

/// Whether every row of y begins where the loop's stores may.
template <class T>
bool fits(const HandLoop& loop, const HandCall& call) {
  const auto aligned = [&](std::ptrdiff_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T) % loop.alignment == 0;
  };
  return call.heads % loop.heads_together == 0 && aligned(call.y_head) && aligned(call.y_token) &&
         reinterpret_cast<std::uintptr_t>(call.y) % loop.alignment == 0;
}

/// Several rounds, in which the loops take turns; the least of each loop's times counts, because
/// others on the machine can only slow one.
template <class T>
HandLoop fastest_loop(const HandLoops& loops, const HandCall& call, std::size_t bytes) {
  constexpr int rounds = 9;
  double least[HandLoops::most];
  std::fill(std::begin(least), std::end(least), std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < loops.count; ++i) {
      if (!fits<T>(loops.loop[i], call)) continue;
      const auto run = loops.loop[i].run;
      least[i] = std::min(least[i], seconds_of_call(bytes, [run, &call] { run(call); }));
    }
  }
  return loops.loop[std::min_element(std::begin(least), std::end(least)) - std::begin(least)];
}

}  // namespace bench
