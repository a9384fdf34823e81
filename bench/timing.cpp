// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

/// A tensor of x's size passes through the cache in place, as another layer's does between two
/// rotations of the same one.
void displace(std::size_t bytes) {
  static std::vector<char> other;
  if (other.size() < bytes / 2) other.assign(bytes / 2, 0);
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < bytes / 2; i += line) ++other[i];
  benchmark::DoNotOptimize(other.data());
  benchmark::ClobberMemory();
}

}  // namespace

bool is_large(std::size_t bytes) { return bytes > (std::size_t{48} << 20); }

bool is_displaced(std::size_t bytes) { return bytes > (std::size_t{4} << 20) && !is_large(bytes); }

double seconds_of_displaced(std::size_t bytes, const Action& action) {
  displace(bytes);
  const Clock::time_point start = Clock::now();
  action();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of_call(std::size_t bytes, const Action& action) {
  if (is_displaced(bytes)) {
    constexpr int calls = 5;
    double sum = 0;
    for (int i = 0; i < calls; ++i) sum += seconds_of_displaced(bytes, action);
    return sum / calls;
  }
  if (!is_large(bytes)) action();
  return seconds_of_calls(action);
}

double seconds_of_calls(const Action& action) {
  for (int calls = 1;; calls *= 4) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i) {
      action();
      benchmark::ClobberMemory();
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (elapsed.count() >= 0.0005) return elapsed.count() / calls;
  }
}

}  // namespace bench
