// SPDX-License-Identifier: Apache-2.0
//
// Memory for the length of one loop, which the thread keeps for its next one: a pass that copies a
// few rows at a time asks for no memory once it has run.
//
//   Scratch<float> rows(count)     uninitialised, on a cache line
//
// What a thread keeps is one block of at most 1 MiB, given back when the thread ends. Arrays lie in
// it one behind the other and are given up in the reverse order, as local variables are. So nothing
// may be waited for while one is held: another task could take over the thread. What does not fit
// is allocated, and makes the block larger when it is next empty.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The bytes that a thread keeps at most.
inline constexpr std::size_t most_kept_scratch = std::size_t{1} << 20;

/// Bytes of the calling thread's, on a cache line.
class ScratchMemory {
 public:
  explicit ScratchMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes != 0) take();
  }
  ~ScratchMemory() {
    if (memory_ != nullptr) give_up();
  }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  void* data() const { return memory_; }

 private:
  EIGEN_ROPE_API void take();
  EIGEN_ROPE_API void give_up();

  void* memory_ = nullptr;
  std::size_t bytes_;
  bool kept_ = false;
};

/// `count` numbers, which hold anything until they are assigned.
template <class T>
class ScratchOfNumbers {
 public:
  explicit ScratchOfNumbers(Index count)
      : count_(count), memory_(static_cast<std::size_t>(count) * sizeof(T)) {}

  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  bool empty() const { return count_ == 0; }

 private:
  Index count_;
  ScratchMemory memory_;
};

/// `count` objects, constructed in memory that is allocated.
template <class T>
class ScratchOfObjects {
 public:
  explicit ScratchOfObjects(Index count) : values_(static_cast<std::size_t>(count)) {}

  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  bool empty() const { return values_.empty(); }

 private:
  std::vector<T> values_;
};

template <class T>
using Scratch = std::conditional_t<is_plain<T>, ScratchOfNumbers<T>, ScratchOfObjects<T>>;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
