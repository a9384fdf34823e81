// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a, 64 bits: notices damage and tells texts apart. Every step is a bijection of the state, so
// a change of one byte is always noticed. Not a defence against anyone who means to deceive.
#pragma once

#include <cstddef>
#include <cstdint>

namespace train_lm {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325ULL;

inline std::uint64_t fnv1a(const char* bytes, std::size_t size, std::uint64_t hash = fnv1a_start) {
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3ULL;
  return hash;
}

}  // namespace train_lm
