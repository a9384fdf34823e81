// SPDX-License-Identifier: Apache-2.0
//
// Asks memory itself what the last-level cache keeps (cache_size.hpp).
//
// A working set is read through; then a few hundred of its lines, chosen at random, are read again,
// each address taken from the line before so that their latencies add up. In cache a line takes
// some 10 to 50 ns, after it was flushed some 100 ns more.
//
// Past the cache over through it, by the bytes of x and y together, for a rotation whose x has just
// been made, and for making x, rotating it and reading y again:
//
//   where the cache keeps 32 MiB     0.84 at 16, 0.70 at 32          1.18 at 16, 0.90 at 32
//   where it keeps more than 64      1.08 at 16, 1.0 at 32,          1.2 from 6 to 32, 1.1 at 64,
//                                    0.7 at 64 and 128               0.85 at 128
#include "machine/stream_threshold.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "machine/cache_size.hpp"

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

constexpr std::size_t line_size = 64;
constexpr std::size_t page_size = 4096;

/// Getting the memory may take longer than measuring (half a millisecond a MiB on some virtual
/// machines). What still fits when the time is up is then the answer.
constexpr Nanoseconds time_allowed = std::chrono::milliseconds(40);

/// x and y of this part of the set that outgrows the cache are streamed.
constexpr double streamed_part = 0.4;

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
            ::operator new (largest_set, std::align_val_t{page_size}, std::nothrow))) {}

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
  if (!set) return unmeasured_set;
  return set_that_outgrows_the_cache(set, [begin] { return Clock::now() - begin < time_allowed; });
}

}  // namespace

std::size_t measured_streaming_threshold() noexcept {
  std::size_t set = 0;
  try {
    set = measure();
  } catch (const std::bad_alloc&) {
    set = unmeasured_set;
  }
  return std::max(always_cached + 1,
                  static_cast<std::size_t>(streamed_part * static_cast<double>(set)));
}

#else

std::size_t measured_streaming_threshold() noexcept {
  return std::numeric_limits<std::size_t>::max();
}

#endif

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
