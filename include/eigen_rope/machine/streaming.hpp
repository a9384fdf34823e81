// SPDX-License-Identifier: Apache-2.0
//
// From which size on a rotation out of place writes past the cache.
//
// A store that bypasses the cache (non-temporal) saves reading the destination's lines first, which
// pays when x and y together do not fit half of the last-level cache, and costs when they do: y is
// then no longer in the cache for whoever reads it next. What processors and systems say of that
// cache cannot be trusted (a virtual machine may report hundreds of MB, or share what it has), so
// it is measured, once, at the first rotation that reads and writes more than 4 MiB; no smaller one
// ever waits for that. The environment variable EIGEN_ROPE_STREAM_BYTES gives the number instead: 0
// always bypasses, a huge one never does. Results are the same bits either way. Not for rotations
// in place, whose lines are in the cache anyway.
#pragma once

#include <cstddef>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// Bytes that a rotation out of place reads and writes together (x and y, not the table) from which
/// it bypasses the cache.
///
/// - Errors:   eigen_rope::Error if EIGEN_ROPE_STREAM_BYTES is not a whole number of bytes.
/// - Threads:  safe to call from several threads.
/// - Cost:     the first call may measure: about 30 ms, most of it for memory to measure with; what
///             is measured is always more than 4 MiB.
EIGEN_ROPE_API std::size_t streaming_threshold();

/// Uses `bytes` from now on in the whole process: 0 for always, the largest std::size_t for never.
///
/// - Threads:  safe while other threads rotate: each rotation takes one number or the other.
EIGEN_ROPE_API void set_streaming_threshold(std::size_t bytes);

/// Forgets what was set or measured: the environment is read again, and the next large rotation
/// measures again if it gives nothing.
EIGEN_ROPE_API void reset_streaming_threshold();

namespace detail {

/// Throws eigen_rope::Error if EIGEN_ROPE_STREAM_BYTES is wrong: called where an expression is
/// made, so that kernels in other threads never throw.
///
/// - Cost:     one atomic load after the first call.
EIGEN_ROPE_API void require_streaming_threshold();

/// Whether a rotation that reads and writes `bytes` together bypasses the cache. Measures if it
/// must; up to 4 MiB it never must.
EIGEN_ROPE_API bool streams(std::size_t bytes) noexcept;

}  // namespace detail
}  // namespace eigen_rope
