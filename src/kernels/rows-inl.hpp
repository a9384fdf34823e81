// SPDX-License-Identifier: Apache-2.0
//
// The row kernels: one block of rows (eigen_rope/rows/detail/rows.hpp), rotated with the vectors of
// one target.
//
// The way of a block, step by step:
//
//   rotate_block    -> choose_kernel (pairing, table width): the steps that follow take the
//                   kernel's passes as values
//   choose_stores   through the caches or past them (stores-inl.hpp); pass_copies where rows move
//                   their elements within the same memory
//   choose_order    in which order rows are passed (order-inl.hpp)
//   passes          what happens to a row (passes-inl.hpp, columns-inl.hpp, values-inl.hpp)
//
// Nothing outside a row is read or written. From choose_order on, pointers are those of the window.
// Compiled once per target. walk.hpp chooses the rows, and rows.hpp widens 16-bit tables.
#if defined(EIGEN_ROPE_KERNEL_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_ROWS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "eigen_rope/numbers/detail/scratch.hpp"
#include "kernels/stores-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

constexpr RowSteps one_row{1, 0, 0, 0};

/// A row that moves its elements while x and y are the same memory.
template <class T>
void pass_copies(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                 const Tile<T>& block) {
  const auto dims = static_cast<std::size_t>(plan.rotary_dims);
  Scratch<T> copy_of_row(plan.rotary_dims);
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < block.inner.count; ++i) {
      T* y = block.y + o * block.outer.y + i * block.inner.y + plan.offset;
      std::memcpy(static_cast<void*>(copy_of_row.data()), y, dims * sizeof(T));
      const Index table = o * block.outer.table + i * block.inner.table;
      const Tile<T> row{
          {copy_of_row.data(), y, block.cos + table, block.sin + table, one_row, one_row}};
      for (const Run& run : runs) kernel.cached(plan, run, row);
    }
  }
}

/// Rows begin at `tile`; behind this step its pointers are those of the window.
template <class T>
void choose_stores(const KernelOf<T>& kernel, const RowPlan& plan, Tile<T>& tile) {
  const Runs runs = runs_of(plan);
  if (tile.x == tile.y && plan.permutes()) return pass_copies(kernel, plan, runs, tile);
  const KernelOf<T>* chosen = &kernel;
  if (tile.stores == Stores::cached) {
    if (tile.x != tile.y && join_across_lines(kernel, plan, runs, tile)) return;
  } else {
    chosen = streaming_kernel(kernel, plan, runs, tile);
    if (chosen == nullptr || leaves_lines_open(*chosen, plan, tile)) {
      if (join_past_caches(kernel, plan, runs, tile)) return;
      if (write_lines(kernel, plan, runs, tile)) return;
    }
    if (chosen == nullptr) {
      tile.stores = Stores::cached;
      chosen = &kernel;
    }
  }
  choose_levels(kernel, plan, tile);
  tile.x += plan.offset;
  tile.y += plan.offset;
  if (prefers_one_head(plan, tile) && pass_head_by_head(kernel, plan, runs, tile)) return;
  // Rows in place need half the ways.
  const bool may_be_more = tile.x == tile.y && !outgrows_cache(plan, tile);
  tile.streams = streams_of(tile.inner, tile.outer, most_streams * (may_be_more ? 2 : 1));
  choose_order(*chosen, plan, runs, tile);
  if (tile.stores == Stores::streaming) end_streamed_block(tile);
}

template <TableWidth width, class T>
const KernelOf<T>& choose_kernel(const RowPlan& plan) {
  constexpr bool is_bfloat16 = std::is_same_v<T, Eigen::bfloat16>;
  using Separate = std::conditional_t<is_bfloat16, EvenOddKernel<width>,
                                      ApartKernel<Members::separate, Members::separate, width, T>>;
  using Adjacent =
      std::conditional_t<is_bfloat16, ApartKernel<Members::adjacent, Members::adjacent, width, T>,
                         NeighbourKernel<width, T>>;
  switch (plan.kind) {
    case PairKind::split_half:
    case PairKind::quarter: return kernel_of<Separate>();
    case PairKind::interleaved: return kernel_of<Adjacent>();
    case PairKind::interleaved_to_split_half: break;
  }
  if (plan.direction == Direction::forward)
    return kernel_of<ApartKernel<Members::adjacent, Members::separate, width, T>>();
  return kernel_of<ApartKernel<Members::separate, Members::adjacent, width, T>>();
}

template <class T>
const KernelOf<T>& kernel_for(const RowPlan& plan) {
  return plan.full_width ? choose_kernel<TableWidth::full, T>(plan)
                         : choose_kernel<TableWidth::half, T>(plan);
}

template <class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, Widened<T>>& rows) {
  Tile<T> tile;
  tile.x = read_alone(rows.x);
  tile.y = read_alone(rows.y);
  tile.cos = read_alone(rows.cos);
  tile.sin = read_alone(rows.sin);
  tile.inner = read_alone(rows.inner);
  tile.outer = read_alone(rows.outer);
  tile.stores = read_alone(rows.stores);
  tile.fence = read_alone(rows.fence);
  choose_stores(kernel_for<T>(plan), plan, tile);
}

#else

template <class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, Widened<T>>& block) {
  rotate_rows_plainly(plan, block);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
