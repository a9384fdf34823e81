// SPDX-License-Identifier: Apache-2.0
//
// An array that begins on a cache line: vector loads of a misaligned table cost up to a third of
// the rotation's time.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

inline constexpr std::align_val_t cache_line{64};

/// Throws std::bad_alloc, for files that are compiled without exceptions.
[[noreturn]] EIGEN_ROPE_API void fail_allocation();

template <class T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): required of allocators
  CacheLineAllocator(const CacheLineAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) fail_allocation();
    return static_cast<T*>(::operator new(count * sizeof(T), cache_line));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, cache_line); }

  friend bool operator==(CacheLineAllocator, CacheLineAllocator) { return true; }
  friend bool operator!=(CacheLineAllocator, CacheLineAllocator) { return false; }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
