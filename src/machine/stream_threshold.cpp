// SPDX-License-Identifier: Apache-2.0
//
// The size of the last-level cache, by asking memory itself.
//
// A working set is read through; then a few hundred of its lines, chosen at random, are read again,
// each address taken from the line before so that their latencies add up. In cache a line takes
// some 10 to 40 ns, after it was flushed some 100 ns more. The working set grows until one line in
// seven is no longer found. So large is the cache really.
//
// A rotation whose x has just been made is faster past the cache from x and y of 14 MiB together
// on, where the cache was measured as 32 (0.84 times the time through it at 16 MiB, 0.70 at 32);
// making x, rotating it and reading y again from 22 MiB on (1.18 at 16, 0.90 at 32).
#include "machine/stream_threshold.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <vector>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define EIGEN_ROPE_CAN_FLUSH 1
#else
#define EIGEN_ROPE_CAN_FLUSH 0
#endif

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

#if EIGEN_ROPE_CAN_FLUSH

namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t line_size = 64;
constexpr std::size_t page_size = 4096;

/// The cache's size where it cannot be measured: three quarters of the 32 MiB many processors share
/// among eight cores.
constexpr std::size_t fallback = 24 * mebibyte;

/// Larger than second-level caches, smaller than nearly all last-level ones.
constexpr std::size_t smallest = 4 * mebibyte;
constexpr std::array<std::size_t, 9> sizes{8, 12, 16, 20, 24, 32, 40, 48, 64};
constexpr std::size_t largest = sizes.back() * mebibyte;

/// Getting the memory may take longer than measuring (half a millisecond a MiB on some virtual
/// machines). What still fits when the time is up is then the answer.
constexpr Nanoseconds time_allowed = std::chrono::milliseconds(40);

/// Lines in a cache cost less than this part of what flushed ones do, or nothing can be told (a
/// neighbour that empties the cache).
constexpr double contrast = 0.6;

/// The part of the lines that is missing where the cache ends.
constexpr double missing = 1.0 / 7;

/// x and y of this part of the cache are streamed.
constexpr double streamed_part = 0.45;

struct alignas(line_size) Line {
  Line* next;
  char other;
};
static_assert(sizeof(Line) == line_size);

struct Free {
  void operator()(Line* memory) const { ::operator delete (memory, std::align_val_t{page_size}); }
};

class WorkingSet {
 public:
  WorkingSet()
      : lines_(static_cast<Line*>(
            ::operator new (largest, std::align_val_t{page_size}, std::nothrow))) {}

  explicit operator bool() const { return lines_ != nullptr; }

  void grow(std::size_t bytes) {
    for (; bytes_ < bytes; bytes_ += page_size) lines_.get()[bytes_ / line_size].next = nullptr;
  }

  /// Nanoseconds a line, the least of `repeats`.
  double latency(int repeats) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      make_chain();
      read_through();
      least = std::min(least, follow_chain());
    }
    return least;
  }

  double flushed_latency(int repeats) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      make_chain();
      for (const Line* line : chain_) _mm_clflush(line);
      _mm_mfence();
      least = std::min(least, follow_chain());
    }
    return least;
  }

 private:
  /// Some pages at random and a few lines of each, so that finding the page does not cost more than
  /// finding the line.
  void make_chain() {
    constexpr std::size_t pages = 96;
    constexpr std::size_t lines_of_a_page = 8;
    constexpr std::size_t lines_in_a_page = page_size / line_size;
    chain_.clear();
    std::uniform_int_distribution<std::size_t> any(0, bytes_ / page_size - 1);
    std::vector<std::size_t> chosen(pages);
    for (std::size_t& page : chosen) page = any(random_);
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    std::shuffle(chosen.begin(), chosen.end(), random_);
    for (const std::size_t page : chosen) {
      const auto start = static_cast<std::size_t>(random_());
      const auto step = static_cast<std::size_t>(random_()) | 1;
      for (std::size_t i = 0; i < lines_of_a_page; ++i) {
        chain_.push_back(lines_.get() + page * lines_in_a_page +
                         (start + i * step) % lines_in_a_page);
      }
    }
    for (std::size_t i = 0; i + 1 < chain_.size(); ++i) chain_[i]->next = chain_[i + 1];
    chain_.back()->next = nullptr;
  }

  void read_through() {
    for (std::size_t i = 0; i < bytes_ / line_size; ++i)
      static_cast<void>(*static_cast<volatile char*>(&lines_.get()[i].other));
  }

  double follow_chain() {
    const Clock::time_point begin = Clock::now();
    Line* volatile* next = &chain_.front();
    for (Line* line = *next; line != nullptr; line = *next) next = &line->next;
    return Nanoseconds(Clock::now() - begin).count() / static_cast<double>(chain_.size());
  }

  std::unique_ptr<Line, Free> lines_;
  std::size_t bytes_ = 0;
  std::vector<Line*> chain_;
  std::minstd_rand random_;
};

std::size_t measure() {
  const Clock::time_point begin = Clock::now();
  WorkingSet set;
  if (!set) return fallback;
  set.grow(smallest);
  const double cached = set.latency(4);
  const double flushed = set.flushed_latency(4);
  if (!(cached < contrast * flushed)) return fallback;
  const double limit = cached + missing * (flushed - cached);

  double size = static_cast<double>(smallest);
  double last = cached;
  for (const std::size_t mebibytes : sizes) {
    if (Clock::now() - begin > time_allowed)
      return std::max(fallback, static_cast<std::size_t>(size));
    const auto next_size = static_cast<double>(mebibytes * mebibyte);
    set.grow(mebibytes * mebibyte);
    // A neighbour's burst also empties the cache, so what looks too large is looked at again.
    double latency = set.latency(2);
    if (latency > limit) latency = std::min(latency, set.latency(2));
    if (latency > limit)
      return static_cast<std::size_t>(size +
                                      (next_size - size) * (limit - last) / (latency - last));
    size = next_size;
    last = latency;
  }
  return largest;
}

}  // namespace

std::size_t measured_streaming_threshold() noexcept {
  std::size_t cache = 0;
  try {
    cache = measure();
  } catch (const std::bad_alloc&) {
    cache = fallback;
  }
  return std::max(always_cached + 1,
                  static_cast<std::size_t>(streamed_part * static_cast<double>(cache)));
}

#else

std::size_t measured_streaming_threshold() noexcept {
  return std::numeric_limits<std::size_t>::max();
}

#endif

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
