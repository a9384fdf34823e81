// SPDX-License-Identifier: Apache-2.0
//
// Seconds of one call, by how many bytes it reads and writes together.
//
//   up to 4 MiB     as many calls in a row as take half a millisecond
//   up to 48 MiB    displaced: another tensor of x's size passes through the cache before each call
//   beyond          large: one call, and there is nothing to warm
#pragma once

#include <cstddef>

#include "contender.hpp"

namespace bench {

/// What does not fit into a cache.
bool is_large(std::size_t bytes);

/// What would stay in the last-level cache, source and destination both, if nothing else were done
/// between two calls: as never happens to a tensor of a model.
bool is_displaced(std::size_t bytes);

/// Of a call right after another tensor has passed through the cache.
double seconds_of_displaced(std::size_t bytes, const Action& action);

/// Of one call among as many as the clock needs, one after the other: the clock itself takes part
/// of a small copy's time.
double seconds_of_calls(const Action& action);

/// Of one call, by the rule above.
double seconds_of_call(std::size_t bytes, const Action& action);

}  // namespace bench
