// SPDX-License-Identifier: Apache-2.0
//
// In which order the rows of a block are passed, and by which passes.
//
//   choose_order       makes the rows of the inner level share a table row: heads outside tokens go
//                      a few together, rows with table rows of their own become the outer level
//   pass_head_by_head  heads outside tokens one after the other, where that is faster
//   choose_passes      a window that is a few columns is one pass over the block; otherwise
//                      tile_rows, first-level-cache tiles -> pass_tile
//
// KernelOf has a kernel's passes (passes-inl.hpp) as values, so that what is here exists once for
// each scalar. Pointers are those of the window. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_ORDER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_ORDER_INL_HPP
#undef EIGEN_ROPE_KERNEL_ORDER_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_ORDER_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "kernels/four_rows-inl.hpp"
#include "kernels/joins-inl.hpp"
#include "kernels/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// What the steps before pass_run know of a kernel.
template <class T>
struct KernelOf {
  using Pass = void (*)(const RowPlan&, const Run&, const Tile<T>&);
  Pass cached;
  Pass streaming;            ///< Null where a kernel's stores go through the caches only.
  Pass cached_copying;       ///< As cached, what is outside the window copied; null where that goes
                             ///< apart.
  Pass streaming_copying;    ///< Likewise.
  Pass four_rows;            ///< Four rows that lie apart, through the caches, or null.
  Pass four_rows_streaming;  ///< Likewise, past them.
  Index four_rows_pairs;     ///< What the pairs of a row must be a multiple of for either.
  Pass writing_lines;  ///< Through the caches, for a writer; null where the tile waits for it.
  Pass joining;        ///< Into memory that begins anywhere, or null.
  const KernelOf* narrower;  ///< With half as long vectors, whose stores go past the cache only, or
                             ///< null.
  Index column_pairs;        ///< Pairs of a column of whole vectors.
  Index store_bytes;         ///< What stores past the cache must be aligned to.
  bool two_stores;           ///< Whether a column is written to two places of a row.
  bool halves_lines;         ///< Whether either gets less than a line, of coefficients that take
                             ///< little to prepare.
  Index least_pairs;         ///< Pairs of the shortest column that is vectors.
  Index least_pairs_copying;  ///< Likewise, of a pass that copies what is outside the window.

  Pass pass(Stores stores, AfterRow after) const {
    if (after == AfterRow::writes_lines) return writing_lines;
    if (after == AfterRow::copies)
      return stores == Stores::streaming ? streaming_copying : cached_copying;
    return stores == Stores::streaming ? streaming : cached;
  }
};

template <class Kernel, class D>
constexpr Index store_bytes = std::max<Index>(16, static_cast<Index>(hn::MaxLanes(D()) *
                                                                     Kernel::bytes_per_lane));

template <class Kernel, class D>
constexpr const KernelOf<typename Kernel::T>* narrower_kernel();

/// Columns of D, which are stored past the cache only.
template <class Kernel, class D>
constexpr KernelOf<typename Kernel::T> make_narrow_kernel() {
  using T = typename Kernel::T;
  KernelOf<T> result{};
  result.streaming = stream_run<Kernel, D, T>;
  result.narrower = narrower_kernel<Kernel, D>();
  result.column_pairs = pairs_of_column<Kernel, D>;
  result.store_bytes = store_bytes<Kernel, D>;
  return result;
}

template <class Kernel, class D>
struct NarrowKernel {
  static constexpr KernelOf<typename Kernel::T> kernel = make_narrow_kernel<Kernel, D>();
};

/// The kernel for vectors half as long as those of D, if a column of D is more than 8 pairs: heads
/// are usually multiples of 16 elements.
template <class Kernel, class D>
constexpr const KernelOf<typename Kernel::T>* narrower_kernel() {
  constexpr bool streams = Kernel::is_common && (Kernel::out_step == 1 || Kernel::streams_adjacent);
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  if constexpr (streams && pairs > 8) return &NarrowKernel<Kernel, hn::Half<D>>::kernel;
  return nullptr;
}

template <class Kernel>
constexpr KernelOf<typename Kernel::T> make_kernel() {
  using T = typename Kernel::T;
  using D = hn::ScalableTag<Widened<T>>;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  KernelOf<T> result{};
  result.cached = pass_run<Kernel, Stores::cached, AfterRow::nothing, T>;
  if constexpr (Kernel::is_common) {
    result.cached_copying = pass_run<Kernel, Stores::cached, AfterRow::copies, T>;
    if constexpr (HWY_TARGET != HWY_SSE4) {
      result.four_rows = pass_four_rows<Kernel, Stores::cached, T>;
      result.four_rows_streaming = pass_four_rows<Kernel, Stores::streaming, T>;
      result.four_rows_pairs = columns_of_line<Kernel> * pairs;
    }
    result.writing_lines = pass_run<Kernel, Stores::cached, AfterRow::writes_lines, T>;
  }
  if constexpr (Kernel::out_step == 1 || Kernel::streams_adjacent) {
    result.streaming = pass_run<Kernel, Stores::streaming, AfterRow::nothing, T>;
    if constexpr (Kernel::is_common)
      result.streaming_copying = pass_run<Kernel, Stores::streaming, AfterRow::copies, T>;
  }
  if constexpr (joins<Kernel, D>) result.joining = join_run<Kernel, D, T>;
  result.narrower = narrower_kernel<Kernel, D>();
  result.column_pairs = pairs;
  result.store_bytes = store_bytes<Kernel, D>;
  result.two_stores = Kernel::two_stores;
  result.halves_lines =
      Kernel::two_stores && store_bytes<Kernel, D> < 64 && !std::is_same_v<T, Eigen::bfloat16>;
  result.least_pairs_copying = half_columns_copy<Kernel> ? pairs / 2 : pairs;
  result.least_pairs = 16 / static_cast<Index>(sizeof(Widened<T>)) * Kernel::pairs_per_lane;
  return result;
}

template <class Kernel>
const KernelOf<typename Kernel::T>& kernel_of() {
  static constexpr KernelOf<typename Kernel::T> kernel = make_kernel<Kernel>();
  return kernel;
}

/// What rows need besides being rotated, writers left aside.
template <class T>
AfterRow after_row(const RowPlan& plan, const Tile<T>& block) {
  return block.x != block.y && plan.rotary_dims < plan.row_length ? AfterRow::copies
                                                                  : AfterRow::nothing;
}

template <class T>
void pass_tile(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
               const Tile<T>& tile) {
  if (after_row(plan, tile) == AfterRow::copies) {
    const OutsideOfWindow outside(plan);
    for (Index o = 0; o < tile.outer.count; ++o) {
      for (Index i = 0; i < tile.inner.count; ++i) {
        const T* x = tile.x + o * tile.outer.x + i * tile.inner.x;
        T* y = tile.y + o * tile.outer.y + i * tile.inner.y;
        tile.stores == Stores::streaming ? outside.copy_row<Stores::streaming>(x, y)
                                         : outside.copy_row<Stores::cached>(x, y);
      }
    }
  }
  for (const Run& run : runs) kernel.pass(tile.stores, AfterRow::nothing)(plan, run, tile);
}

/// Rows that are passed several times should stay in the first-level cache.
constexpr Index tile_bytes = 8 * 1024;

/// Tiles of the inner level; of the outer one where that is the only one.
template <class T>
void tile_rows(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
               const Tile<T>& block) {
  const Index row_bytes = plan.row_length * static_cast<Index>(sizeof(T));
  const Index rows_of_tile = std::max<Index>(1, tile_bytes / row_bytes);
  const bool one_level = block.inner.count == 1;
  const Index outer_step = one_level ? rows_of_tile : 1;
  const Index inner_step = one_level || block.stores == Stores::streaming ? 1 : rows_of_tile;
  Tile<T> tile = block;
  tile.lines = nullptr;
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

/// The pass that rotates whole windows at once, if there is one: they must be one run of a column
/// or more, also of shorter vectors.
template <class T>
typename KernelOf<T>::Pass whole_pass(const KernelOf<T>& kernel, const Runs& runs, Stores stores,
                                      AfterRow after) {
  const Index pairs = runs.begin()->count;
  if (runs.count != 1 || pairs > most_pairs_in_memory) return nullptr;
  if (pairs >= kernel.column_pairs) return kernel.pass(stores, after);
  if (after == AfterRow::writes_lines) return nullptr;
  const Index least = after == AfterRow::copies ? kernel.least_pairs_copying : kernel.least_pairs;
  return pairs >= least ? kernel.pass(stores, after) : nullptr;
}

/// Whether rows may go four at a time: they are whole lines of either member, and are not turned
/// back.
template <class T>
bool takes_four_rows(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                     const Tile<T>& block) {
  return kernel.four_rows != nullptr && plan.direction != Direction::inverse && runs.count == 1 &&
         runs.begin()->count % kernel.four_rows_pairs == 0 &&
         after_row(plan, block) == AfterRow::nothing;
}

/// The pass for four rows that lie apart and share a table row, if the block's inner level is that.
template <class T>
typename KernelOf<T>::Pass pass_of_four(const KernelOf<T>& kernel, const RowPlan& plan,
                                        const Runs& runs, const Tile<T>& block) {
  const bool apart =
      block.inner.count == 4 && block.outer.count > 1 && reads_streams_in_turn(block);
  if (!apart || !takes_four_rows(kernel, plan, runs, block)) return nullptr;
  if (block.stores == Stores::cached) return kernel.four_rows;
  // Two members that are stored past the caches go faster a row at a time, asked for early.
  return kernel.two_stores && !is_16_bit<T> ? nullptr : kernel.four_rows_streaming;
}

/// The pass for all rows of a block, or null. A writer that no pass feeds takes its rows when the
/// tile is done.
template <class T>
HWY_INLINE typename KernelOf<T>::Pass pass_of_block(const KernelOf<T>& kernel, const RowPlan& plan,
                                                    const Runs& runs, const Tile<T>& block) {
  if (block.stretches != nullptr) return kernel.joining;
  const auto pass = block.lines != nullptr
                        ? whole_pass(kernel, runs, block.stores, AfterRow::writes_lines)
                        : pass_of_four(kernel, plan, runs, block);
  return pass != nullptr ? pass : whole_pass(kernel, runs, block.stores, after_row(plan, block));
}

template <class T>
HWY_INLINE void choose_passes(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                              const Tile<T>& block) {
  const auto pass = pass_of_block(kernel, plan, runs, block);
  pass != nullptr ? pass(plan, *runs.begin(), block) : tile_rows(kernel, plan, runs, block);
}

/// Heads outside tokens that go together at most: more would not fit the ways of the first-level
/// cache.
constexpr Index most_streams = 4;

/// How many outer steps go together, `most` at most. Where they share the table rows of the inner
/// level (heads outside tokens), each table row is loaded once for all of them, and memory delivers
/// several streams faster than one.
inline Index streams_of(const RowSteps& inner, const RowSteps& outer, Index most) {
  const bool shares_table = inner.table != 0 && outer.table == 0;
  return shares_table ? std::min(most, outer.count) : 1;
}

template <class T>
Index bytes_of(Index elements) {
  return elements * static_cast<Index>(sizeof(T));
}

/// Whether the block outgrows a second-level cache.
template <class T>
bool outgrows_cache(const RowPlan& plan, const Tile<T>& block) {
  return bytes_of<T>(block.inner.count * block.outer.count * plan.row_length) *
             (block.x == block.y ? 1 : 2) >
         near_caches;
}

/// Whether heads go a few together, for all tokens before the next few, rather than all heads of a
/// token. Few of them read and write long stretches of memory; all of them share what a token's
/// coefficients take to prepare.
template <class T>
bool prefers_few(const KernelOf<T>& kernel, const RowPlan& plan, const RowSteps& heads,
                 const RowSteps& tokens, const Tile<T>& block) {
  constexpr Index bytes_of_sets = 2048;
  if (outgrows_cache(plan, block))
    return std::abs(heads.x) > std::abs(tokens.x) && std::abs(heads.y) > std::abs(tokens.y);
  // Rows so far apart share sets of the first-level cache, which holds 8 or 12 lines of each. Lines
  // that are written in two parts may leave it between them, and so do those of x and y where both
  // lie in the same sets.
  if (heads.y == plan.row_length || bytes_of<T>(heads.y) % bytes_of_sets != 0) return false;
  if (block.x == block.y) return kernel.two_stores && !is_16_bit<T>;
  if (std::is_same_v<T, double>) return kernel.halves_lines;
  return kernel.halves_lines || heads.x == heads.y;
}

/// Makes tokens the inner level where few heads go together, and heads where all do.
template <class T>
void choose_levels(const KernelOf<T>& kernel, const RowPlan& plan, Tile<T>& block) {
  const bool tokens_inside = block.inner.table != 0;
  const RowSteps& heads = tokens_inside ? block.outer : block.inner;
  const RowSteps& tokens = tokens_inside ? block.inner : block.outer;
  if (heads.table != 0 || tokens.table == 0 || heads.count == 1 || tokens.count == 1) return;
  if (prefers_few(kernel, plan, heads, tokens, block) != tokens_inside)
    std::swap(block.inner, block.outer);
}

/// Makes the rows of the inner level share their table row, as every pass expects. Calls
/// pass(tile).
template <class T, class Pass>
HWY_INLINE void pass_in_order(const Tile<T>& block, const Pass& pass) {
  if (block.inner.table == 0) return pass(block);
  const RowSteps outside = block.outer;
  Tile<T> part = block;
  part.outer = block.inner;
  for (Index first = 0; first < outside.count; first += block.streams) {
    part.x = block.x + first * outside.x;
    part.y = block.y + first * outside.y;
    part.cos = block.cos + first * outside.table;
    part.sin = block.sin + first * outside.table;
    part.inner = {std::min(block.streams, outside.count - first), outside.x, outside.y, 0};
    pass(part);
  }
}

/// Whether the block's outer level is heads, of which each has its tokens one behind the other.
template <class T>
bool has_heads_outside(const Tile<T>& block) {
  return block.inner.table != 0 && block.outer.table == 0 &&
         std::abs(block.outer.x) > std::abs(block.inner.x);
}

/// Whether heads outside tokens go one after the other, through the caches near the processor:
/// there a table row is loaded anew faster than four heads that share sets of the first-level cache
/// are read and written. Elements of 16 bits have coefficients that take longer to prepare.
template <class T>
bool prefers_one_head(const RowPlan& plan, const Tile<T>& block) {
  return has_heads_outside(block) && !is_16_bit<T> && block.x != block.y &&
         block.stores == Stores::cached && !outgrows_cache(plan, block);
}

/// One head after the other. Returns false, without having written, where no pass takes whole rows.
template <class T>
bool pass_head_by_head(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                       const Tile<T>& block) {
  Tile<T> head = block;
  head.outer = block.inner;
  head.inner = {1, 0, 0, 0};
  const auto pass = pass_of_block(kernel, plan, runs, head);
  if (pass == nullptr) return false;
  for (Index left = block.outer.count; left > 0; --left) {
    pass(plan, *runs.begin(), head);
    head.x += block.outer.x;
    head.y += block.outer.y;
  }
  return true;
}

template <class T>
void choose_order(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                  const Tile<T>& block) {
  pass_in_order(block, [&](const Tile<T>& tile) { choose_passes(kernel, plan, runs, tile); });
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
