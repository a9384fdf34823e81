// SPDX-License-Identifier: Apache-2.0
//
// The size from which a rotation out of place writes past the cache.
//
// A store that bypasses the cache (a non-temporal one) saves reading the lines of the destination
// first. That pays when x and y together do not fit half of the last-level cache. It costs when
// they do, because y is then not in the cache for whoever reads it next. What processors and
// systems report of that cache cannot be trusted (a virtual machine may report hundreds of MB, or
// share what it has), so the size is measured, once, at the first rotation that reads and writes
// more than 4 MiB. Smaller rotations never wait for the measurement. The environment variable
// EIGEN_ROPE_STREAM_BYTES gives the number instead: 0 always bypasses the cache, a huge number
// never does. Results are the same bits either way. Rotations in place always go through the cache,
// which holds their lines anyway.
#pragma once

#include <cstddef>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Returns the number of bytes from which a rotation out of place bypasses the cache.
///
/// What counts are the bytes of x and y together, without the table; four times as many where the
/// rotation goes from one order of axes into another. The number is the one that was set, otherwise
/// that of EIGEN_ROPE_STREAM_BYTES, otherwise a measured one. Where stores cannot bypass the cache,
/// the largest std::size_t stands for the measured one.
///
/// \code{.cpp}
/// er::streaming_threshold();  // measures now, rather than in the first large rotation
/// \endcode
///
/// - Errors:   eigen_rope::Error if EIGEN_ROPE_STREAM_BYTES decides and is not a whole number of
///             bytes.
/// - Threads:  safe to call from several threads.
/// - Cost:     the first call may measure, which takes 20 to 60 ms, most of it for memory to
///             measure with. A measured number is always more than 4 MiB.
///
/// \see \ref performance "Performance"
EIGEN_ROPE_API std::size_t streaming_threshold();

/// Sets the number of bytes from which rotations out of place bypass the cache, in the whole
/// process.
///
/// \code{.cpp}
/// er::set_streaming_threshold(20000000);  // from 20 MB of x and y together
/// \endcode
///
/// \param bytes  of x and y together; 0 for always, the largest std::size_t for never
///
/// - Threads:  safe while other threads rotate: each rotation takes one number or the other.
EIGEN_ROPE_API void set_streaming_threshold(std::size_t bytes);

/// Forgets the number of bytes that was set or measured.
///
/// EIGEN_ROPE_STREAM_BYTES is read again. If it gives no number, the next large rotation measures.
///
/// \code{.cpp}
/// er::set_streaming_threshold(0);
/// y = er::rotate(x, cache, er::split_half);  // past the cache, whatever its size
/// er::reset_streaming_threshold();
/// \endcode
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
}  // namespace eigen_rope::EIGEN_ROPE_ABI
