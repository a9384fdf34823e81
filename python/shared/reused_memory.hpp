// SPDX-License-Identifier: Apache-2.0
//
// Where a framework allocates the results. Its allocator hands out memory that was written a moment
// ago, and stores past the cache to lines that the cache still holds take twice the time of others.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <eigen_rope/machine/streaming.hpp>

namespace eigen_rope_packages {

/// A shared object that has one of these lets stores past the cache begin where x and y are larger
/// than most caches, and not at the size that the library would measure. EIGEN_ROPE_STREAM_BYTES
/// still decides where it is set.
struct ReusedMemory {
  ReusedMemory() {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    if (std::getenv("EIGEN_ROPE_STREAM_BYTES") == nullptr)
      eigen_rope::set_streaming_threshold(32 * mebibyte);
  }
};

}  // namespace eigen_rope_packages
