// SPDX-License-Identifier: Apache-2.0
//
// What the library computes in a source file, as bits. results.cpp is compiled several times, each
// time with other flags and as a function of another name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eigen_rope::test {

/// Where the same bits are to be expected.
enum class Reach {
  every_processor,  ///< Of the library's own arithmetic, in a scalar that is the same everywhere.
  this_processor,   ///< With long double, or with functions of the C library.
  near,             ///< Doubles of a differentiable scalar, whose arithmetic is Eigen's.
};

struct Result {
  std::string name;
  Reach reach;
  std::vector<std::uint8_t> bytes;
};

/// 64 bits of a result's bytes (FNV-1a).
inline std::uint64_t fingerprint(const Result& result) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::uint8_t byte : result.bytes) hash = (hash ^ byte) * 0x100000001b3U;
  return hash;
}

std::vector<Result> results_with_the_tests_flags();
std::vector<Result> results_for_this_processor();

}  // namespace eigen_rope::test
