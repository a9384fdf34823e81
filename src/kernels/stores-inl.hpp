// SPDX-License-Identifier: Apache-2.0
//
// Rows past the caches, and rows that stores through the caches would take across lines.
//
//   fills_vectors      whether a pass can store whole aligned vectors that fill y's lines
//   join_past_caches   otherwise, or where lines would be left open: rows of whole columns are
//                      joined to whole vectors (joins-inl.hpp)
//   write_lines        all others are written to memory in the first-level cache, a few at a time,
//                      and a LineWriter takes them to y in whole lines, wherever y lies
//   join_across_lines  rows of whole columns joined to whole vectors, through the caches
//
// Rows that follow each other in y share a writer. Heads outside tokens have a writer each, a few
// at a time. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_STORES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_STORES_INL_HPP
#undef EIGEN_ROPE_KERNEL_STORES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_STORES_INL_HPP
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/order-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Behind the last row of a block of which a part, at least, was stored past the caches.
template <class T>
void end_streamed_block(const Tile<T>& block) {
  if (block.fence == Fence::of_block) hwy::FlushStream();
}

/// Whether a row of y ends where the next begins, or every row is whole cache lines.
template <class T>
bool fills_lines(const RowPlan& plan, const Tile<T>& block) {
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

template <class T>
bool is_whole_columns(const KernelOf<T>& kernel, const Runs& runs) {
  bool whole = true;
  for (const Run& run : runs) whole = whole && run.count % kernel.column_pairs == 0;
  return whole;
}

/// Whether every store would be a whole vector, aligned, and every line would be filled: one
/// written partly past the cache costs hundreds of nanoseconds.
template <class T>
bool fills_vectors(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                   const Tile<T>& block) {
  if (kernel.streaming == nullptr || !fills_lines(plan, block)) return false;
  constexpr auto copied = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<std::uint8_t>()));
  const Index vector = plan.rotary_dims < plan.row_length ? copied : kernel.store_bytes;
  const auto aligned = [vector](Index elements) {
    return elements * static_cast<Index>(sizeof(T)) % vector == 0;
  };
  if (!is_whole_columns(kernel, runs)) return false;
  for (const Run& run : runs) {
    if (!aligned(run.out_a) || (run.out_step == 1 && !aligned(run.out_b))) return false;
  }
  return reinterpret_cast<std::uintptr_t>(block.y) % static_cast<std::uintptr_t>(vector) == 0 &&
         aligned(block.inner.y) && aligned(block.outer.y) && aligned(plan.offset) &&
         aligned(plan.rotary_dims) && aligned(plan.row_length);
}

/// The kernel with the longest vectors that make up the runs, if it can store them, or null.
template <class T>
const KernelOf<T>* streaming_kernel(const KernelOf<T>& kernel, const RowPlan& plan,
                                    const Runs& runs, const Tile<T>& block) {
  const KernelOf<T>* found = &kernel;
  while (found->narrower != nullptr && !is_whole_columns(*found, runs)) found = found->narrower;
  return fills_vectors(*found, plan, runs, block) ? found : nullptr;
}

/// The memory of the writers that are used at a time.
template <class T>
class Writers {
 public:
  static constexpr auto most = static_cast<std::size_t>(most_streams);
  static constexpr Index room_of_each = 2 * 1024;
  static constexpr Index stride = static_cast<Index>(LineWriter::line) + room_of_each;
  /// Of the first writer where no other is used.
  static constexpr Index room = most_streams * room_of_each;
  /// Of the rows that go together where each stream has a writer: few, since those that follow are
  /// asked for all at once.
  static constexpr Index tile_of_each = 512;

  Writers() {
    for (std::size_t w = 0; w < most; ++w)
      lines_[w] = LineWriter(memory_ + w * static_cast<std::size_t>(stride));
  }

  LineWriter& operator[](Index w) { return lines_[w]; }
  /// Where the rows of the first writer go.
  T* rows() const { return reinterpret_cast<T*>(lines_[0].rows()); }

 private:
  alignas(LineWriter::line) unsigned char memory_[most * static_cast<std::size_t>(stride)];
  LineWriter lines_[most];
};

/// Whether a writer gets rows when a tile of them is done, rather than one by one: beside a writer
/// coefficients do not stay in registers, which costs more than waiting where rows are short.
template <class T>
bool waits_for_tile(const RowPlan& plan) {
  constexpr Index least_bytes_told_of = 384;
  return bytes_of<T>(plan.row_length) < least_bytes_told_of;
}

/// How many rows go together at most, so that all tiles of `count` rows are about as large.
inline Index rows_of_even_tiles(Index count, Index most) {
  const Index tiles = (count + most - 1) / most;
  return (count + tiles - 1) / tiles;
}

/// Rows that lie one behind the other in y, at most `at_once` at a time through one writer.
template <class T>
void write_stretch(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs, Tile<T> tile,
                   Index at_once) {
  const RowSteps inner = tile.inner;
  const RowSteps outer = tile.outer;
  const Tile<T> all = tile;
  const Index inner_step = rows_of_even_tiles(inner.count, at_once);
  const Index outer_step = std::max<Index>(1, at_once / inner.count);
  Writers<T> writers;
  LineWriter& line = writers[0];
  line.begin(all.y);
  tile.y = writers.rows() + plan.offset;
  tile.lines = waits_for_tile<T>(plan) ? nullptr : &line;
  for (Index o = 0; o < outer.count; o += outer_step) {
    const Index outer_count = std::min(outer_step, outer.count - o);
    for (Index i = 0; i < inner.count; i += inner_step) {
      const Index inner_count = std::min(inner_step, inner.count - i);
      const Index table = o * outer.table + i * inner.table;
      tile.x = all.x + o * outer.x + i * inner.x + plan.offset;
      tile.cos = all.cos + table;
      tile.sin = all.sin + table;
      tile.inner = {inner_count, inner.x, plan.row_length, inner.table};
      tile.outer = {outer_count, outer.x, inner_count * plan.row_length, outer.table};
      line.begin_rows();
      choose_order(kernel, plan, runs, tile);
      line.end_rows(static_cast<std::size_t>(inner_count * outer_count * plan.row_length) *
                    sizeof(T));
    }
  }
  line.end();
}

/// Asks for the rows of the tile that follows `tile` in each of its streams, `count` of them. GCC
/// would leave out a call of a function that does nothing else.
template <class T>
HWY_INLINE void ask_for_next_tile(const RowPlan& plan, const Tile<T>& tile, Index count) {
  const T* next = tile.x - plan.offset + tile.inner.count * tile.inner.x;
  for (Index i = 0; i < count; ++i, next += tile.inner.x)
    for (Index o = 0; o < tile.outer.count; ++o) ask_for(next + o * tile.outer.x, plan.row_length);
}

/// Outer steps that share table rows: each of the `tile.streams` that go together has a writer.
template <class T>
void write_streams(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs, Tile<T> tile,
                   Index at_once) {
  const RowSteps inner = tile.inner;
  const RowSteps outer = tile.outer;
  const Tile<T> all = tile;
  Writers<T> writers;
  tile.y = writers.rows() + plan.offset;
  for (Index o = 0; o < outer.count; o += all.streams) {
    const Index used = std::min(all.streams, outer.count - o);
    for (Index w = 0; w < used; ++w) writers[w].begin(all.y + (o + w) * outer.y);
    for (Index i = 0; i < inner.count; i += at_once) {
      const Index count = std::min(at_once, inner.count - i);
      tile.x = all.x + o * outer.x + i * inner.x + plan.offset;
      tile.cos = all.cos + i * inner.table;
      tile.sin = all.sin + i * inner.table;
      tile.inner = {count, inner.x, plan.row_length, inner.table};
      tile.outer = {used, outer.x, Writers<T>::stride / static_cast<Index>(sizeof(T)), 0};
      ask_for_next_tile(plan, tile, std::min(at_once, inner.count - i - count));
      choose_order(kernel, plan, runs, tile);
      for (Index w = 0; w < used; ++w)
        writers[w].end_rows(static_cast<std::size_t>(count * plan.row_length) * sizeof(T));
    }
    for (Index w = 0; w < used; ++w) writers[w].end();
  }
}

/// Rows of a block that follow each other in y.
template <class T>
class RowsInSequence {
 public:
  /// The level whose rows follow each other is the inner one; outer steps that share table rows go
  /// together.
  RowsInSequence(const RowPlan& plan, const Tile<T>& block)
      : tile(block), length_(plan.row_length) {
    if (tile.inner.count > 1 && tile.inner.y != length_ && tile.outer.y == length_)
      std::swap(tile.inner, tile.outer);
    tile.streams = streams_of(tile.inner, tile.outer, most_streams);
  }

  /// Whether any do.
  explicit operator bool() const { return tile.inner.count == 1 || tile.inner.y == length_; }
  /// Whether all of them do.
  bool all() const { return tile.outer.count == 1 || tile.outer.y == tile.inner.count * length_; }
  /// Whether they are written one after the other.
  bool one_stretch() const { return all() && tile.streams == 1; }

  Tile<T> tile;

 private:
  Index length_;
};

/// Whether rows of y end within a line, so that vectors of two rows share it.
template <class T>
bool share_lines(const KernelOf<T>& kernel, const RowPlan& plan, const Tile<T>& block) {
  constexpr std::uintptr_t line = LineWriter::line;
  const auto vector = static_cast<std::uintptr_t>(kernel.store_bytes);
  return reinterpret_cast<std::uintptr_t>(block.y) % line >= vector ||
         static_cast<std::uintptr_t>(bytes_of<T>(plan.row_length)) % line >= vector;
}

/// Whether such lines would wait for a head's next row while rows of other heads are stored: they
/// leave for memory twice.
template <class T>
bool leaves_lines_open(const KernelOf<T>& kernel, const RowPlan& plan, const Tile<T>& block) {
  return share_lines(kernel, plan, block) && RowsInSequence<T>(plan, block).tile.streams > 1;
}

/// A stretch of y for each of the outer steps that go together, or one for all.
template <class T>
void join_stretches(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                    const RowsInSequence<T>& rows) {
  const Tile<T>& all = rows.tile;
  const Index count = all.outer.count;
  const Index together = rows.one_stretch() ? count : all.streams;
  Tile<T> tile = all;
  Stretch stretches[static_cast<std::size_t>(most_streams)];
  tile.stretches = stretches;
  tile.stretches_step = tile.streams > 1 ? 1 : 0;
  for (Index o = 0; o < count; o += together) {
    tile.x = all.x + o * all.outer.x;
    tile.y = all.y + o * all.outer.y;
    tile.cos = all.cos + o * all.outer.table;
    tile.sin = all.sin + o * all.outer.table;
    tile.outer.count = std::min(together, count - o);
    const Index used = tile.stretches_step == 1 ? tile.outer.count : 1;
    const Index rows_of_each = tile.inner.count * tile.outer.count / used;
    for (Index s = 0; s < used; ++s)
      stretches[s].begin(tile.y + s * all.outer.y, static_cast<std::size_t>(kernel.store_bytes));
    choose_order(kernel, plan, runs, tile);
    for (Index s = 0; s < used; ++s)
      stretches[s].end(static_cast<std::size_t>(rows_of_each * plan.row_length) * sizeof(T));
  }
}

/// Whether rows are joined: their windows must be whole columns of whole rows, and all stretches
/// must begin at the same place in a vector, on an element.
template <class T>
bool can_join(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
              const RowsInSequence<T>& rows) {
  constexpr Index least_bytes = 4096;
  const Tile<T>& block = rows.tile;
  const Index pairs = runs.begin()->count;
  const Index row_count = block.inner.count * (rows.one_stretch() ? block.outer.count : 1);
  const auto bytes = [](Index elements) { return elements * static_cast<Index>(sizeof(T)); };
  return kernel.joining != nullptr && runs.count == 1 && plan.rotary_dims == plan.row_length &&
         is_whole_columns(kernel, runs) && pairs <= most_pairs_in_memory &&
         reinterpret_cast<std::uintptr_t>(block.y) % sizeof(T) == 0 &&
         (rows.one_stretch() || bytes(block.outer.y) % kernel.store_bytes == 0) &&
         bytes(row_count * plan.row_length) >= least_bytes;
}

/// Past the caches, rows joined to whole vectors. Returns false, without having written, where they
/// cannot be, or where a writer is faster: short rows of heads outside the tokens. These take
/// turns, so that a join finds nothing of a head's last row in registers, and lines may be left
/// open.
template <class T>
bool join_past_caches(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                      const Tile<T>& block) {
  const RowsInSequence<T> rows(plan, block);
  if (!rows || !can_join(kernel, plan, runs, rows)) return false;
  const Index least_in_turn = share_lines(kernel, plan, block) ? 512 : 256;
  if (rows.tile.streams > 1 && bytes_of<T>(plan.row_length) < least_in_turn) return false;
  join_stretches(kernel, plan, runs, rows);
  end_streamed_block(block);
  return true;
}

/// Past the caches, through writers. Returns false, without having written, where rows of y do not
/// follow each other or are too long.
template <class T>
bool write_lines(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                 const Tile<T>& block) {
  RowsInSequence<T> rows(plan, block);
  if (!rows) return false;
  rows.tile.stores = Stores::cached;
  const Tile<T>& all = rows.tile;
  const Index row_bytes = bytes_of<T>(plan.row_length);
  const Index room = waits_for_tile<T>(plan) ? Writers<T>::room / 2 : Writers<T>::room;
  const Index at_once = room / row_bytes;
  if (at_once == 0) return false;
  if (all.streams > 1 && row_bytes <= Writers<T>::room_of_each) {
    write_streams(kernel, plan, runs, all,
                  std::max<Index>(1, Writers<T>::tile_of_each / row_bytes));
  } else {
    Tile<T> stretch = all;
    if (!rows.all()) stretch.outer.count = 1;
    for (Index o = 0; o < all.outer.count; o += stretch.outer.count) {
      stretch.x = all.x + o * all.outer.x;
      stretch.y = all.y + o * all.outer.y;
      stretch.cos = all.cos + o * all.outer.table;
      stretch.sin = all.sin + o * all.outer.table;
      write_stretch(kernel, plan, runs, stretch, at_once);
    }
  }
  end_streamed_block(block);
  return true;
}

/// Whether four heads that lie outside the tokens go together, beyond the caches near the processor
/// (pass_of_four): that gains more than stores across lines cost.
template <class T>
bool prefers_four_rows(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                       const Tile<T>& block) {
  return has_heads_outside(block) && block.outer.count >= 4 &&
         takes_four_rows(kernel, plan, runs, block) && outgrows_cache(plan, block);
}

/// Through the caches, out of place. Returns false, without having written, where y begins on a
/// vector, or stores across lines cost less, or rows cannot be joined. They cost less for 16-bit
/// elements, where only every second one crosses a line and turning results takes as long.
template <class T>
bool join_across_lines(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                       const Tile<T>& block) {
  if constexpr (sizeof(T) == 2) return false;
  const Index elements = block.inner.count * block.outer.count * plan.row_length;
  const auto vector = static_cast<std::uintptr_t>(kernel.store_bytes);
  if (!should_not_cross_lines(block.y, vector, elements)) return false;
  if (prefers_four_rows(kernel, plan, runs, block)) return false;
  const RowsInSequence<T> rows(plan, block);
  if (!rows || !can_join(kernel, plan, runs, rows)) return false;
  join_stretches(kernel, plan, runs, rows);
  return true;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
