// SPDX-License-Identifier: Apache-2.0
//
// Rows that begin anywhere, written past the caches in whole lines of 64 bytes.
//
//   rows      a pass writes a few rows to memory in the first-level cache, one behind the other
//   lines     what fills lines of y goes out while later rows are rotated; the rest is carried over
//
// A line that is written partly past the cache costs hundreds of nanoseconds, and Eigen's arrays
// begin 16 bytes behind a line. Only the first and the last line of a stretch of rows go through
// the cache. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_LINES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_LINES_INL_HPP
#undef EIGEN_ROPE_KERNEL_LINES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_LINES_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "eigen_rope/version.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

class LineWriter {
 public:
  /// Rows wait in `memory`, which begins on a line and has `line` bytes more than they take.
  LineWriter() = default;
  explicit LineWriter(unsigned char* memory) : rows_(memory + line) {}

  /// The rows that follow belong to `y` and on.
  void begin(void* y) {
    y_ = static_cast<unsigned char*>(y);
    from_ = rows_;
    const auto behind = reinterpret_cast<std::uintptr_t>(y) % line;
    first_part_ = behind == 0 ? 0 : line - behind;
  }

  static constexpr std::size_t line = 64;

  /// Where the next rows go, one behind the other.
  unsigned char* rows() const { return rows_; }

  void begin_rows() { complete_ = rows_; }

  /// One more row was written. What the one before it has filled goes out: what was just written
  /// could not be read yet without waiting.
  HWY_INLINE void row_written(std::size_t row_bytes) {
    write_until(complete_);
    complete_ += row_bytes;
  }

  /// So many bytes of rows were written; the next ones begin at rows() again.
  void end_rows(std::size_t bytes) {
    const unsigned char* const end = rows_ + bytes;
    write_until(end);
    const auto carried = static_cast<std::size_t>(end - from_);
    unsigned char* const target = rows_ - carried;
    std::memmove(target, from_, carried);
    from_ = target;
  }

  /// Writes what is left.
  void end() { std::memcpy(y_, from_, static_cast<std::size_t>(rows_ - from_)); }

 private:
  HWY_INLINE void write_until(const unsigned char* end) {
    if (HWY_UNLIKELY(first_part_ > 0)) write_first_part(end);
    const hn::ScalableTag<std::uint8_t> d;
    const unsigned char* from = from_;
    unsigned char* to = y_;
    for (; end - from >= static_cast<std::ptrdiff_t>(line); from += line, to += line) {
      for (std::size_t at = 0; at < line; at += hn::MaxLanes(d))
        hn::Stream(hn::LoadU(d, from + at), d, to + at);
    }
    from_ = from;
    y_ = to;
  }

  HWY_NOINLINE void write_first_part(const unsigned char* end) {
    const std::size_t bytes = std::min(first_part_, static_cast<std::size_t>(end - from_));
    std::memcpy(y_, from_, bytes);
    from_ += bytes;
    y_ += bytes;
    first_part_ -= bytes;
  }

  unsigned char* rows_;
  unsigned char* y_;
  const unsigned char* from_;
  const unsigned char* complete_;
  std::size_t first_part_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
