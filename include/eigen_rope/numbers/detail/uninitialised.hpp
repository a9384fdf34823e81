// SPDX-License-Identifier: Apache-2.0
//
// An array on a cache line whose elements are not zeroed before they are written: zeroing a table
// takes a third of the time of filling it.
//
// UninitialisedVector<T>(n) and resize(n) default-initialise: numbers hold anything until they are
// assigned, classes are constructed as ever. Values given explicitly (assign, resize(n, value),
// copies) are kept. Not for arrays that anything reads before it writes.
//
// Large blocks are aligned by hand: glibc's aligned allocation cuts a few bytes off each block, so
// that a freed one no longer fits the next request of the same size, and every new table is made of
// fresh pages, whose faults cost several times the filling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "eigen_rope/numbers/detail/aligned.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class T>
struct UninitialisedAllocator : CacheLineAllocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };

  UninitialisedAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): required of allocators
  UninitialisedAllocator(const UninitialisedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (!is_large(count)) return CacheLineAllocator<T>::allocate(count);
    if (count > static_cast<std::size_t>(-1) / sizeof(T) - line) fail_allocation();
    // The distance back to the block, which is at least what operator new aligns to, is kept just
    // before the array.
    char* block = static_cast<char*>(::operator new(count * sizeof(T) + line));
    const std::size_t distance = line - reinterpret_cast<std::uintptr_t>(block) % line;
    std::memcpy(block + distance - sizeof distance, &distance, sizeof distance);
    void* array = block + distance;
    return static_cast<T*>(array);
  }
  void deallocate(T* memory, std::size_t count) {
    if (!is_large(count)) return CacheLineAllocator<T>::deallocate(memory, count);
    char* place = reinterpret_cast<char*>(memory);
    std::size_t distance;
    std::memcpy(&distance, place - sizeof distance, sizeof distance);
    ::operator delete(place - distance);
  }

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }

 private:
  static constexpr auto line = static_cast<std::size_t>(cache_line);
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(std::size_t), "room for the distance");
  static bool is_large(std::size_t count) { return count >= 65536 / sizeof(T); }
};

template <class T>
using UninitialisedVector = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
