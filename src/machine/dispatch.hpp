// SPDX-License-Identifier: Apache-2.0
//
// Calls the version of a kernel that was compiled for the chosen target
// (eigen_rope/machine/kernel_target.hpp).
//
// A file of kernels includes itself once per target (Highway's foreach_target) and ends, under
// HWY_ONCE, with
//
//   void rotate(...) {
//     static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(rotate_for_target);
//     for_targets[chosen_version()](...);
//   }
//
// Highway's own HWY_DYNAMIC_DISPATCH keeps its choice in a global shared with every other user of
// Highway in the process; ours is ours. Private to the library.
#pragma once

#include <hwy/highway.h>

#include <array>
#include <cstddef>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

inline constexpr std::size_t version_count = 5;

/// Place of the chosen target's version: AVX3, AVX2, SSE4, NEON, SCALAR.
std::size_t chosen_version();

template <class Function>
constexpr std::array<Function, version_count> versions(Function avx3, Function avx2, Function sse4,
                                                       Function neon, Function scalar) {
  return {avx3, avx2, sse4, neon, scalar};
}

/// Bit of Highway's target for each place; 0 where it was not compiled.
inline constexpr std::array<long long, version_count> version_targets{
    HWY_TARGETS & HWY_AVX3, HWY_TARGETS& HWY_AVX2, HWY_TARGETS& HWY_SSE4, HWY_TARGETS& HWY_NEON,
    HWY_TARGETS& HWY_SCALAR};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail

/// All versions of `function`, which must not be overloaded; those that were not compiled are null
/// and never chosen.
#define EIGEN_ROPE_VERSIONS(function)                                                  \
  eigen_rope::detail::versions<decltype(&HWY_STATIC_DISPATCH(function))>(              \
      HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_SSE4(function), \
      HWY_CHOOSE_NEON(function), HWY_CHOOSE_FALLBACK(function))
