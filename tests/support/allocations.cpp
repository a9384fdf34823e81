// SPDX-License-Identifier: Apache-2.0
#include "support/allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EIGEN_ROPE_SANITIZED
#endif
#endif

namespace {

std::atomic<int> counted{0};

}  // namespace

#ifdef EIGEN_ROPE_SANITIZED

// As in sanitizer/allocator_interface.h, which not every Clang brings along.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));

namespace {

void count_allocation(const volatile void*, std::size_t) { ++counted; }
void ignore_release(const volatile void*) {}
const int hooks = __sanitizer_install_malloc_and_free_hooks(count_allocation, ignore_release);

}  // namespace

#else

// NOLINTBEGIN: names of the C library
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++counted;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++counted;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++counted;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++counted;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++counted;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
// NOLINTEND

#endif

namespace eigen_rope::test {

int allocations() { return counted; }

}  // namespace eigen_rope::test
