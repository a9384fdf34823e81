// SPDX-License-Identifier: Apache-2.0
//
// From the linear index of an element to its place in its row and its row's place in the table, without divisions.
//
// A quotient n / d of numbers with n d < 2^64 is the high half of n (2^64 / d + 1): the multiplier is too large by at most 1, so the
// quotient by at most n / 2^64 < 1 / d, which cannot carry it over the next integer. Larger tensors are divided. Only axes along which the
// table varies count; a table with one row per token needs one product, with a batch outside two. Not for loops over rows: see walk.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rope/detail/walk.hpp"

namespace rope::detail {

/// Division of 0 <= n < limit by a constant of at least 2.
class ConstantDivision {
 public:
  ConstantDivision() = default;
  ConstantDivision(Index divisor, Index limit) : divisor_(divisor) {
#ifdef __SIZEOF_INT128__
    if (static_cast<Wide>(divisor) * static_cast<Wide>(limit) >> 64 != 0) return;
    multiplier_ = ~std::uint64_t{0} / static_cast<std::uint64_t>(divisor) + 1;
#else
    static_cast<void>(limit);
#endif
  }

  /// Whether fast() may be called.
  bool is_fast() const { return multiplier_ != 0; }
  Index fast(Index n) const {
#ifdef __SIZEOF_INT128__
    auto unsigned_n = static_cast<std::uint64_t>(n);
#ifdef __GNUC__
    // GCC would count loops over n in 128 bits.
    __asm__("" : "+r"(unsigned_n));
#endif
    return static_cast<Index>(static_cast<Wide>(multiplier_) * unsigned_n >> 64);
#else
    return n / divisor_;
#endif
  }
  Index operator()(Index n) const { return is_fast() ? fast(n) : n / divisor_; }

 private:
#ifdef __SIZEOF_INT128__
  __extension__ using Wide = unsigned __int128;
#endif
  Index divisor_ = 2;
  std::uint64_t multiplier_ = 0;
};

/// For a tensor of `walk.rows` rows.
class RowSearch {
 public:
  RowSearch() = default;
  RowSearch(Index row_length, const Walk& walk);

  /// Whether the functions below that are named fast may be called.
  bool is_fast() const { return fast_; }

  /// Whether, besides, rows are a power of two long and the table has a row for each so many of x's, and the functions may be called that
  /// are named simple.
  bool is_simple() const { return fast_ && mask_ >= 0 && one_level_; }

  Index simple_place_in_row(Index index) const { return index & mask_; }
  Index simple_place_in_table(Index index) const { return levels_[0].by_elements.fast(index) * levels_[0].table; }

  Index place_in_row(Index index) const { return mask_ >= 0 ? index & mask_ : index - by_row_length_(index) * row_length_; }
  Index fast_place_in_row(Index index) const { return mask_ >= 0 ? index & mask_ : index - by_row_length_.fast(index) * row_length_; }

  Index place_in_table(Index index) const {
    Index place = 0;
    for (int i = 0; i < count_; ++i) {
      const Level& level = levels_[static_cast<std::size_t>(i)];
      const Index group = level.by_elements(index);
      place += (level.outermost ? group : group - level.by_count(group) * level.count) * level.table;
    }
    return place;
  }
  /// One level without others outside: a row for each token, or for each row of x.
  Index fast_place_in_table(Index index) const {
    Index place = levels_[0].by_elements.fast(index) * levels_[0].table;
    if (one_level_) return place;
    place = 0;
    for (int i = 0; i < count_; ++i) {
      const Level& level = levels_[static_cast<std::size_t>(i)];
      Index group = level.by_elements.fast(index);
      if (!level.outermost) group -= level.by_count.fast(group) * level.count;
      place += group * level.table;
    }
    return place;
  }

 private:
  struct Level {
    ConstantDivision by_elements;
    ConstantDivision by_count;
    Index count = 1;
    Index table = 0;
    bool outermost = true;
  };

  Index row_length_ = 1;
  /// Of row lengths that are powers of two; negative for others.
  Index mask_ = -1;
  ConstantDivision by_row_length_;
  /// Neighbouring axes along which the table varies are one level, so at least every other axis broadcasts.
  std::array<Level, max_rank / 2> levels_;
  int count_ = 0;
  bool one_level_ = true;
  bool fast_ = false;
};

inline RowSearch::RowSearch(Index row_length, const Walk& walk) : row_length_(row_length) {
  const Index size = row_length * walk.rows;
  if ((row_length & (row_length - 1)) == 0) mask_ = row_length - 1;
  by_row_length_ = ConstantDivision(row_length, size);
  fast_ = mask_ >= 0 || by_row_length_.is_fast();
  Index elements = row_length;
  for (int i = 0; i < walk.count; ++i) {
    const RowSteps& step = walk.levels[static_cast<std::size_t>(i)];
    if (step.table != 0) {
      Level& level = levels_[static_cast<std::size_t>(count_++)];
      level = {ConstantDivision(elements, size), ConstantDivision(step.count, size), step.count, step.table, i + 1 == walk.count};
      fast_ = fast_ && level.by_elements.is_fast() && level.by_count.is_fast();
    }
    elements *= step.count;
  }
  one_level_ = count_ == 0 || (count_ == 1 && levels_[0].outermost);
}

}  // namespace rope::detail
