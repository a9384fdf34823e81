// SPDX-License-Identifier: Apache-2.0
//
// memcpy for the peers in Python, which load this as a shared library: calling it through Python
// costs more than copying 16 KiB.
#include <time.h>

#include <cstddef>
#include <cstring>

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

/// Seconds that `count` copies take by `clock`, one of clock_gettime's.
extern "C" double seconds_of_copies(void* to, const void* from, std::size_t bytes,
                                    std::size_t count, int clock) {
  const double begin = seconds_of(clock);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");
  }
  return seconds_of(clock) - begin;
}
