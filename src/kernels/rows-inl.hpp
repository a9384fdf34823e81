// SPDX-License-Identifier: Apache-2.0
//
// The row kernels: one block of rows (eigen_rope/rows/detail/rows.hpp), rotated with the vectors of one target.
//
// The way of a block, step by step:
//
//   rotate_block     -> choose_kernel (pairing, table width) -> choose_stores (through the cache or past it) -> choose_order
//   choose_order     heads outside tokens: tile_streams, a few heads together, which share a token's table row; then choose_passes
//   choose_passes    pass_whole_rows_if_they_fit: a row that is a few columns is one pass; otherwise tile_rows: first-level-cache tiles
//   pass_tile        -> pass_run -> pass_all_columns: coefficients of some columns stay in registers while the tile's rows pass
//                    (pass_columns, the loop everything ends in); tail_of_run: shorter vectors, then single pairs
//   pass_copies      rows that move their elements where they lie
//
// Nothing outside a row is read or written. Compiled once per target. Not here: which rows (walk.hpp), 16-bit tables (rows.hpp).
#if defined(EIGEN_ROPE_KERNEL_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_ROWS_INL_HPP
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Coefficients that fit in registers beside what is being rotated.
constexpr int coefficient_registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 16 : 8;

template <class Kernel, Stores stores, class D, class Result, class T>
HWY_INLINE void put(D d, const Result& result, T* y_a, T* y_b) {
  Kernel::template put_first<stores>(d, result, y_a);
  Kernel::template put_second<stores>(d, result, y_b);
}

template <Stores stores, class T>
HWY_INLINE void copy(const T* from, T* to, Index count) {
  using Bits = hwy::UnsignedFromSize<sizeof(T)>;
  const hn::ScalableTag<Bits> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const auto* source = reinterpret_cast<const Bits*>(from);
  auto* target = reinterpret_cast<Bits*>(to);
  Index i = 0;
  for (; i + lanes <= count; i += lanes) store_bits<stores>(hn::LoadU(d, source + i), d, target + i);
  if constexpr (stores == Stores::streaming) {
    // A line written half past the cache and half through it costs hundreds of nanoseconds.
    const hn::CappedTag<Bits, 16 / sizeof(Bits)> piece;
    constexpr Index piece_lanes = 16 / sizeof(Bits);
    for (; i + piece_lanes <= count; i += piece_lanes) store_bits<stores>(hn::LoadU(piece, source + i), piece, target + i);
  }
  if (i == count) return;
  if (count >= lanes) {
    hn::StoreU(hn::LoadU(d, source + count - lanes), d, target + count - lanes);
  } else {
    std::memcpy(to + i, from + i, static_cast<std::size_t>(count - i) * sizeof(T));
  }
}

/// Everything outside the window. Pointers are those of the window.
template <Stores stores, class T>
HWY_INLINE void copy_outside(const RowPlan& plan, const T* x, T* y) {
  const Index after = plan.row_length - plan.offset - plan.rotary_dims;
  if (plan.offset > 0) copy<stores>(x - plan.offset, y - plan.offset, plan.offset);
  if (after > 0) copy<stores>(x + plan.rotary_dims, y + plan.rotary_dims, after);
}

/// What happens to the elements outside the window while its columns are rotated.
enum class Outside { untouched, copied };

/// One table row for all rows, whose coefficients stay in registers, or one for each.
enum class TableRows { shared, own };

/// Some columns of all rows. The stores of a streamed row go out in the order of memory.
template <class Kernel, Stores stores, Outside outside, TableRows table_rows, class D, std::size_t... i>
HWY_INLINE void pass_columns(D d, const RowPlan& plan, const Run& run, Index k, Rows<typename Kernel::T> rows, std::index_sequence<i...>) {
  using T = typename Kernel::T;
  using Column = typename Kernel::template Column<D>;
  constexpr auto pairs = static_cast<Index>(hn::MaxLanes(D())) * Kernel::pairs_per_lane;
  constexpr Index in = pairs * Kernel::in_step;
  constexpr Index out = pairs * Kernel::out_step;
  const Direction direction = plan.direction;
  const Index a = run.in_a + k * Kernel::in_step;
  const Index b = run.in_b + k * Kernel::in_step;
  const Index A = run.out_a + k * Kernel::out_step;
  const Index B = run.out_b + k * Kernel::out_step;
  Column columns[] = {Kernel::column(d, rows, run, k + static_cast<Index>(i) * pairs, direction)...};
  for (Index row = 0; row < rows.count; ++row) {
    const T* x = rows.x;
    T* y = rows.y;
    if constexpr (stores == Stores::streaming && Kernel::two_stores) {
      const typename Kernel::template Result<D> results[] = {
          Kernel::rotate(d, x + a + static_cast<Index>(i) * in, x + b + static_cast<Index>(i) * in, columns[i])...};
      (Kernel::template put_first<stores>(d, results[i], y + A + static_cast<Index>(i) * out), ...);
      (Kernel::template put_second<stores>(d, results[i], y + B + static_cast<Index>(i) * out), ...);
    } else {
      (put<Kernel, stores>(d, Kernel::rotate(d, x + a + static_cast<Index>(i) * in, x + b + static_cast<Index>(i) * in, columns[i]),
                           y + A + static_cast<Index>(i) * out, y + B + static_cast<Index>(i) * out),
       ...);
    }
    if constexpr (outside == Outside::copied) copy_outside<stores>(plan, x, y);
    rows.x += rows.x_step;
    rows.y += rows.y_step;
    if constexpr (table_rows == TableRows::own) {
      if (row + 1 == rows.count) break;
      rows.cos += rows.table_step;
      rows.sin += rows.table_step;
      ((columns[i] = Kernel::column(d, rows, run, k + static_cast<Index>(i) * pairs, direction)), ...);
    }
  }
}

/// Rows whose window is exactly some columns, passed once, in the order of memory.
template <class Kernel, Stores stores, Outside outside, std::size_t count, class D>
void pass_whole_rows(D d, const RowPlan& plan, const Run& run, const RowBlock<typename Kernel::T, Widened<typename Kernel::T>>& block) {
  using T = typename Kernel::T;
  const RowSteps outer = block.outer;
  Rows<T> rows{block.x + plan.offset, block.y + plan.offset, block.cos, block.sin, block.inner.count, block.inner.x, block.inner.y, 0};
  for (Index o = 0; o < outer.count; ++o) {
    pass_columns<Kernel, stores, outside, TableRows::shared>(d, plan, run, 0, rows, std::make_index_sequence<count>());
    rows.x += outer.x;
    rows.y += outer.y;
    rows.cos += outer.table;
    rows.sin += outer.table;
  }
}

template <class Kernel, Stores stores, TableRows table_rows, int count, class D>
HWY_INLINE Index pass_columns_while(D d, const RowPlan& plan, const Run& run, Index k, const Rows<typename Kernel::T>& rows) {
  constexpr int most = std::max(1, coefficient_registers / Kernel::template Column<D>::registers);
  if constexpr (count <= most) {
    constexpr Index pairs = static_cast<Index>(hn::MaxLanes(D())) * Kernel::pairs_per_lane * count;
    for (; k + pairs <= run.count; k += pairs) {
      pass_columns<Kernel, stores, Outside::untouched, table_rows>(d, plan, run, k, rows,
                                                                   std::make_index_sequence<static_cast<std::size_t>(count)>());
    }
  }
  return k;
}

/// What is left of a run when no vector of d fits any more: shorter vectors, then one pair at a time.
template <class Kernel, class D>
void tail_of_run(D, const RowPlan& plan, const Run& run, Index k, const Rows<typename Kernel::T>& rows) {
  using C = hn::TFromD<D>;
  using T = typename Kernel::T;
  constexpr std::size_t lanes = hn::MaxLanes(D()) / 2;
  if constexpr (lanes * sizeof(C) >= 16) {
    const hn::CappedTag<C, lanes> shorter;
    constexpr Index pairs = static_cast<Index>(lanes) * Kernel::pairs_per_lane;
    if (k + pairs <= run.count) {
      if (rows.table_step == 0) {
        pass_columns<Kernel, Stores::cached, Outside::untouched, TableRows::shared>(shorter, plan, run, k, rows, std::index_sequence<0>());
      } else {
        pass_columns<Kernel, Stores::cached, Outside::untouched, TableRows::own>(shorter, plan, run, k, rows, std::index_sequence<0>());
      }
      k += pairs;
    }
    if (k < run.count) tail_of_run<Kernel>(shorter, plan, run, k, rows);
  } else {
    for (Index row = 0; row < rows.count; ++row) {
      const T* x = rows.x + row * rows.x_step;
      T* y = rows.y + row * rows.y_step;
      const C* cos = rows.cos + row * rows.table_step;
      const C* sin = rows.sin + row * rows.table_step;
      for (Index j = k; j < run.count; ++j) {
        const Index a = run.table_a + j * run.table_step;
        const Index b = run.table_b + j * run.table_step;
        C out_a, out_b;
        rotate_pair<T, C>(plan.direction, static_cast<C>(x[run.in_a + j * run.in_step]), static_cast<C>(x[run.in_b + j * run.in_step]),
                          cos[a], cos[b], sin[a], sin[b], out_a, out_b);
        y[run.out_a + j * run.out_step] = static_cast<T>(out_a);
        y[run.out_b + j * run.out_step] = static_cast<T>(out_b);
      }
    }
  }
}

template <class Kernel, Stores stores, TableRows table_rows, class D>
HWY_INLINE Index pass_all_columns(D d, const RowPlan& plan, const Run& run, const Rows<typename Kernel::T>& rows) {
  Index k = pass_columns_while<Kernel, stores, table_rows, 8>(d, plan, run, 0, rows);
  k = pass_columns_while<Kernel, stores, table_rows, 4>(d, plan, run, k, rows);
  k = pass_columns_while<Kernel, stores, table_rows, 2>(d, plan, run, k, rows);
  return pass_columns_while<Kernel, stores, table_rows, 1>(d, plan, run, k, rows);
}

/// All pairs of a run in all rows.
template <class Kernel, Stores stores>
void pass_run(const RowPlan& plan, const Run& run, const Rows<typename Kernel::T>& rows) {
  const hn::ScalableTag<Widened<typename Kernel::T>> d;
  const Index k = rows.table_step == 0 ? pass_all_columns<Kernel, stores, TableRows::shared>(d, plan, run, rows)
                                       : pass_all_columns<Kernel, stores, TableRows::own>(d, plan, run, rows);
  if (k < run.count) tail_of_run<Kernel>(d, plan, run, k, rows);
}

template <class Kernel, Stores stores, class T>
void pass_tile(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block, const RowPlace& place, Index count) {
  const Rows<T> rows{block.x + place.x + plan.offset,
                     block.y + place.y + plan.offset,
                     block.cos + place.table,
                     block.sin + place.table,
                     count,
                     block.inner.x,
                     block.inner.y,
                     block.inner.table};
  if (block.x != block.y && plan.rotary_dims < plan.row_length) {
    for (Index row = 0; row < count; ++row) copy_outside<stores>(plan, rows.x + row * rows.x_step, rows.y + row * rows.y_step);
  }
  for (const Run& run : runs) pass_run<Kernel, stores>(plan, run, rows);
}

/// A row that moves its elements while x and y are the same memory.
template <class Kernel, class T>
void pass_copies(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  const auto dims = static_cast<std::size_t>(plan.rotary_dims);
  std::vector<T> copy_of_row(dims);
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < block.inner.count; ++i) {
      T* y = block.y + o * block.outer.y + i * block.inner.y + plan.offset;
      std::memcpy(static_cast<void*>(copy_of_row.data()), y, dims * sizeof(T));
      const Index table = o * block.outer.table + i * block.inner.table;
      const Rows<T> row{copy_of_row.data(), y, block.cos + table, block.sin + table, 1, 0, 0, 0};
      for (const Run& run : runs) pass_run<Kernel, Stores::cached>(plan, run, row);
    }
  }
}

/// Rows that are passed several times should stay in the first-level cache.
constexpr Index tile_bytes = 8 * 1024;

template <class Kernel, Stores stores, std::size_t count, class D, class T>
void pass_whole_rows(D d, const RowPlan& plan, const Run& run, const RowBlock<T, Widened<T>>& block) {
  if (block.x != block.y && plan.rotary_dims < plan.row_length) {
    pass_whole_rows<Kernel, stores, Outside::copied, count>(d, plan, run, block);
  } else {
    pass_whole_rows<Kernel, stores, Outside::untouched, count>(d, plan, run, block);
  }
}

/// Calls pass_whole_rows if windows are 1, 2, 4 or 8 columns that registers can hold.
template <class Kernel, Stores stores, class D, class T>
bool pass_whole_rows_if_they_fit(D d, const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  constexpr int most = std::max(1, coefficient_registers / Kernel::template Column<D>::registers);
  constexpr Index column_dims = 2 * static_cast<Index>(hn::MaxLanes(D())) * Kernel::pairs_per_lane;
  if (block.inner.table != 0 || runs.count != 1) return false;
  const Run& run = *runs.begin();
  if (plan.rotary_dims == column_dims) {
    pass_whole_rows<Kernel, stores, 1>(d, plan, run, block);
  } else if (most >= 2 && plan.rotary_dims == 2 * column_dims) {
    pass_whole_rows<Kernel, stores, std::min(most, 2)>(d, plan, run, block);
  } else if (most >= 4 && plan.rotary_dims == 4 * column_dims) {
    pass_whole_rows<Kernel, stores, std::min(most, 4)>(d, plan, run, block);
  } else if (most >= 8 && plan.rotary_dims == 8 * column_dims) {
    pass_whole_rows<Kernel, stores, std::min(most, 8)>(d, plan, run, block);
  } else if constexpr (Kernel::pairs_per_lane == 2 && stores == Stores::cached && hn::MaxLanes(D()) >= 8) {
    // A column of half a vector, where a full one holds more pairs than there are.
    const hn::CappedTag<Widened<T>, hn::MaxLanes(D()) / 2> shorter;
    if (2 * plan.rotary_dims != column_dims) return false;
    pass_whole_rows<Kernel, stores, 1>(shorter, plan, run, block);
  } else {
    return false;
  }
  return true;
}

template <class Kernel, Stores stores, class T>
void tile_rows(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  const Index row_bytes = plan.row_length * static_cast<Index>(sizeof(T));
  const Index tile = stores == Stores::streaming && inner.table == 0 ? 1 : std::max<Index>(1, tile_bytes / row_bytes);
  for (Index o = 0; o < outer.count; ++o) {
    for (Index i = 0; i < inner.count; i += tile) {
      pass_tile<Kernel, stores>(plan, runs, block,
                                {o * outer.x + i * inner.x, o * outer.y + i * inner.y, o * outer.table + i * inner.table},
                                std::min(tile, inner.count - i));
    }
  }
}

template <class Kernel, Stores stores, class T>
void choose_passes(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  const hn::ScalableTag<Widened<T>> d;
  if (!pass_whole_rows_if_they_fit<Kernel, stores>(d, plan, runs, block)) tile_rows<Kernel, stores>(plan, runs, block);
}

/// Outer steps that go together where they share the table rows of the inner level (heads outside tokens): each table row is loaded once
/// for all of them, and memory delivers several streams faster than one. More would not fit the ways of the first-level cache.
template <class T>
constexpr Index streams_together = sizeof(T) == 2 ? 3 : 4;

template <class Kernel, Stores stores, class T>
void tile_streams(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  const RowSteps heads = block.outer;
  for (Index first = 0; first < heads.count; first += streams_together<T>) {
    RowBlock<T, Widened<T>> part = block;
    part.x += first * heads.x;
    part.y += first * heads.y;
    part.inner = {std::min(streams_together<T>, heads.count - first), heads.x, heads.y, 0};
    part.outer = block.inner;
    choose_passes<Kernel, stores>(plan, runs, part);
  }
}

template <class Kernel, Stores stores, class T>
void choose_order(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  const bool tables_repeat = block.inner.table != 0 && block.outer.table == 0 && block.outer.count > 1;
  tables_repeat ? tile_streams<Kernel, stores>(plan, runs, block) : choose_passes<Kernel, stores>(plan, runs, block);
}

/// Whether a row of y ends where the next begins, or every row is whole cache lines.
template <class T>
bool fills_lines(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  const RowSteps& inner = block.inner;
  const RowSteps& outer = block.outer;
  const Index length = plan.row_length;
  const bool joined_inside = inner.count == 1 || inner.y == length;
  const bool joined_outside = outer.count == 1 || outer.y == inner.count * length;
  if (joined_inside && joined_outside) return true;
  const auto whole = [](Index elements) { return elements * static_cast<Index>(sizeof(T)) % 64 == 0; };
  return reinterpret_cast<std::uintptr_t>(block.y) % 64 == 0 && whole(length) && whole(inner.y) && whole(outer.y);
}

/// Whether every store would be one of 16 aligned bytes and every line would be filled: one written partly past the cache costs hundreds of
/// nanoseconds.
template <class Kernel, class T>
bool can_stream(const RowPlan& plan, const Runs& runs, const RowBlock<T, Widened<T>>& block) {
  const hn::ScalableTag<Widened<T>> d;
  constexpr Index column_pairs = static_cast<Index>(hn::MaxLanes(d)) * Kernel::pairs_per_lane;
  const auto aligned = [](Index elements) { return elements * static_cast<Index>(sizeof(T)) % 16 == 0; };
  for (const Run& run : runs) {
    if (run.count % column_pairs != 0 || !aligned(run.out_a) || (run.out_step == 1 && !aligned(run.out_b))) return false;
  }
  if ((Kernel::out_step == 2 && !Kernel::streams_adjacent) || !fills_lines(plan, block)) return false;
  return reinterpret_cast<std::uintptr_t>(block.y) % 16 == 0 && aligned(block.inner.y) && aligned(block.outer.y) && aligned(plan.offset) &&
         aligned(plan.rotary_dims) && aligned(plan.row_length);
}

template <class Kernel, class T>
void choose_stores(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  const Runs runs = runs_of(plan);
  if (block.x == block.y && plan.permutes()) return pass_copies<Kernel>(plan, runs, block);
  if (block.stores == Stores::streaming && can_stream<Kernel>(plan, runs, block)) {
    choose_order<Kernel, Stores::streaming>(plan, runs, block);
    hwy::FlushStream();
  } else {
    choose_order<Kernel, Stores::cached>(plan, runs, block);
  }
}

template <TableWidth width, class T>
void choose_kernel(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  constexpr bool is_bfloat16 = std::is_same_v<T, Eigen::bfloat16>;
  using Separate = std::conditional_t<is_bfloat16, EvenOddKernel<width>, ApartKernel<Members::separate, Members::separate, width, T>>;
  using Adjacent = std::conditional_t<is_bfloat16, ApartKernel<Members::adjacent, Members::adjacent, width, T>, NeighbourKernel<width, T>>;
  switch (plan.kind) {
    case PairKind::split_half:
    case PairKind::quarter: return choose_stores<Separate>(plan, block);
    case PairKind::interleaved: return choose_stores<Adjacent>(plan, block);
    case PairKind::interleaved_to_split_half: break;
  }
  if (plan.direction == Direction::forward) {
    choose_stores<ApartKernel<Members::adjacent, Members::separate, width, T>>(plan, block);
  } else {
    choose_stores<ApartKernel<Members::separate, Members::adjacent, width, T>>(plan, block);
  }
}

template <class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  plan.full_width ? choose_kernel<TableWidth::full>(plan, block) : choose_kernel<TableWidth::half>(plan, block);
}

#else

template <class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  rotate_rows_plainly(plan, block);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
