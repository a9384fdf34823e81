// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/numbers/detail/scratch.hpp"

#include <algorithm>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define EIGEN_ROPE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EIGEN_ROPE_ADDRESS_SANITIZER
#endif
#endif

#ifdef EIGEN_ROPE_ADDRESS_SANITIZER
// As in sanitizer/asan_interface.h, which not every Clang brings along.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): names of the sanitizer
void __asan_poison_memory_region(const volatile void*, std::size_t);
void __asan_unpoison_memory_region(const volatile void*, std::size_t);
// NOLINTEND(bugprone-reserved-identifier)
}
#endif

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

constexpr auto line = static_cast<std::size_t>(cache_line);

/// What is not an array now is forbidden to touch where a sanitizer watches.
void forbid([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef EIGEN_ROPE_ADDRESS_SANITIZER
  __asan_poison_memory_region(memory, bytes);
#endif
}
void permit([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef EIGEN_ROPE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

/// Without a constructor or a destructor, so that it can be used until the thread is gone.
struct Block {
  char* begin;
  std::size_t size;
  std::size_t used;
  std::size_t elsewhere;  // what is held besides, because it has not fitted
  std::size_t wanted;     // the size in which it would have
  bool closed;            // the thread is ending
};
thread_local Block kept_block{};

void give_back() {
  if (kept_block.begin == nullptr) return;
  permit(kept_block.begin, kept_block.size);
  ::operator delete(kept_block.begin, cache_line);
  kept_block.begin = nullptr;
  kept_block.size = 0;
}

/// Gives the block back when the thread ends. Made with the first block.
struct Closing {
  Closing() = default;
  ~Closing() {
    give_back();
    kept_block.closed = true;
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
};

/// Nothing may be held. Without memory the block stays as it is.
void enlarge() {
  thread_local const Closing closing;
  if (kept_block.closed) return;
  const std::size_t size =
      std::min(std::max(kept_block.wanted, 2 * kept_block.size), most_kept_scratch);
  kept_block.wanted = 0;
  if (size <= kept_block.size) return;
  void* const memory = ::operator new(size, cache_line, std::nothrow);
  if (memory == nullptr) return;
  give_back();
  kept_block.begin = static_cast<char*>(memory);
  kept_block.size = size;
  forbid(kept_block.begin, kept_block.size);
}

std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

void ScratchMemory::take() {
  // A line between arrays, so that a sanitizer sees who writes beyond one.
  const std::size_t room = whole_lines(bytes_) + line;
  if (room > bytes_ && room <= kept_block.size - kept_block.used) {
    memory_ = kept_block.begin + kept_block.used;
    kept_block.used += room;
    kept_ = true;
    permit(memory_, bytes_);
    return;
  }
  memory_ = ::operator new(bytes_, cache_line);
  kept_block.elsewhere += room;
  if (bytes_ <= most_kept_scratch)
    kept_block.wanted = std::max(kept_block.wanted, kept_block.used + kept_block.elsewhere);
}

void ScratchMemory::give_up() {
  const std::size_t room = whole_lines(bytes_) + line;
  if (kept_) {
    forbid(memory_, bytes_);
    kept_block.used -= room;
  } else {
    ::operator delete(memory_, cache_line);
    kept_block.elsewhere -= room;
  }
  if (kept_block.used == 0 && kept_block.elsewhere == 0 && kept_block.wanted != 0) enlarge();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
