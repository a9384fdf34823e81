// SPDX-License-Identifier: Apache-2.0
//
// Rows past the caches.
//
//   fills_vectors   whether a pass can store whole aligned vectors that fill y's lines
//   write_lines     otherwise: passes write to memory in the first-level cache, a few rows at a
//                   time, and a LineWriter takes them to y in whole lines, wherever y lies
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
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

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

/// Whether every store would be a whole vector, aligned, and every line would be filled: one
/// written partly past the cache costs hundreds of nanoseconds.
template <class T>
bool fills_vectors(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                   const Tile<T>& block) {
  if (kernel.streaming == nullptr || !fills_lines(plan, block)) return false;
  using D = hn::ScalableTag<Widened<T>>;
  constexpr auto vector = static_cast<Index>(hn::MaxLanes(D()) * sizeof(Widened<T>));
  const auto aligned = [](Index elements) {
    return elements * static_cast<Index>(sizeof(T)) % vector == 0;
  };
  for (const Run& run : runs) {
    if (run.count % kernel.column_pairs != 0 || !aligned(run.out_a) ||
        (run.out_step == 1 && !aligned(run.out_b)))
      return false;
  }
  return reinterpret_cast<std::uintptr_t>(block.y) % vector == 0 && aligned(block.inner.y) &&
         aligned(block.outer.y) && aligned(plan.offset) && aligned(plan.rotary_dims) &&
         aligned(plan.row_length);
}

/// The memory of the writers that are used at a time.
template <class T>
class Writers {
 public:
  static constexpr auto most = static_cast<std::size_t>(most_streams);
  static constexpr Index room_of_each = 2 * 1024;
  static constexpr Index stride = static_cast<Index>(LineWriter::line) + room_of_each;

  Writers() {
    for (std::size_t w = 0; w < most; ++w)
      lines_[w] = LineWriter(memory_ + w * static_cast<std::size_t>(stride));
  }

  LineWriter* begin() { return lines_; }
  /// Where the rows of the first writer go.
  T* rows() const { return reinterpret_cast<T*>(lines_[0].rows()); }

 private:
  alignas(LineWriter::line) unsigned char memory_[most * static_cast<std::size_t>(stride)];
  LineWriter lines_[most];
};

/// Rows that lie one behind the other in y, at most `at_once` at a time through one writer.
template <class T>
void write_stretch(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs, Tile<T> tile,
                   Index at_once) {
  const RowSteps inner = tile.inner;
  const RowSteps outer = tile.outer;
  const Tile<T> all = tile;
  const Index inner_step = std::min(inner.count, at_once);
  const Index outer_step = std::max<Index>(1, at_once / inner.count);
  Writers<T> writers;
  LineWriter& line = *writers.begin();
  line.begin(all.y);
  tile.y = writers.rows() + plan.offset;
  tile.lines = &line;
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

/// Outer steps that share table rows: each of the `tile.streams` that go together has a writer.
template <class T>
void write_streams(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs, Tile<T> tile,
                   Index at_once) {
  const RowSteps inner = tile.inner;
  const RowSteps outer = tile.outer;
  const Tile<T> all = tile;
  Writers<T> writers;
  tile.y = writers.rows() + plan.offset;
  tile.lines = writers.begin();
  tile.lines_step = 1;
  for (Index o = 0; o < outer.count; o += all.streams) {
    const Index used = std::min(all.streams, outer.count - o);
    for (Index w = 0; w < used; ++w) tile.lines[w].begin(all.y + (o + w) * outer.y);
    for (Index i = 0; i < inner.count; i += at_once) {
      const Index count = std::min(at_once, inner.count - i);
      tile.x = all.x + o * outer.x + i * inner.x + plan.offset;
      tile.cos = all.cos + i * inner.table;
      tile.sin = all.sin + i * inner.table;
      tile.inner = {count, inner.x, plan.row_length, inner.table};
      tile.outer = {used, outer.x, Writers<T>::stride / static_cast<Index>(sizeof(T)), 0};
      for (Index w = 0; w < used; ++w) tile.lines[w].begin_rows();
      choose_order(kernel, plan, runs, tile);
      for (Index w = 0; w < used; ++w)
        tile.lines[w].end_rows(static_cast<std::size_t>(count * plan.row_length) * sizeof(T));
    }
    for (Index w = 0; w < used; ++w) tile.lines[w].end();
  }
}

/// Returns false, without having written, where rows of y do not follow each other or are too long.
template <class T>
bool write_lines(const KernelOf<T>& kernel, const RowPlan& plan, const Runs& runs,
                 const Tile<T>& block) {
  const Index length = plan.row_length;
  Tile<T> all = block;
  all.stores = Stores::cached;
  if (all.inner.count > 1 && all.inner.y != length && all.outer.y == length)
    std::swap(all.inner, all.outer);
  all.streams = streams_of(all.inner, all.outer);
  const Index rows = Writers<T>::room_of_each / (length * static_cast<Index>(sizeof(T)));
  if ((all.inner.count > 1 && all.inner.y != length) || rows == 0) return false;
  if (all.streams > 1) {
    write_streams(kernel, plan, runs, all, rows);
  } else {
    const Index at_once = rows * static_cast<Index>(Writers<T>::most);
    const bool joined = all.outer.count == 1 || all.outer.y == all.inner.count * length;
    Tile<T> stretch = all;
    if (!joined) stretch.outer.count = 1;
    for (Index o = 0; o < all.outer.count; o += stretch.outer.count) {
      stretch.x = all.x + o * all.outer.x;
      stretch.y = all.y + o * all.outer.y;
      stretch.cos = all.cos + o * all.outer.table;
      stretch.sin = all.sin + o * all.outer.table;
      write_stretch(kernel, plan, runs, stretch, at_once);
    }
  }
  hwy::FlushStream();
  return true;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
