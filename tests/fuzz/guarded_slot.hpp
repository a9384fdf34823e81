// SPDX-License-Identifier: Apache-2.0
//
// Memory of exactly the size a call needs, against a page that cannot be touched.
//
// One mapping for all runs of a target: an access outside ends the run, in code that was compiled
// without AddressSanitizer too. What lies on the other side is filled with a pattern that must
// still be there afterwards.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "promise.hpp"

namespace eigen_rope::fuzz {

enum class Against { end, beginning };

class GuardedSlot {
 public:
  static constexpr std::size_t capacity = 1 << 14;

  GuardedSlot() {
    void* const memory =
        mmap(nullptr, capacity + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    begin_ = static_cast<std::byte*>(memory) + page;
    if (mprotect(begin_, capacity, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mprotect failed");
    place(0, Against::end);
  }
  ~GuardedSlot() { munmap(begin_ - page, capacity + 2 * page); }
  GuardedSlot(const GuardedSlot&) = delete;
  GuardedSlot& operator=(const GuardedSlot&) = delete;

  /// `bytes`, at most the capacity, filled with the pattern.
  std::byte* place(std::size_t bytes, Against against) {
    std::memset(begin_, pattern_byte, capacity);
    bytes_ = bytes;
    given_ = against == Against::beginning ? begin_ : begin_ + capacity - bytes;
    return given_;
  }
  void require_untouched_outside() const {
    static const std::vector<std::byte> untouched(capacity, pattern);
    const auto before = static_cast<std::size_t>(given_ - begin_);
    const bool kept =
        std::memcmp(begin_, untouched.data(), before) == 0 &&
        std::memcmp(given_ + bytes_, untouched.data(), capacity - before - bytes_) == 0;
    require(kept, "nothing outside a tensor is written");
  }

  /// 0xffff... is a NaN of every scalar that no arithmetic makes of finite numbers.
  static constexpr int pattern_byte = 0xff;
  static constexpr std::byte pattern{pattern_byte};

 private:
  static constexpr std::size_t page = 4096;
  std::byte* begin_ = nullptr;
  std::byte* given_ = begin_;
  std::size_t bytes_ = 0;
};

/// What a tensor of some shape and strides needs.
enum class Size {
  /// Small enough to be run.
  small,
  /// It could exist, but not here.
  large,
  /// More elements or bytes than can be counted in 63 bits, or a negative extent.
  impossible,
};

struct Need {
  Size size = Size::small;
  std::size_t bytes = 0;
};

/// `strides` in elements, one per extent; an axis of one element has none.
inline Need need_of(const std::vector<std::int64_t>& extents,
                    const std::vector<std::int64_t>& strides, ScalarType type) {
  constexpr std::int64_t most_elements = 1024;
  bool empty = false, negative = false, backwards = false;
  for (const std::int64_t extent : extents) {
    empty = empty || extent == 0;
    negative = negative || extent < 0;
  }
  if (negative) return {Size::impossible, 0};
  if (empty) return {Size::small, 0};
  std::int64_t count = 1, last = 0, bytes = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(count, extents[axis], &count)) return {Size::impossible, 0};
    if (extents[axis] == 1) continue;
    if (__builtin_mul_overflow(extents[axis] - 1, strides[axis], &reach))
      return {Size::impossible, 0};
    // Inputs may run backwards; they are not laid out here.
    backwards = backwards || reach < 0;
    if (__builtin_add_overflow(last, reach, &last)) return {Size::impossible, 0};
  }
  if (__builtin_add_overflow(last, std::int64_t{1}, &last)) return {Size::impossible, 0};
  if (__builtin_mul_overflow(last, static_cast<std::int64_t>(size_of(type)), &bytes))
    return {Size::impossible, 0};
  const bool fits = !backwards && count <= most_elements &&
                    bytes <= static_cast<std::int64_t>(GuardedSlot::capacity);
  return {fits ? Size::small : Size::large, fits ? static_cast<std::size_t>(bytes) : 0};
}

/// Of a dense tensor, slowest axis first.
inline std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(extents[axis], 1), &stride))
      stride = -1;
  }
  return strides;
}

/// Numbers between -2 and 2, from a counter.
inline void fill_with_numbers(std::byte* memory, std::size_t bytes, ScalarType type,
                              unsigned seed) {
  eigen_rope::detail::with_scalar(type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    for (std::size_t at = 0; at + sizeof(Scalar) <= bytes; at += sizeof(Scalar)) {
      seed = seed * 1664525U + 1013904223U;
      const Scalar value =
          static_cast<Scalar>(static_cast<float>(static_cast<int>(seed >> 24) - 128) / 64.0F);
      std::memcpy(memory + at, &value, sizeof value);
    }
  });
}

/// Whether an element is still what place() left.
inline bool is_pattern(const std::byte* element, ScalarType type) {
  return std::all_of(element, element + size_of(type),
                     [](std::byte byte) { return byte == GuardedSlot::pattern; });
}

/// The same bits, or NaN both: its sign and payload are not promised.
inline bool is_same_number(const std::byte* a, const std::byte* b, ScalarType type) {
  return eigen_rope::detail::with_scalar(type, [&](auto tag) {
    typename decltype(tag)::type of_a, of_b;
    std::memcpy(&of_a, a, sizeof of_a);
    std::memcpy(&of_b, b, sizeof of_b);
    return std::memcmp(a, b, sizeof of_a) == 0 ||
           ((Eigen::numext::isnan)(of_a) && (Eigen::numext::isnan)(of_b));
  });
}

/// Calls with the place, in elements, of each element.
template <class Visit>
void for_each_place(const std::vector<std::int64_t>& extents,
                    const std::vector<std::int64_t>& strides, const Visit& visit,
                    std::size_t axis = 0, std::int64_t place = 0) {
  if (axis == extents.size()) return visit(place);
  for (std::int64_t i = 0; i < extents[axis]; ++i) {
    for_each_place(extents, strides, visit, axis + 1,
                   extents[axis] == 1 ? place : place + i * strides[axis]);
  }
}

/// After a call that was done: every element written, nothing between them.
inline void require_written(const std::byte* data, const Need& need,
                            const std::vector<std::int64_t>& extents,
                            const std::vector<std::int64_t>& strides, ScalarType type) {
  if (need.bytes == 0) return;
  std::vector<bool> element(need.bytes / size_of(type));
  for_each_place(extents, strides,
                 [&](std::int64_t place) { element[static_cast<std::size_t>(place)] = true; });
  for (std::size_t i = 0; i < element.size(); ++i) {
    require(is_pattern(data + i * size_of(type), type) != element[i],
            "all elements of a result are written and nothing between them");
  }
}

/// After a refusal.
inline void require_unwritten(const std::byte* data, std::size_t bytes) {
  require(
      std::all_of(data, data + bytes, [](std::byte byte) { return byte == GuardedSlot::pattern; }),
      "a refusal writes nothing");
}

}  // namespace eigen_rope::fuzz
