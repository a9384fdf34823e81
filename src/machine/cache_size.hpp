// SPDX-License-Identifier: Apache-2.0
//
// How many bytes the last-level cache keeps, from what the lines of a working set cost.
//
//   latency(S)   ns for a line, chosen at random, of S bytes that have just been read through
//   cached       latency(8 MiB), which second-level caches have little part in
//   flushed      ns for a line that was flushed
//   result       the S at which latency(S) = cached + 1/4 (flushed - cached)
//
// A fourth of the lines is missing where the set is a third larger than what the cache keeps.
// Private to the library.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// So much larger than second-level caches (up to 2 MiB) that few lines are found there, and
/// smaller than most last-level ones.
inline constexpr std::size_t smallest_set = 8 * mebibyte;
inline constexpr std::array<std::size_t, 8> larger_sets{12 * mebibyte, 16 * mebibyte, 20 * mebibyte,
                                                        24 * mebibyte, 32 * mebibyte, 40 * mebibyte,
                                                        48 * mebibyte, 64 * mebibyte};
inline constexpr std::size_t largest_set = larger_sets.back();

/// What stands for a result that cannot be measured: not quite the 32 MiB that many processors
/// share among eight cores.
inline constexpr std::size_t unmeasured_set = 28 * mebibyte;

/// `set` has grow(bytes), latency(repeats) and flushed_latency(repeats). Of that many repeats these
/// return the least. `in_time()` tells whether there is time for another size.
template <class WorkingSet, class InTime>
std::size_t set_that_outgrows_the_cache(WorkingSet& set, const InTime& in_time) {
  // Lines in a cache cost less than this part of what flushed ones do, or nothing can be told (a
  // neighbour that empties the cache).
  constexpr double contrast = 0.6;
  // Large caches have lines that are further away than others, which look like a seventh missing.
  constexpr double missing = 1.0 / 4;

  set.grow(smallest_set);
  const double cached = set.latency(4);
  const double flushed = set.flushed_latency(4);
  if (!(cached < contrast * flushed)) return unmeasured_set;
  const double limit = cached + missing * (flushed - cached);

  std::size_t size = smallest_set;
  double last = cached;
  for (const std::size_t next : larger_sets) {
    if (!in_time()) return std::max(unmeasured_set, size);
    set.grow(next);
    // A neighbour's burst also empties the cache, so what looks too large is looked at again.
    double latency = set.latency(2);
    if (latency > limit) latency = std::min(latency, set.latency(2));
    if (latency > limit) {
      const double part = (limit - last) / (latency - last);
      return size + static_cast<std::size_t>(part * static_cast<double>(next - size));
    }
    size = next;
    last = latency;
  }
  return largest_set;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
