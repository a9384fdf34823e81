// SPDX-License-Identifier: Apache-2.0
//
// The measurement behind eigen_rope/machine/streaming.hpp. Private to the library.
#pragma once

#include <cstddef>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Rotations of up to so many bytes are taken to fit the cache and never wait for a measurement;
/// its answer is therefore larger.
inline constexpr std::size_t always_cached = std::size_t{4} << 20;

/// Bytes read and written together from which stores past the cache pay on this machine, measured
/// now: 20 to 60 ms, up to 64 MiB of memory meanwhile. Where stores past the cache do not exist,
/// the largest std::size_t.
std::size_t measured_streaming_threshold() noexcept;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
