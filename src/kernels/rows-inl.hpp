// SPDX-License-Identifier: Apache-2.0
//
// The row kernels: one block of rows (eigen_rope/rows/detail/rows.hpp), rotated with the vectors of
// one target.
//
// The way of a block, step by step:
//
//   rotate_block    -> choose_kernel (pairing, table width): the steps that follow take the
//                   kernel's passes as values
//   choose_stores   through the caches or past them; pass_copies where rows move their elements
//                   within the same memory
//   choose_order    makes the rows of the inner level share a table row: heads outside tokens go a
//                   few together, rows with table rows of
//                   their own become the outer level
//   choose_passes   a window that is a few columns is one pass over the block; otherwise tile_rows,
//                   first-level-cache tiles -> pass_tile
//
// and the pass itself is in passes-inl.hpp. Nothing outside a row is read or written. From
// choose_order on, pointers are those of the window. Compiled once per target. walk.hpp chooses the
// rows, and rows.hpp widens 16-bit tables.
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
#include <vector>

#include "kernels/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// What the steps before pass_run know of a kernel.
template <class T>
struct KernelOf {
  using Pass = void (*)(const RowPlan&, const Run&, const RowBlock<T, Widened<T>>&);
  Pass cached;
  Pass streaming;          ///< Null where a kernel's stores go through the caches only.
  Pass cached_copying;     ///< As cached, what is outside the window copied; null where that goes
                           ///< apart.
  Pass streaming_copying;  ///< Likewise.
  Index column_pairs;      ///< Pairs of a column of whole vectors.
  Index most_pairs;        ///< Pairs that one pass rotates at most.
  Index least_pairs;       ///< Pairs of the shortest column that is vectors.
  Index least_pairs_copying;  ///< Likewise, of a pass that copies what is outside the window.

  Pass pass(Stores stores, Outside outside) const {
    if (outside == Outside::copied)
      return stores == Stores::streaming ? streaming_copying : cached_copying;
    return stores == Stores::streaming ? streaming : cached;
  }
};

template <class Kernel>
KernelOf<typename Kernel::T> kernel() {
  using T = typename Kernel::T;
  using D = hn::ScalableTag<Widened<T>>;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  KernelOf<T> result{};
  result.cached = pass_run<Kernel, Stores::cached, Outside::untouched, T>;
  if constexpr (Kernel::copies)
    result.cached_copying = pass_run<Kernel, Stores::cached, Outside::copied, T>;
  if constexpr (Kernel::out_step == 1 || Kernel::streams_adjacent) {
    result.streaming = pass_run<Kernel, Stores::streaming, Outside::untouched, T>;
    if constexpr (Kernel::copies)
      result.streaming_copying = pass_run<Kernel, Stores::streaming, Outside::copied, T>;
  }
  result.column_pairs = pairs;
  result.least_pairs_copying = half_columns_copy<Kernel> ? pairs / 2 : pairs;
  result.least_pairs = 16 / static_cast<Index>(sizeof(Widened<T>)) * Kernel::pairs_per_lane;
  result.most_pairs = pairs * most_columns<Kernel, D>;
  return result;
}

template <class T>
Outside outside_of(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  return block.x != block.y && plan.rotary_dims < plan.row_length ? Outside::copied
                                                                  : Outside::untouched;
}

template <class T>
void pass_tile(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
               const RowBlock<T, Widened<T>>& tile) {
  if (outside_of(plan, tile) == Outside::copied) {
    for (Index o = 0; o < tile.outer.count; ++o) {
      for (Index i = 0; i < tile.inner.count; ++i) {
        const T* x = tile.x + o * tile.outer.x + i * tile.inner.x;
        T* y = tile.y + o * tile.outer.y + i * tile.inner.y;
        tile.stores == Stores::streaming ? copy_outside<Stores::streaming>(plan, x, y)
                                         : copy_outside<Stores::cached>(plan, x, y);
      }
    }
  }
  for (const Run& run : runs) kernel.pass(tile.stores, Outside::untouched)(plan, run, tile);
}

/// Rows that are passed several times should stay in the first-level cache.
constexpr Index tile_bytes = 8 * 1024;

/// Tiles of the inner level; of the outer one where that is the only one.
template <class T>
void tile_rows(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
               const RowBlock<T, Widened<T>>& block) {
  const Index row_bytes = plan.row_length * static_cast<Index>(sizeof(T));
  const Index rows_of_tile = std::max<Index>(1, tile_bytes / row_bytes);
  const bool one_level = block.inner.count == 1;
  const Index outer_step = one_level ? rows_of_tile : 1;
  const Index inner_step = one_level || block.stores == Stores::streaming ? 1 : rows_of_tile;
  RowBlock<T, Widened<T>> tile = block;
  for (Index o = 0; o < block.outer.count; o += outer_step) {
    tile.cos = block.cos + o * block.outer.table;
    tile.sin = block.sin + o * block.outer.table;
    tile.outer.count = std::min(outer_step, block.outer.count - o);
    for (Index i = 0; i < block.inner.count; i += inner_step) {
      tile.x = block.x + o * block.outer.x + i * block.inner.x;
      tile.y = block.y + o * block.outer.y + i * block.inner.y;
      tile.inner.count = std::min(inner_step, block.inner.count - i);
      pass_tile(kernel, plan, runs, tile);
    }
  }
}

/// The pass that rotates whole windows at once, if there is one: they must be one run of 1, 2, 4 or
/// 8 columns that registers can hold, or, with nothing to be copied, of one shorter vector.
template <class T>
typename KernelOf<T>::Pass whole_pass(const KernelOf<T>& kernel, const Runs& runs, Stores stores,
                                      Outside outside) {
  const Index least = outside == Outside::copied ? kernel.least_pairs_copying : kernel.least_pairs;
  const Index pairs = runs.begin()->count;
  const bool fits =
      runs.count == 1 && (pairs & (pairs - 1)) == 0 && pairs >= least && pairs <= kernel.most_pairs;
  return fits ? kernel.pass(stores, outside) : nullptr;
}

template <class T>
void choose_passes(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                   const RowBlock<T, Widened<T>>& block) {
  const auto pass = whole_pass(kernel, runs, block.stores, outside_of(plan, block));
  pass != nullptr ? pass(plan, *runs.begin(), block) : tile_rows(kernel, plan, runs, block);
}

/// Outer steps that go together where they share the table rows of the inner level (heads outside
/// tokens): each table row is loaded once for all of them, and memory delivers several streams
/// faster than one. More would not fit the ways of the first-level cache.
template <class T>
constexpr Index streams_together = sizeof(T) == 2 ? 3 : 4;

/// Makes the rows of the inner level share their table row, as everything behind this expects.
template <class T>
void choose_order(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                  const RowBlock<T, Widened<T>>& block) {
  if (block.inner.table == 0) return choose_passes(kernel, plan, runs, block);
  const RowSteps outside = block.outer;
  const Index together = outside.table == 0 ? streams_together<T> : 1;
  RowBlock<T, Widened<T>> part = block;
  part.outer = block.inner;
  for (Index first = 0; first < outside.count; first += together) {
    part.x = block.x + first * outside.x;
    part.y = block.y + first * outside.y;
    part.cos = block.cos + first * outside.table;
    part.sin = block.sin + first * outside.table;
    part.inner = {std::min(together, outside.count - first), outside.x, outside.y, 0};
    choose_passes(kernel, plan, runs, part);
  }
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
  const auto whole = [](Index elements) {
    return elements * static_cast<Index>(sizeof(T)) % 64 == 0;
  };
  return reinterpret_cast<std::uintptr_t>(block.y) % 64 == 0 && whole(length) && whole(inner.y) &&
         whole(outer.y);
}

/// Whether every store would be one of 16 aligned bytes and every line would be filled: one written
/// partly past the cache costs hundreds of nanoseconds.
template <class T>
bool can_stream(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                const RowBlock<T, Widened<T>>& block) {
  if (kernel.streaming == nullptr || !fills_lines(plan, block)) return false;
  const auto aligned = [](Index elements) {
    return elements * static_cast<Index>(sizeof(T)) % 16 == 0;
  };
  for (const Run& run : runs) {
    if (run.count % kernel.column_pairs != 0 || !aligned(run.out_a) ||
        (run.out_step == 1 && !aligned(run.out_b)))
      return false;
  }
  return reinterpret_cast<std::uintptr_t>(block.y) % 16 == 0 && aligned(block.inner.y) &&
         aligned(block.outer.y) && aligned(plan.offset) && aligned(plan.rotary_dims) &&
         aligned(plan.row_length);
}

constexpr RowSteps one_row{1, 0, 0, 0};

/// A row that moves its elements while x and y are the same memory.
template <class T>
void pass_copies(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                 const RowBlock<T, Widened<T>>& block) {
  const auto dims = static_cast<std::size_t>(plan.rotary_dims);
  std::vector<T> copy_of_row(dims);
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < block.inner.count; ++i) {
      T* y = block.y + o * block.outer.y + i * block.inner.y + plan.offset;
      std::memcpy(static_cast<void*>(copy_of_row.data()), y, dims * sizeof(T));
      const Index table = o * block.outer.table + i * block.inner.table;
      const RowBlock<T, Widened<T>> row{copy_of_row.data(), y,       block.cos + table,
                                        block.sin + table,  one_row, one_row};
      for (const Run& run : runs) kernel.cached(plan, run, row);
    }
  }
}

template <class T>
void choose_stores(const KernelOf<T>& kernel, const RowPlan& plan,
                   const RowBlock<T, Widened<T>>& block) {
  const Runs runs = runs_of(plan);
  if (block.x == block.y && plan.permutes()) return pass_copies(kernel, plan, runs, block);
  RowBlock<T, Widened<T>> windows = block;
  windows.x += plan.offset;
  windows.y += plan.offset;
  if (block.stores == Stores::streaming && !can_stream(kernel, plan, runs, block))
    windows.stores = Stores::cached;
  choose_order(kernel, plan, runs, windows);
  if (windows.stores == Stores::streaming) hwy::FlushStream();
}

template <TableWidth width, class T>
KernelOf<T> choose_kernel(const RowPlan& plan) {
  constexpr bool is_bfloat16 = std::is_same_v<T, Eigen::bfloat16>;
  using Separate = std::conditional_t<is_bfloat16, EvenOddKernel<width>,
                                      ApartKernel<Members::separate, Members::separate, width, T>>;
  using Adjacent =
      std::conditional_t<is_bfloat16, ApartKernel<Members::adjacent, Members::adjacent, width, T>,
                         NeighbourKernel<width, T>>;
  switch (plan.kind) {
    case PairKind::split_half:
    case PairKind::quarter: return kernel<Separate>();
    case PairKind::interleaved: return kernel<Adjacent>();
    case PairKind::interleaved_to_split_half: break;
  }
  if (plan.direction == Direction::forward)
    return kernel<ApartKernel<Members::adjacent, Members::separate, width, T>>();
  return kernel<ApartKernel<Members::separate, Members::adjacent, width, T>>();
}

template <class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  choose_stores(plan.full_width ? choose_kernel<TableWidth::full, T>(plan)
                                : choose_kernel<TableWidth::half, T>(plan),
                plan, block);
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
