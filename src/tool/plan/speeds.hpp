// SPDX-License-Identifier: Apache-2.0
//
// How fast a rank computes and its links carry: what the times of a plan are made of.
//
//   eigen-rope bench --filter '/inplace/.*/prefill' --json speeds.json     measures
//   read_bench_speeds("speeds.json", ...)                                  rotation, memory
//
// What no file says has the speed that one core of the machine of docs/scaling.md had, or is
// stated by whoever plans. Speeds are those of kernels that have their processor for themselves.
#pragma once

#include <filesystem>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/choices/pairing.hpp"

namespace eigen_rope::tool {

/// Of one rank.
struct Speeds {
  double products = 116e9;  ///< Operations per second of products with weights.
  double attention = 66e9;  ///< Of attention's products, with the softmax between them.
  double rotation = 21e9;   ///< Bytes per second that a rotation in place reads and writes.
  double memory = 24e9;     ///< The same of what is neither a product nor a rotation.
};

/// Of the way to the next rank.
struct Link {
  double bytes_per_second = 12.5e9;
  double latency = 10e-6;  ///< Seconds from the start of a message to its first byte.
};

/// Sets rotation and memory to the medians of a result of `eigen-rope bench --json`: the rotation
/// in place and memcpy of the longest shape, on one thread.
///
/// - Errors:   FileError for a file that cannot be read or has no such result.
void read_bench_speeds(const std::filesystem::path& path, ScalarType scalar, PairKind pairing,
                       Speeds& speeds);

}  // namespace eigen_rope::tool
