// SPDX-License-Identifier: Apache-2.0
//
// memcpy for the peers in Python, which load this as a shared library: calling it through Python
// costs more than copying 16 KiB.
#include <time.h>

#include <cstddef>
#include <cstring>

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

/// Seconds of processor time that `count` copies take.
extern "C" double seconds_of_copies(void* to, const void* from, std::size_t bytes,
                                    std::size_t count) {
  const double begin = processor_seconds();
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");
  }
  return processor_seconds() - begin;
}
