// SPDX-License-Identifier: Apache-2.0
//
// A pass over the rows of a block: some columns of every row are rotated, while their coefficients
// stay in registers or in the first-level cache.
//
//   pass_columns       8, 4, 2 or 1 columns, whose coefficients stay in registers
//   pass_many_columns  any other number, whose coefficients are prepared in memory
//   pass_run           one of the two, for a whole run
//   tail_of_run        what is left: shorter vectors, then single pairs
//
// The rows of a block's inner level share a table row. Pointers are those of the window. Compiled
// once per target. rows-inl.hpp says in which order rows are passed, and columns-inl.hpp how a
// column is rotated.
#if defined(EIGEN_ROPE_KERNEL_PASSES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_PASSES_INL_HPP
#undef EIGEN_ROPE_KERNEL_PASSES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_PASSES_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <hwy/cache_control.h>

#include "kernels/columns-inl.hpp"
#include "kernels/copies-inl.hpp"
#include "kernels/lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Coefficients that a loop holds at most. Some may stay on the stack, where reading them is part
/// of the arithmetic. 16-bit elements need registers to be converted, bfloat16 most of all.
template <class T>
constexpr int coefficient_registers =
    (HWY_TARGET == HWY_AVX3 ? 32 : 16) /
    (std::is_same_v<T, Eigen::bfloat16> || (is_16_bit<T> && HWY_TARGET == HWY_AVX3) ? 2 : 1);

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

template <class Kernel, class D, std::size_t count>
struct Columns {
  typename Kernel::template Column<D> column[count];
};

/// Coefficients of the inverse. Apart from the loops, since divisions would be most of their code
/// and most rotations need none.
template <class Kernel, class D, std::size_t... i>
HWY_NOINLINE Columns<Kernel, D, sizeof...(i)> inverse_columns(
    D d, const TableRow<typename Kernel::T>& table, const Run& run, Index k,
    std::index_sequence<i...>) {
  return {{column_of<Kernel>(d, table, run, k + static_cast<Index>(i) * pairs_of_column<Kernel, D>,
                             Inverse{})...}};
}

/// Whether sums are rounded by arithmetic, which needs the registers.
template <class T>
constexpr bool rounds_by_arithmetic = is_16_bit<T> ? HWY_TARGET == HWY_SSE4 : false;

/// How many columns of a kernel have their coefficients in registers at a time.
template <class Kernel, class D>
constexpr Index most_columns = rounds_by_arithmetic<typename Kernel::T>
                                   ? 1
                                   : std::max(1, coefficient_registers<typename Kernel::T> /
                                                     Kernel::template Column<D>::registers);

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

/// Rows that are rotated together, `streams` of the outer level at a time. If `lines` is not null,
/// y is memory of that writer, or, with a step of 1, each row of the inner level has a writer of
/// its own.
template <class T>
struct Tile : RowBlock<T, Widened<T>> {
  LineWriter* lines = nullptr;
  Index lines_step = 0;
  Index streams = 1;
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

/// Asks for the lines of a row of x that follows about a kibibyte later: rows that go to a writer
/// leave the processor too little room to look ahead by itself.
template <class T>
HWY_INLINE void ask_for_row_ahead(const T* x, Index step, std::size_t row_bytes) {
  constexpr std::size_t ahead = 1024;
  const Index rows = row_bytes < ahead ? 2 : 1;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(x + rows * step);
  for (std::size_t at = 0; at < row_bytes; at += LineWriter::line) hwy::Prefetch(from + at);
}

/// Some columns of one row, from `at` columns on.
template <class Kernel, Stores stores, class D, class Column, std::size_t... i>
HWY_INLINE void rotate_columns(D d, const RowPointers<Kernel>& row, Index at, const Column* columns,
                               std::index_sequence<i...>) {
  constexpr Index in = pairs_of_column<Kernel, D> * Kernel::in_step;
  constexpr Index out = pairs_of_column<Kernel, D> * Kernel::out_step;
  const auto* x_a = row.x_a + at * in;
  const auto* x_b = row.x_b + at * in;
  auto* y_a = row.y_a + at * out;
  auto* y_b = row.y_b + at * out;
  (put<Kernel, stores>(d,
                       Kernel::rotate(d, x_a + static_cast<Index>(i) * in,
                                      x_b + static_cast<Index>(i) * in, columns[i]),
                       y_a + static_cast<Index>(i) * out, y_b + static_cast<Index>(i) * out),
   ...);
}

/// What a pass does after a row; x and y point at its window.
template <class Kernel, Stores stores, AfterRow after, class Block, class T>
HWY_INLINE void finish_row([[maybe_unused]] const RowPlan& plan,
                           [[maybe_unused]] const Block& block, [[maybe_unused]] const T* x,
                           [[maybe_unused]] T* y, [[maybe_unused]] LineWriter*& lines) {
  if constexpr (after != AfterRow::nothing) copy_outside<stores>(plan, x, y);
  if constexpr (after == AfterRow::writes_lines) {
    const auto row_bytes = static_cast<std::size_t>(plan.row_length) * sizeof(T);
    lines->row_written(row_bytes);
    if (block.lines_step == 0) ask_for_row_ahead(x, block.inner.x, row_bytes);
    lines += block.lines_step;
  }
}

/// As many columns as `i` has members, of all rows. The rows of the inner level share a table row,
/// whose coefficients stay in registers.
template <class Kernel, Stores stores, AfterRow after, class D, class Block, std::size_t... i>
HWY_INLINE void pass_columns(D d, const RowPlan& plan, const Run& run, Index k, const Block& block,
                             std::index_sequence<i...> columns_of_pass) {
  using T = typename Kernel::T;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  const Turn<Kernel::swap> turn{plan.direction};
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  const RowPointers<Kernel> first = first_row<Kernel>(run, k, block, turn.direction);
  const Index in_window = first.x_a - block.x;
  const Index out_window = first.y_a - block.y;
  RowPlace place;
  for (Index left_outside = outer.count; left_outside > 0; --left_outside) {
    const TableRow<T> table{block.cos + place.table, block.sin + place.table};
    typename Kernel::template Column<D> columns[] = {
        column_of<Kernel>(d, table, run, k + static_cast<Index>(i) * pairs, turn)...};
    if (turn.direction == Direction::inverse) {
      const Columns<Kernel, D, sizeof...(i)> inverses =
          inverse_columns<Kernel>(d, table, run, k, columns_of_pass);
      ((columns[i] = inverses.column[i]), ...);
    }
    RowPointers<Kernel> row = first.at(place);
    LineWriter* lines = block.lines;
    for (Index left = inner.count; left > 0; --left) {
      row.hide();
      rotate_columns<Kernel, stores>(d, row, 0, columns, columns_of_pass);
      finish_row<Kernel, stores, after>(plan, block, row.x_a - in_window, row.y_a - out_window,
                                        lines);
      row.advance(inner);
    }
    place.x += outer.x;
    place.y += outer.y;
    place.table += outer.table;
  }
}

/// Columns whose coefficients one pass holds at most: in registers and, beyond, in memory.
constexpr Index most_columns_in_memory = 16;

/// All columns of all rows where their coefficients are more than registers hold: they are prepared
/// in memory once for the rows that share them.
template <class Kernel, Stores stores, AfterRow after, class D, class Block>
HWY_NOINLINE void pass_many_columns(D d, const RowPlan& plan, const Run& run, Index k, Index count,
                                    const Block& block) {
  using T = typename Kernel::T;
  using Column = typename Kernel::template Column<D>;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  constexpr Index together = rounds_by_arithmetic<T> ? 1 : 4;
  const Turn<Kernel::swap> turn{plan.direction};
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  const RowPointers<Kernel> first = first_row<Kernel>(run, k, block, turn.direction);
  const Index in_window = first.x_a - block.x;
  const Index out_window = first.y_a - block.y;
  RowPlace place;
  // Not an array of columns: GCC compiles the constructors that it writes itself for the plain
  // processor, where those of NEON's vectors cannot be inlined.
  alignas(Column)
      std::byte memory[static_cast<std::size_t>(most_columns_in_memory)][sizeof(Column)];
  auto* const columns = reinterpret_cast<Column*>(memory);
  for (Index left_outside = outer.count; left_outside > 0; --left_outside) {
    const TableRow<T> table{block.cos + place.table, block.sin + place.table};
    for (Index c = 0; c < count; ++c) {
      if (turn.direction == Direction::inverse) {
        new (columns + c)
            Column(inverse_columns<Kernel>(d, table, run, k + c * pairs, std::index_sequence<0>())
                       .column[0]);
      } else {
        new (columns + c) Column(column_of<Kernel>(d, table, run, k + c * pairs, turn));
      }
    }
    RowPointers<Kernel> row = first.at(place);
    LineWriter* lines = block.lines;
    for (Index left = inner.count; left > 0; --left) {
      row.hide();
      Index c = 0;
      for (; c + together <= count; c += together) {
        rotate_columns<Kernel, stores>(
            d, row, c, columns + c, std::make_index_sequence<static_cast<std::size_t>(together)>());
      }
      for (; c < count; ++c)
        rotate_columns<Kernel, stores>(d, row, c, columns + c, std::index_sequence<0>());
      finish_row<Kernel, stores, after>(plan, block, row.x_a - in_window, row.y_a - out_window,
                                        lines);
      row.advance(inner);
    }
    place.x += outer.x;
    place.y += outer.y;
    place.table += outer.table;
  }
}

/// Passes all columns of a run at once if they are exactly `count`, if the loop exists. Of kernels
/// that are not common only heads of 128 floats on AVX-512 have it: every loop costs all users
/// compile time and code.
template <class Kernel, Stores stores, AfterRow after, int count, class D, class Block>
HWY_INLINE bool pass_if_exactly(D d, const RowPlan& plan, const Run& run, Index columns,
                                const Block& block) {
  if constexpr ((Kernel::is_common || count == 4) && count <= most_columns<Kernel, D>) {
    if (columns != count) return false;
    pass_columns<Kernel, stores, after>(
        d, plan, run, 0, block, std::make_index_sequence<static_cast<std::size_t>(count)>());
    return true;
  }
  return false;
}

/// What is left of a run when no vector of d fits any more: shorter vectors, then one pair at a
/// time.
template <class Kernel, class D, class Block>
void tail_of_run(D, const RowPlan& plan, const Run& run, Index k, const Block& block) {
  using C = hn::TFromD<D>;
  using T = typename Kernel::T;
  constexpr std::size_t lanes = hn::MaxLanes(D()) / 2;
  if constexpr (lanes * sizeof(C) >= 16) {
    const hn::CappedTag<C, lanes> shorter;
    constexpr Index pairs = pairs_of_column<Kernel, hn::CappedTag<C, lanes>>;
    if (k + pairs <= run.count) {
      pass_columns<Kernel, Stores::cached, AfterRow::nothing>(shorter, plan, run, k, block,
                                                              std::index_sequence<0>());
      k += pairs;
    }
    if (k < run.count) tail_of_run<Kernel>(shorter, plan, run, k, block);
  } else {
    for (Index o = 0; o < block.outer.count; ++o) {
      const C* cos = block.cos + o * block.outer.table;
      const C* sin = block.sin + o * block.outer.table;
      for (Index row = 0; row < block.inner.count; ++row) {
        const T* x = block.x + o * block.outer.x + row * block.inner.x;
        T* y = block.y + o * block.outer.y + row * block.inner.y;
        for (Index j = k; j < run.count; ++j) {
          const Index a = run.table_a + j * run.table_step;
          const Index b = run.table_b + j * run.table_step;
          C out_a, out_b;
          rotate_pair<T, C>(plan.direction, static_cast<C>(x[run.in_a + j * run.in_step]),
                            static_cast<C>(x[run.in_b + j * run.in_step]), cos[a], cos[b], sin[a],
                            sin[b], out_a, out_b);
          y[run.out_a + j * run.out_step] = static_cast<T>(out_a);
          y[run.out_b + j * run.out_step] = static_cast<T>(out_b);
        }
      }
    }
  }
}

/// Whether a column of half vectors copies what is outside the window, too: where a whole one has
/// more pairs than lanes.
template <class Kernel, class D = hn::ScalableTag<Widened<typename Kernel::T>>>
constexpr bool half_columns_copy = Kernel::pairs_per_lane == 2 && hn::MaxLanes(D()) >= 8;

/// All pairs of a run in all rows.
template <class Kernel, Stores stores, AfterRow after, class T>
void pass_run(const RowPlan& plan, const Run& run, const Tile<T>& block) {
  const hn::ScalableTag<Widened<T>> d;
  constexpr Index pairs = pairs_of_column<Kernel, decltype(d)>;
  const Index columns = run.count / pairs;
  const bool passed = pass_if_exactly<Kernel, stores, after, 8>(d, plan, run, columns, block) ||
                      pass_if_exactly<Kernel, stores, after, 4>(d, plan, run, columns, block) ||
                      pass_if_exactly<Kernel, stores, after, 2>(d, plan, run, columns, block) ||
                      pass_if_exactly<Kernel, stores, after, 1>(d, plan, run, columns, block);
  for (Index c = passed ? columns : 0; c < columns; c += most_columns_in_memory) {
    pass_many_columns<Kernel, stores, after>(d, plan, run, c * pairs,
                                             std::min(most_columns_in_memory, columns - c), block);
  }
  const Index k = columns * pairs;
  if (k == run.count) return;
  if constexpr (after == AfterRow::nothing) {
    tail_of_run<Kernel>(d, plan, run, k, block);
  } else if constexpr (stores == Stores::cached && half_columns_copy<Kernel>) {
    const hn::Half<decltype(d)> shorter;
    pass_columns<Kernel, stores, after>(shorter, plan, run, k, block, std::index_sequence<0>());
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
