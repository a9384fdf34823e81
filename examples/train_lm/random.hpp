// SPDX-License-Identifier: Apache-2.0
//
// Random numbers as a function of a key: (seed, stream, counter) -> 64 bits, by the finaliser of
// SplitMix64 (Steele et al. 2014).
//
// Nothing is carried from one draw to the next, so the state of the generator is the seed and the
// step: a resumed run draws what the unbroken run would have drawn. The normal and uniform maps are
// written out because the standard library's differ between systems. Not for cryptography.
#pragma once

#include <cmath>
#include <cstdint>

namespace train_lm {

/// What the numbers are for; keeps the draws of one purpose apart from another's.
enum class Stream : std::uint64_t { weights = 1, windows = 2, sampling = 3 };

inline std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

inline std::uint64_t random_bits(std::uint64_t seed, Stream stream, std::uint64_t a,
                                 std::uint64_t b = 0) {
  return mix(mix(mix(mix(seed) ^ static_cast<std::uint64_t>(stream)) ^ a) ^ b);
}

/// Uniform in [0, 1), 53 bits.
inline double to_uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Standard normal, by Box and Muller.
inline double random_normal(std::uint64_t seed, Stream stream, std::uint64_t a, std::uint64_t b) {
  constexpr double two_pi = 6.283185307179586;
  const std::uint64_t bits = random_bits(seed, stream, a, b);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - to_uniform(bits)));
  return radius * std::cos(two_pi * to_uniform(mix(bits)));
}

}  // namespace train_lm
