// SPDX-License-Identifier: Apache-2.0
//
// A pass over the rows of a block: some columns of every row are rotated, while their coefficients
// stay in registers or in the first-level cache.
//
//   pass_columns       1 to 8 columns, whose coefficients stay in registers
//   pass_many_columns  any other number of pairs from one column on, whose coefficients are
//                      prepared in memory
//   pass_short_run     less than a column: one of shorter vectors, or single pairs
//   pass_run           one of the three, for a whole run
//
// The rows of a block's inner level share a table row. Pointers are those of the window. Compiled
// once per target. rows-inl.hpp says in which order rows are passed, row-inl.hpp how one is, and
// columns-inl.hpp how a column is rotated.
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

#include "kernels/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Coefficients that a loop holds at most. Some may stay on the stack, where reading them is part
/// of the arithmetic. 16-bit elements need registers to be converted, bfloat16 most of all.
template <class T>
constexpr int coefficient_registers =
    vector_registers /
    (std::is_same_v<T, Eigen::bfloat16> || (is_16_bit<T> && HWY_TARGET == HWY_AVX3) ? 2 : 1);

/// Coefficients of the inverse. Apart from the loops, since divisions would be most of their code
/// and most rotations need none.
template <class Kernel, class D>
HWY_NOINLINE typename Kernel::template Column<D> inverse_column(
    D d, const TableRow<typename Kernel::T>& table, const Run& run, Index k) {
  return column_of<Kernel>(d, table, run, k, Inverse{});
}

/// Pairs whose coefficients one pass holds in memory at most.
constexpr Index most_pairs_in_memory = 512;

/// Writes the columns of `pairs` pairs from pair `k` on to memory, a column or more; the last one
/// ends where the pairs do. A call for each row of a table, so that loops over rows have the code
/// once.
template <class Kernel, class D, class How>
HWY_NOINLINE void prepare_columns(D d, const TableRow<typename Kernel::T>& table, const Run& run,
                                  Index k, Index pairs, How turn, std::byte* memory) {
  using Column = typename Kernel::template Column<D>;
  constexpr Index width = pairs_of_column<Kernel, D>;
  const Index last_pair = pairs - width;
  const Index before_last = (pairs - 1) / width;
  for (Index c = 0; c <= before_last; ++c, memory += sizeof(Column)) {
    const Index pair = k + std::min(c * width, last_pair);
    if (turn.direction == Direction::inverse) {
      new (memory) Column(inverse_column<Kernel>(d, table, run, pair));
    } else {
      new (memory) Column(column_of<Kernel>(d, table, run, pair, turn));
    }
  }
}

/// The coefficients of up to `most` pairs in memory. Not an array of columns: GCC compiles the
/// constructors that it writes itself for the plain processor, where those of NEON's vectors cannot
/// be inlined.
template <class Kernel, class D, Index most = most_pairs_in_memory>
class PreparedColumns {
 public:
  using Column = typename Kernel::template Column<D>;

  const Column* columns() const { return reinterpret_cast<const Column*>(memory_); }

  template <class How>
  HWY_INLINE void prepare(D d, const TableRow<typename Kernel::T>& table, const Run& run, Index k,
                          Index pairs, How turn) {
    prepare_columns<Kernel>(d, table, run, k, pairs, turn, memory_);
  }

 private:
  static_assert(alignof(Column) <= LineWriter::line);
  // GCC 12 forgets an alignment that depends on a type here.
  alignas(LineWriter::line) std::byte memory_[most / pairs_of_column<Kernel, D> * sizeof(Column)];
};

/// How many columns of a kernel have their coefficients in registers at a time.
template <class Kernel, class D>
constexpr Index most_columns = rounds_by_arithmetic<typename Kernel::T>
                                   ? 1
                                   : std::max(1, coefficient_registers<typename Kernel::T> /
                                                     Kernel::template Column<D>::registers);

/// A run of as many columns as `i` has members, of all rows. The rows of the inner level share a
/// table row, whose coefficients stay in registers.
template <class Kernel, Stores stores, AfterRow after, LastColumn last = LastColumn::follows,
          class D, class Block, std::size_t... i>
HWY_INLINE void pass_columns(D d, const RowPlan& plan, const Run& run, const Block& block,
                             std::index_sequence<i...> columns_of_pass) {
  static_assert(after != AfterRow::writes_lines);
  using T = typename Kernel::T;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  constexpr Index row_pairs = static_cast<Index>(sizeof...(i)) * pairs;
  constexpr Index row_bytes = row_pairs * static_cast<Index>(2 * sizeof(T));
  constexpr bool is_long =
      row_bytes > (stores == Stores::streaming ? longest_unasked_past<T> : longest_unasked);
  const bool asks =
      stores == Stores::streaming || asks_for_rows<Kernel>(block, plan.row_length, row_bytes);
  [[maybe_unused]] const bool asks_later = asks_for_later_rows<after, T>(block, plan.row_length);
  [[maybe_unused]] const bool asks_along = reads_streams_in_turn(block);
  [[maybe_unused]] const Index later = to_later_row<T>(block.outer.x, plan.row_length);
  const Turn<Kernel::swap> turn{plan.direction};
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  const RowPointers<Kernel> first = first_row<Kernel>(run, 0, block, turn.direction);
  const Index in_window = first.x_a - block.x;
  const Index out_window = first.y_a - block.y;
  const Index last_pair = last == LastColumn::overlaps ? run.count - pairs : row_pairs - pairs;
  [[maybe_unused]] const OutsideOfWindow outside(plan);
  RowPlace place;
  for (Index left_outside = outer.count; left_outside > 0; --left_outside) {
    const TableRow<T> table{block.cos + place.table, block.sin + place.table};
    typename Kernel::template Column<D> columns[] = {column_of<Kernel>(
        d, table, run, std::min(static_cast<Index>(i) * pairs, last_pair), turn)...};
    if (turn.direction == Direction::inverse) {
      PreparedColumns<Kernel, D, row_pairs> inverses;
      inverses.prepare(d, table, run, 0, last_pair + pairs, turn);
      ((columns[i] = inverses.columns()[i]), ...);
    }
    RowPointers<Kernel> row = first.at(place);
    for (Index left = inner.count; left > 0; --left) {
      row.hide();
      if constexpr (is_long) {
        if (asks) ask_for_row(row, row_pairs, row_pairs);
      }
      if constexpr (last == LastColumn::overlaps) {
        static_assert(stores == Stores::cached);
        rotate_overlapping_columns<Kernel>(d, row, last_pair, columns, columns_of_pass);
      } else {
        rotate_columns<Kernel, stores>(d, row, 0, columns, columns_of_pass);
      }
      if constexpr (stores == Stores::streaming) {
        if (asks_along) ask_for(row.x_a - in_window + later, plan.row_length);
      }
      if constexpr (after == AfterRow::copies) {
        const T* x = row.x_a - in_window;
        if (asks_later) ask_for_row_ahead(x - plan.offset, inner.x, plan.row_length);
        outside.copy_row<stores>(x, row.y_a - out_window);
      }
      row.advance(inner);
    }
    ask_for_later_rows<stores, after>(block, first.at(place), row_pairs, plan.rotary_dims / 2);
    place.x += outer.x;
    place.y += outer.y;
    place.table += outer.table;
  }
}

/// The first `count` columns of one row.
template <class Kernel, Stores stores, class D, class Column>
HWY_INLINE void rotate_whole_columns(D d, const RowPointers<Kernel>& row, Index count,
                                     const Column* columns) {
  constexpr Index width = pairs_of_column<Kernel, D>;
  constexpr Index together = rounds_by_arithmetic<typename Kernel::T> ? 1 : 4;
  Index c = 0;
  for (; c + together <= count; c += together) {
    rotate_columns<Kernel, stores>(d, row, c * width, columns + c,
                                   std::make_index_sequence<static_cast<std::size_t>(together)>());
  }
  for (; c < count; ++c)
    rotate_columns<Kernel, stores>(d, row, c * width, columns + c, std::index_sequence<0>());
}

/// `pairs` pairs of all rows, a column or more, from pair `k` on. Their coefficients are prepared
/// in memory once for the rows that share them. The last column ends where the pairs do and
/// overlaps the one before it: it is loaded before that one is stored, so that x may be y, and what
/// both store is the same.
template <class Kernel, Stores stores, AfterRow after, class D, class Block>
HWY_NOINLINE void pass_many_columns(D d, const RowPlan& plan, const Run& run, Index k, Index pairs,
                                    const Block& block) {
  using T = typename Kernel::T;
  using Column = typename Kernel::template Column<D>;
  constexpr Index width = pairs_of_column<Kernel, D>;
  [[maybe_unused]] const bool asks_later = asks_for_later_rows<after, T>(block, plan.row_length);
  const Turn<Kernel::swap> turn{plan.direction};
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  const RowPointers<Kernel> first = first_row<Kernel>(run, k, block, turn.direction);
  const Index in_window = first.x_a - block.x;
  const Index out_window = first.y_a - block.y;
  const Index last_pair = pairs - width;
  const Index before_last = (pairs - 1) / width;
  const bool asks =
      stores == Stores::streaming ||
      asks_for_rows<Kernel>(block, plan.row_length, pairs * static_cast<Index>(2 * sizeof(T)));
  [[maybe_unused]] const bool asks_along = reads_streams_in_turn(block);
  [[maybe_unused]] const Index later = to_later_row<T>(block.outer.x, plan.row_length);
  const OutsideOfWindow outside(plan);
  RowPlace place;
  PreparedColumns<Kernel, D> prepared;
  const Column* const columns = prepared.columns();
  for (Index left_outside = outer.count; left_outside > 0; --left_outside) {
    const TableRow<T> table{block.cos + place.table, block.sin + place.table};
    prepared.prepare(d, table, run, k, pairs, turn);
    RowPointers<Kernel> row = first.at(place);
    for (Index left = inner.count; left > 0; --left) {
      row.hide();
      if (asks) ask_for_row(row, pairs, run.count);
      if constexpr (stores == Stores::cached && after == AfterRow::nothing) {
        const auto last = rotate_column<Kernel>(d, row, last_pair, columns[before_last]);
        rotate_whole_columns<Kernel, stores>(d, row, before_last, columns);
        put_column<Kernel, stores>(d, row, last_pair, last);
      } else {
        rotate_whole_columns<Kernel, stores>(d, row, before_last, columns);
        rotate_columns<Kernel, stores>(d, row, last_pair, columns + before_last,
                                       std::index_sequence<0>());
      }
      if constexpr (stores == Stores::streaming) {
        if (asks_along) ask_for(row.x_a - in_window + later, plan.row_length);
      }
      if (asks_later)
        ask_for_row_ahead(row.x_a - in_window - plan.offset, inner.x, plan.row_length);
      finish_row<Kernel, stores, after>(plan, outside, block, row.x_a - in_window,
                                        row.y_a - out_window);
      row.advance(inner);
    }
    ask_for_later_rows<stores, after>(block, first.at(place), pairs, plan.rotary_dims / 2);
    place.x += outer.x;
    place.y += outer.y;
    place.table += outer.table;
  }
}

/// Whether there is a loop with the coefficients of `count` columns in registers: every loop costs
/// all users compile time and code. Of kernels that are not common only heads of 128 floats on
/// AVX-512 have one, and rows for a writer have none. Last columns overlap in whole rows through
/// the caches only, where sixteen registers hold five columns beside two results. SSE4 has few
/// loops, because almost every processor has AVX2.
template <class Kernel, Stores stores, AfterRow after, LastColumn last, int count, class D>
constexpr bool has_loop_of_columns =
    count <= most_columns<Kernel, D> &&
    (Kernel::is_common || count == 4) && after != AfterRow::writes_lines &&
    (HWY_TARGET != HWY_SSE4 || (stores == Stores::cached && count >= 4)) &&
    (last == LastColumn::follows ||
     (HWY_TARGET != HWY_SSE4 && (HWY_TARGET == HWY_AVX3 || count <= 5) && Kernel::is_common &&
      stores == Stores::cached && after == AfterRow::nothing));

/// Columns of which the last overlaps the one before it. A function for each count: compilers keep
/// less of the other loops in registers then.
template <class Kernel, Stores stores, AfterRow after, class D, class Block, std::size_t... i>
HWY_NOINLINE void pass_overlapping_columns(D d, const RowPlan& plan, const Run& run,
                                           const Block& block, std::index_sequence<i...> columns) {
  pass_columns<Kernel, stores, after, LastColumn::overlaps>(d, plan, run, block, columns);
}

/// All columns of a run at once if they are `count`, and there is a loop.
template <class Kernel, Stores stores, AfterRow after, LastColumn last, int count, class D,
          class Block>
HWY_INLINE bool pass_if_fitting(D d, const RowPlan& plan, const Run& run, const Block& block) {
  if constexpr (has_loop_of_columns<Kernel, stores, after, last, count, D>) {
    constexpr Index width = pairs_of_column<Kernel, D>;
    constexpr Index least = last == LastColumn::follows ? count * width : (count - 1) * width + 1;
    if (run.count < least || run.count > count * width) return false;
    constexpr std::make_index_sequence<static_cast<std::size_t>(count)> columns;
    if constexpr (last == LastColumn::overlaps) {
      pass_overlapping_columns<Kernel, stores, after>(d, plan, run, block, columns);
    } else {
      pass_columns<Kernel, stores, after>(d, plan, run, block, columns);
    }
    return true;
  }
  return false;
}

/// Likewise for one of several counts.
template <class Kernel, Stores stores, AfterRow after, LastColumn last, class D, class Block,
          int... counts>
HWY_INLINE bool pass_if_any_fits(D d, const RowPlan& plan, const Run& run, const Block& block,
                                 std::integer_sequence<int, counts...>) {
  return (pass_if_fitting<Kernel, stores, after, last, counts>(d, plan, run, block) || ...);
}

/// A run of one column, or of more that two columns hold.
template <class Kernel, AfterRow after, class D, class Block>
HWY_INLINE void pass_one_or_two_columns(D d, const RowPlan& plan, const Run& run,
                                        const Block& block) {
  if (run.count == pairs_of_column<Kernel, D>) {
    pass_columns<Kernel, Stores::cached, after>(d, plan, run, block, std::index_sequence<0>());
  } else {
    pass_columns<Kernel, Stores::cached, after, LastColumn::overlaps>(d, plan, run, block,
                                                                      std::index_sequence<0, 1>());
  }
}

/// Pairs that are less than a column of D. Kernels that are not common have no vectors between
/// those of D and the shortest.
template <class Kernel, class D, class Block>
void pass_short_run(D, const RowPlan& plan, const Run& run, const Block& block) {
  using C = hn::TFromD<D>;
  using T = typename Kernel::T;
  constexpr std::size_t lanes = Kernel::is_common
                                    ? hn::MaxLanes(D()) / 2
                                    : std::min<std::size_t>(hn::MaxLanes(D()) / 2, 16 / sizeof(C));
  if constexpr (lanes * sizeof(C) >= 16) {
    const hn::CappedTag<C, lanes> shorter;
    if (run.count < pairs_of_column<Kernel, hn::CappedTag<C, lanes>>) {
      pass_short_run<Kernel>(shorter, plan, run, block);
    } else if constexpr (Kernel::is_common) {
      pass_one_or_two_columns<Kernel, AfterRow::nothing>(shorter, plan, run, block);
    } else {
      pass_many_columns<Kernel, Stores::cached, AfterRow::nothing>(shorter, plan, run, 0, run.count,
                                                                   block);
    }
  } else {
    for (Index o = 0; o < block.outer.count; ++o) {
      const C* cos = block.cos + o * block.outer.table;
      const C* sin = block.sin + o * block.outer.table;
      for (Index row = 0; row < block.inner.count; ++row) {
        const T* x = block.x + o * block.outer.x + row * block.inner.x;
        T* y = block.y + o * block.outer.y + row * block.inner.y;
        for (Index j = 0; j < run.count; ++j) {
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

/// Pairs of the next pass: what is left is a column or more, or nothing.
inline Index pairs_of_pass(Index left, Index width) {
  if (left <= most_pairs_in_memory) return left;
  return left < most_pairs_in_memory + width ? most_pairs_in_memory - width : most_pairs_in_memory;
}

/// A run of a column or more.
template <class Kernel, Stores stores, AfterRow after, class D, class Block>
HWY_INLINE void pass_in_parts(D d, const RowPlan& plan, const Run& run, const Block& block) {
  for (Index k = 0; k < run.count;) {
    const Index pairs = pairs_of_pass(run.count - k, pairs_of_column<Kernel, D>);
    pass_many_columns<Kernel, stores, after>(d, plan, run, k, pairs, block);
    k += pairs;
  }
}

/// All pairs of a run in all rows.
template <class Kernel, Stores stores, AfterRow after, class T>
void pass_run(const RowPlan& plan, const Run& run, const Tile<T>& block) {
  const hn::ScalableTag<Widened<T>> d;
  constexpr Index width = pairs_of_column<Kernel, decltype(d)>;
  if (pass_if_any_fits<Kernel, stores, after, LastColumn::follows>(
          d, plan, run, block, std::integer_sequence<int, 8, 4, 2, 1>()) ||
      pass_if_any_fits<Kernel, stores, after, LastColumn::overlaps>(
          d, plan, run, block, std::integer_sequence<int, 8, 7, 6, 5, 4, 3, 2>()))
    return;
  if (run.count >= width) {
    pass_in_parts<Kernel, stores, after>(d, plan, run, block);
  } else if constexpr (after == AfterRow::nothing) {
    pass_short_run<Kernel>(d, plan, run, block);
  } else if constexpr (after == AfterRow::copies && stores == Stores::cached &&
                       half_columns_copy<Kernel>) {
    pass_one_or_two_columns<Kernel, after>(hn::Half<decltype(d)>(), plan, run, block);
  }
}

/// All pairs of a run in all rows, which are whole columns of D, past the cache.
template <class Kernel, class D, class T>
void stream_run(const RowPlan& plan, const Run& run, const Tile<T>& block) {
  pass_in_parts<Kernel, Stores::streaming, AfterRow::nothing>(D(), plan, run, block);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
