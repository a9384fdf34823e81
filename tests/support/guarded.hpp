// SPDX-License-Identifier: Apache-2.0
//
// Memory that ends, or begins, where nothing may be touched: the next page cannot be.
//
//   Guarded   one array   GuardedRows   rows that each lie so, two pages apart or more
//
// Reading or writing a single byte too far ends the test with a fault. The array's other side has
// room left in its page: a few bytes there are poisoned, and margins_untouched() tells whether they
// were written. Poison is a signalling NaN: no arithmetic gives its bits, so an output filled with
// it shows an element that was not written, or whose old value was used.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace eigen_rope::test {

enum class Against { end, beginning };
inline constexpr std::array<Against, 2> both_sides{Against::end, Against::beginning};

/// The bytes of a signalling NaN; of a number that is none of a test's, for integers.
template <class T>
std::array<unsigned char, sizeof(T)> poison_bytes() {
  std::array<unsigned char, sizeof(T)> bytes;
  bytes.fill(0xa5);
  const auto set = [&](auto bits) { std::memcpy(bytes.data(), &bits, sizeof bits); };
  if constexpr (std::is_same_v<T, Eigen::half>) {
    set(std::uint16_t{0x7d5a});
  } else if constexpr (std::is_same_v<T, Eigen::bfloat16>) {
    set(std::uint16_t{0x7fa5});
  } else if constexpr (std::is_same_v<T, float>) {
    set(std::uint32_t{0x7fa55aa5});
  } else if constexpr (std::is_same_v<T, double>) {
    set(std::uint64_t{0x7ff45aa55aa55aa5});
  } else if constexpr (std::is_floating_point_v<T>) {
    set(std::numeric_limits<T>::signaling_NaN());
  }
  return bytes;
}

template <class T>
void poison(T* begin, std::size_t count) {
  static const auto bytes = poison_bytes<T>();
  if (count == 0) return;
  auto* to = reinterpret_cast<unsigned char*>(begin);
  std::memcpy(to, bytes.data(), sizeof(T));
  for (std::size_t done = 1; done < count; done *= 2)
    std::memcpy(to + done * sizeof(T), to, std::min(done, count - done) * sizeof(T));
}

template <class T>
std::vector<T> poisoned(std::size_t count) {
  std::vector<T> values(count);
  poison(values.data(), count);
  return values;
}

/// Stretches of whole pages, each between pages that cannot be touched. Kept for the next one of
/// the same size.
class GuardedPages {
 public:
  static constexpr std::size_t page = 4096;

  GuardedPages(std::size_t stretches, std::size_t pages) : size_(stretches, pages) {
    std::vector<char*>& free = kept()[size_];
    if (free.empty()) free.push_back(map());
    memory_ = free.back();
    free.pop_back();
  }
  ~GuardedPages() { kept()[size_].push_back(memory_); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  std::size_t step() const { return (size_.second + 1) * page; }
  char* begin(std::size_t stretch) const { return memory_ + page + stretch * step(); }
  char* end(std::size_t stretch) const { return begin(stretch) + size_.second * page; }

 private:
  using Size = std::pair<std::size_t, std::size_t>;

  static std::map<Size, std::vector<char*>>& kept() {
    static std::map<Size, std::vector<char*>> memory;
    return memory;
  }

  char* map() {
    void* const memory =
        mmap(nullptr, page + size_.first * step(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<char*>(memory);
    for (std::size_t i = 0; i < size_.first; ++i) {
      if (mprotect(begin(i), size_.second * page, PROT_READ | PROT_WRITE) != 0)
        throw std::runtime_error("mprotect failed");
    }
    return memory_;
  }

  Size size_;
  char* memory_ = nullptr;
};

/// `values` in rows of `length`, each against a page that cannot be touched.
template <class T>
class GuardedRows {
 public:
  GuardedRows(const std::vector<T>& values, std::size_t length, Against against)
      : count_(length == 0 ? 1 : values.size() / length),
        length_(length),
        against_(against),
        pages_(count_, (length * sizeof(T) + GuardedPages::page - 1) / GuardedPages::page) {
    set(values);
    for (std::size_t row = 0; row < count_; ++row) poison(margin(row), margin_size());
  }

  /// The first element of the first row, and how many elements further each next row begins.
  T* data() const { return row(0); }
  std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(pages_.step() / sizeof(T)); }

  void set(const std::vector<T>& values) const {
    for (std::size_t i = 0; i < count_ && length_ > 0; ++i) {
      std::memcpy(static_cast<void*>(row(i)), static_cast<const void*>(values.data() + i * length_),
                  length_ * sizeof(T));
    }
  }
  void set_poison() const {
    for (std::size_t i = 0; i < count_; ++i) poison(row(i), length_);
  }
  std::vector<T> values() const {
    std::vector<T> values(count_ * length_);
    for (std::size_t i = 0; i < count_ && length_ > 0; ++i) {
      std::memcpy(static_cast<void*>(values.data() + i * length_), static_cast<const void*>(row(i)),
                  length_ * sizeof(T));
    }
    return values;
  }
  bool margins_untouched() const {
    static const std::vector<T> expected = poisoned<T>(largest_margin);
    for (std::size_t i = 0; i < count_; ++i) {
      if (std::memcmp(static_cast<const void*>(margin(i)),
                      static_cast<const void*>(expected.data()), margin_size() * sizeof(T)) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t largest_margin = 128 / sizeof(T);

  T* row(std::size_t i) const {
    return reinterpret_cast<T*>(
        against_ == Against::beginning ? pages_.begin(i) : pages_.end(i) - length_ * sizeof(T));
  }
  std::size_t margin_size() const {
    const auto room =
        static_cast<std::size_t>(pages_.end(0) - pages_.begin(0)) / sizeof(T) - length_;
    return std::min(room, largest_margin);
  }
  T* margin(std::size_t i) const {
    return against_ == Against::beginning ? row(i) + length_ : row(i) - margin_size();
  }

  std::size_t count_;
  std::size_t length_;
  Against against_;
  GuardedPages pages_;
};

/// One array.
template <class T>
class Guarded : public GuardedRows<T> {
 public:
  Guarded(const std::vector<T>& values, Against against)
      : GuardedRows<T>(values, values.size(), against) {}
};

/// How many ways a test went through; written to the test's report as "combinations"
/// (--gtest_output).
class Combinations {
 public:
  Combinations() = default;
  ~Combinations() {
    EXPECT_GT(count_, 0);
    testing::Test::RecordProperty("combinations", count_);
  }
  Combinations(const Combinations&) = delete;
  Combinations& operator=(const Combinations&) = delete;

  void operator++() { ++count_; }

 private:
  int count_ = 0;
};

}  // namespace eigen_rope::test
