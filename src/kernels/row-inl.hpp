// SPDX-License-Identifier: Apache-2.0
//
// One row of a pass.
//
//   RowPointers     where it is read and written
//   Tile            the rows that a pass goes through, and what they are written to
//   rotate_columns  some columns of the row
//   finish_row      what follows: copies of what is outside the window, a writer's turn
//   ask_for_row     the lines of a row that is read in another order than it lies in memory
//
// Pointers are those of the window. Compiled once per target. passes-inl.hpp has the loops.
#if defined(EIGEN_ROPE_KERNEL_ROW_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_ROW_INL_HPP
#undef EIGEN_ROPE_KERNEL_ROW_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_ROW_INL_HPP
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "kernels/columns-inl.hpp"
#include "kernels/copies-inl.hpp"
#include "kernels/lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

template <class Kernel, Stores stores, class D, class Result, class T>
HWY_INLINE void put(D d, const Result& result, T* y_a, T* y_b) {
  Kernel::template put_first<stores>(d, result, y_a);
  Kernel::template put_second<stores>(d, result, y_b);
}

/// What a pass does after each row: it copies the elements outside the window, and then lets a
/// writer have the row. Passes that do either rotate whole windows.
enum class AfterRow { nothing, copies, writes_lines };

template <class Kernel, class D>
constexpr Index pairs_of_column = static_cast<Index>(hn::MaxLanes(D())) * Kernel::pairs_per_lane;

/// Where a pass reads and writes in one row: the first pair's members, and their results.
template <class Kernel>
struct RowPointers {
  using T = typename Kernel::T;
  const T* x_a;
  const T* x_b;
  T* y_a;
  T* y_b;

  HWY_INLINE RowPointers at(const RowPlace& place) const {
    return {x_a + place.x, x_b + place.x, y_a + place.y, y_b + place.y};
  }

  HWY_INLINE void advance(const RowSteps& steps) {
    x_a += steps.x;
    x_b += steps.x;
    y_a += steps.y;
    y_b += steps.y;
  }

  /// The compiler would otherwise keep an index for each column and member, which are more than
  /// registers hold: it does not see where the four come from.
  HWY_INLINE void hide() {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
    if constexpr (Kernel::in_step == 1 && Kernel::two_stores) {
      asm("" : "+r"(x_a), "+r"(x_b), "+r"(y_a), "+r"(y_b));
    } else if constexpr (Kernel::in_step == 1) {
      asm("" : "+r"(x_a), "+r"(x_b), "+r"(y_a));
    } else if constexpr (Kernel::two_stores) {
      asm("" : "+r"(x_a), "+r"(y_a), "+r"(y_b));
    } else {
      asm("" : "+r"(x_a), "+r"(y_a));
    }
#endif
  }
};

class Stretch;

/// Rows that are rotated together, `streams` of the outer level at a time. If `lines` is not null,
/// y is memory of that writer, which has its turn after each row. If `stretches` is not, rows are
/// joined to that stretch, or, with a step of 1, each row of the inner level to one of its own.
/// `later` elements behind each row of x lies one that is asked for behind the inner level, if it
/// is not 0.
template <class T>
struct Tile : RowBlock<T, Widened<T>> {
  LineWriter* lines = nullptr;
  Stretch* stretches = nullptr;
  Index stretches_step = 0;
  Index streams = 1;
  Index later = 0;
};

template <class Kernel, class Block>
HWY_INLINE RowPointers<Kernel> first_row(const Run& run, Index k, const Block& block,
                                         Direction direction) {
  RowPointers<Kernel> row{
      block.x + run.in_a + k * Kernel::in_step, block.x + run.in_b + k * Kernel::in_step,
      block.y + run.out_a + k * Kernel::out_step, block.y + run.out_b + k * Kernel::out_step};
  if (Kernel::swap == Swap::members && direction == Direction::backward) {
    std::swap(row.x_a, row.x_b);
    std::swap(row.y_a, row.y_b);
  }
  return row;
}

/// Asks for the lines of `count` elements.
template <class T>
HWY_INLINE void ask_for(const T* from, Index count) {
  for (Index at = 0; at < count; at += elements_of_line<T>) hwy::Prefetch(from + at);
}

/// From a row of x to the one that follows about a kibibyte later, which is asked for where the
/// processor does not look ahead by itself: rows that go to a writer leave it too little room for
/// that.
template <class T>
HWY_INLINE Index to_later_row(Index step, Index length) {
  constexpr auto ahead = static_cast<Index>(1024 / sizeof(T));
  return (ahead + length - 1) / length * step;
}
template <class T>
HWY_INLINE void ask_for_row_ahead(const T* x, Index step, Index length) {
  ask_for(x + to_later_row<T>(step, length), length);
}

/// Asks for the lines of `pairs` pairs that are rotated in another order than they lie in memory.
/// If they are all of a run, the lines are asked for in memory's order, along which processors look
/// ahead: either member is behind the other.
template <class Kernel>
HWY_INLINE void ask_for_row(const RowPointers<Kernel>& row, Index pairs, Index pairs_of_run) {
  if (Kernel::in_step == 2 || pairs == pairs_of_run) {
    const auto* begin = Kernel::in_step == 2 ? row.x_a : std::min(row.x_a, row.x_b);
    ask_for(begin, 2 * pairs);
  } else {
    ask_for(row.x_a, pairs);
    ask_for(row.x_b, pairs);
  }
}

/// Likewise for each of the rows that lie `block.later` elements behind those of the inner level,
/// of which `row` is the first. Only passes through the caches that do nothing after a row have
/// any.
template <Stores stores, AfterRow after, class Kernel, class Block>
HWY_INLINE void ask_for_later_rows([[maybe_unused]] const Block& block,
                                   [[maybe_unused]] RowPointers<Kernel> row,
                                   [[maybe_unused]] Index pairs,
                                   [[maybe_unused]] Index pairs_of_window) {
  if constexpr (stores == Stores::cached && after == AfterRow::nothing) {
    if (block.later == 0) return;
    row.x_a += block.later;
    row.x_b += block.later;
    for (Index left = block.inner.count; left > 0; --left) {
      ask_for_row(row, pairs, pairs_of_window);
      row.advance(block.inner);
    }
  }
}

/// Rows up to so many bytes are read well enough without being asked for.
constexpr Index longest_unasked = 512;
/// Likewise past the caches, where converting elements of 16 bits takes most of the time that the
/// processor has for looking ahead.
template <class T>
constexpr Index longest_unasked_past = is_16_bit<T> ? 256 : longest_unasked;

/// Rows of so many bytes together may stay in the caches near the processor, the second-level one
/// last.
constexpr Index near_caches = 1024 * 1024;

/// Whether a pass through the cache asks for each row before it rotates it: members further apart
/// than the processor looks ahead by itself, of rows one behind the other, in more memory than the
/// caches near it hold.
template <class Kernel, class Block>
HWY_INLINE bool asks_for_rows(const Block& block, Index row_length, Index row_bytes) {
  constexpr Index longest = 2048;
  return Kernel::in_step == 1 && row_bytes > longest_unasked && row_bytes <= longest &&
         block.inner.x == row_length &&
         block.inner.count * block.outer.count * row_bytes > near_caches;
}

/// Whether a pass that copies what is outside windows asks for later rows: it reads a long row in
/// two parts, each line by line, where the processor looks ahead along one of them at most.
template <AfterRow after, class T, class Block>
HWY_INLINE bool asks_for_later_rows(const Block& block, Index row_length) {
  const Index row_bytes = row_length * static_cast<Index>(sizeof(T));
  return after == AfterRow::copies && row_bytes > longest_unasked &&
         block.inner.count * block.outer.count * row_bytes > near_caches;
}

/// Whether rows are those of several heads that lie outside the tokens, of which each is a stream
/// of its own: the processor looks ahead along streams by the instruction that reads them, and one
/// that reads several in turn shows it none.
template <class Block>
HWY_INLINE bool reads_streams_in_turn(const Block& block) {
  return block.inner.count > 1 && std::abs(block.inner.x) > std::abs(block.outer.x);
}

/// The column of one row that begins at pair `at`.
template <class Kernel, class D, class Column>
HWY_INLINE auto rotate_column(D d, const RowPointers<Kernel>& row, Index at, const Column& column) {
  return Kernel::rotate(d, row.x_a + at * Kernel::in_step, row.x_b + at * Kernel::in_step, column);
}

template <class Kernel, Stores stores, class D, class Result>
HWY_INLINE void put_column(D d, const RowPointers<Kernel>& row, Index at, const Result& result) {
  put<Kernel, stores>(d, result, row.y_a + at * Kernel::out_step, row.y_b + at * Kernel::out_step);
}

/// Some columns of one row, from `at` pairs on.
template <class Kernel, Stores stores, class D, class Column, std::size_t... i>
HWY_INLINE void rotate_columns(D d, const RowPointers<Kernel>& row, Index at, const Column* columns,
                               std::index_sequence<i...>) {
  constexpr Index in = pairs_of_column<Kernel, D> * Kernel::in_step;
  constexpr Index out = pairs_of_column<Kernel, D> * Kernel::out_step;
  const auto* x_a = row.x_a + at * Kernel::in_step;
  const auto* x_b = row.x_b + at * Kernel::in_step;
  auto* y_a = row.y_a + at * Kernel::out_step;
  auto* y_b = row.y_b + at * Kernel::out_step;
  (put<Kernel, stores>(d,
                       Kernel::rotate(d, x_a + static_cast<Index>(i) * in,
                                      x_b + static_cast<Index>(i) * in, columns[i]),
                       y_a + static_cast<Index>(i) * out, y_b + static_cast<Index>(i) * out),
   ...);
}

/// Whether the last of a row's columns follows the one before it, or overlaps it and ends where the
/// pairs do.
enum class LastColumn { follows, overlaps };

/// All columns of one row, two or more, of which the last begins at `last_pair`. It is loaded
/// before the one that it overlaps is stored, so that x may be y, and what both store is the same.
template <class Kernel, class D, class Column, std::size_t... i>
HWY_INLINE void rotate_overlapping_columns(D d, const RowPointers<Kernel>& row, Index last_pair,
                                           const Column* columns, std::index_sequence<i...>) {
  constexpr std::size_t before = sizeof...(i) - 2;
  constexpr Index pair = static_cast<Index>(before) * pairs_of_column<Kernel, D>;
  if constexpr (before > 0)
    rotate_columns<Kernel, Stores::cached>(d, row, 0, columns, std::make_index_sequence<before>());
  const auto next_to_last = rotate_column<Kernel>(d, row, pair, columns[before]);
  const auto last = rotate_column<Kernel>(d, row, last_pair, columns[before + 1]);
  put_column<Kernel, Stores::cached>(d, row, pair, next_to_last);
  put_column<Kernel, Stores::cached>(d, row, last_pair, last);
}

/// What a pass does after a row; x and y point at its window.
template <class Kernel, Stores stores, AfterRow after, class Block, class T>
HWY_INLINE void finish_row([[maybe_unused]] const RowPlan& plan,
                           [[maybe_unused]] const OutsideOfWindow& outside,
                           [[maybe_unused]] const Block& block, [[maybe_unused]] const T* x,
                           [[maybe_unused]] T* y) {
  if constexpr (after != AfterRow::nothing) outside.copy_row<stores>(x, y);
  if constexpr (after == AfterRow::writes_lines) {
    block.lines->row_written(static_cast<std::size_t>(plan.row_length) * sizeof(T));
    ask_for_row_ahead(x, block.inner.x, plan.row_length);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
