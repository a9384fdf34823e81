// SPDX-License-Identifier: Apache-2.0
//
// Rotating rows from one order of axes into another (eigen_rope/rows/detail/cross_rows.hpp): some
// pairs of some rows at a time, as many as stay in the first-level cache, or in the second-level
// one where several heads share coefficients.
//
//   ColumnsOf::y   x --rotate--> tile --transpose--> y
//   ColumnsOf::x   x --transpose--> tile --rotate--> y
//
// A tile has so many rows that columns, in which neighbouring rows lie next to each other, are
// read or written a few lines at a time. The columns of a few heads are passed together, from one
// end to the other. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_CROSSINGS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_CROSSINGS_INL_HPP
#undef EIGEN_ROPE_KERNEL_CROSSINGS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_CROSSINGS_INL_HPP
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/rows/detail/cross_rows.hpp"
#include "kernels/rows-inl.hpp"
#include "kernels/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Which side has its features apart.
enum class ColumnsOf { x, y };

template <class T, ColumnsOf columns>
class TiledCrossing {
 public:
  TiledCrossing(const RowPlan& plan, const CrossBlock<T>& block)
      : plan_(plan),
        block_(block),
        kernel_(kernel_for<T>(plan)),
        place_(place_of_x()),
        staged_(stages_columns()),
        most_rows_(lines_of_column() * line),
        most_pairs_(pairs_of_tile()),
        heads_(heads_of_tile()),
        tile_(heads_ * rows_of_strip() * step()),
        stage_(staged_ ? columns_of_stage * stage_step() : 0) {}

  void rotate() {
    const Runs runs = runs_of(plan_);
    const bool streams = columns == ColumnsOf::x && block_.stores == Stores::streaming;
    stores_ = streams && rows_fill_lines(runs) ? Stores::streaming : Stores::cached;
    const Index group = heads_inside() ? heads_of_columns(most_columns) : heads_;
    for (Index first = 0; first < block_.outer.count; first += group) {
      const Index last = std::min(first + group, block_.outer.count);
      for (Index r = 0, rows = 0; r < block_.inner.count; r += rows) {
        for (Index h = first; h < last; h += heads_) rows = rotate_strip(runs, h, r);
      }
    }
    if (block_.stores == Stores::streaming) hwy::FlushStream();
  }

 private:
  static constexpr Index line = elements_of_line<T>;
  /// Rows that fill a few lines of a column.
  static constexpr Index rows_of_four_lines = 4 * line;
  /// Rows of several heads that share a tile where a head has fewer: with their results they stay
  /// in a first-level cache of 32 KiB.
  static constexpr Index rows_of_heads = 64;
  /// Every column lies on a page of its own, which is found faster if it was used lately.
  static constexpr Index most_columns = 512;
  /// What transpose_tile reads or writes at a time, with the longest vectors.
  static constexpr Index columns_of_stage = columns == ColumnsOf::x ? line : elements_of_block<T>;
  /// Columns that are asked for before they are read.
  static constexpr Index columns_ahead = 4;
  /// Likewise from a token's rows to those that are asked for.
  static constexpr Index tokens_ahead = 4;

  /// Rows next to each other in each of some heads.
  struct Strip {
    const T* x;
    T* y;
    Index table;
    Index rows;
    Index heads;
  };

  /// What holds x. In memory it is as large as x and y together are where stores go past the
  /// caches.
  enum class Place { near_cache, far_cache, memory };
  Place place_of_x() const {
    const Index bytes = bytes_of<T>(plan_.row_length * block_.inner.count * block_.outer.count);
    if (block_.stores == Stores::streaming && streams(static_cast<std::size_t>(bytes)))
      return Place::memory;
    return bytes > near_caches ? Place::far_cache : Place::near_cache;
  }

  /// Rows of x that lie beyond the near caches are read whole, at once.
  bool reads_far_rows() const { return columns == ColumnsOf::y && place_ != Place::near_cache; }
  Index pairs_of_tile() const { return sizeof(T) == 2 || reads_far_rows() ? 64 : 32; }

  /// Such rows, which jump from token to token, are asked for. Processors do not
  /// look ahead over such jumps, and preparing coefficients fills what they hold of the
  /// instructions to come, so that the next row's loads begin late. Interleaved doubles take longer
  /// with it than in tiles of four heads, which read 4 KiB of a token in one piece.
  bool asks_for_rows() const { return reads_far_rows() && (sizeof(T) < 8 || kernel_.two_stores); }
  Index to_later_row() const { return asks_for_rows() ? tokens_ahead * block_.inner.x : 0; }

  bool many_rows() const { return block_.inner.count >= rows_of_four_lines; }

  /// Whether columns are copied before they are transposed, or transposed before they are copied.
  /// Of lines that share a place, the first-level cache keeps 8 to 12. A tile of 16-bit elements
  /// reads 32 of them, and tiles that follow each other write 4 or 8 each. Of doubles it is two.
  bool stages_columns() const {
    if (columns == ColumnsOf::y) {
      return sizeof(T) < 8 && block_.stores == Stores::cached &&
             share_a_place<T>(block_.features.y);
    }
    return sizeof(T) == 2 && many_rows() &&
           (place_ == Place::memory ||
            (place_ == Place::far_cache && share_a_place<T>(block_.features.x)));
  }

  /// Columns are read fast where several lines of each are, for memory looks ahead along them, and
  /// those of 16-bit elements are written fast where several are.
  Index lines_of_column() const {
    if (columns == ColumnsOf::y) return 4;
    if (sizeof(T) == 2) return staged_ ? 8 : 4;
    return place_ == Place::memory ? 32 : 8;
  }

  /// Each token has entries of its own, whose coefficients the heads of a tile share. So beyond the
  /// near caches tiles have several heads, and lie in the second-level cache. Where columns are
  /// read, that is worth while for 16-bit elements, whose entries are twice as long as a row.
  Index heads_of_tile() const {
    const Index heads_of_entries = asks_for_rows() ? 2 : 4;
    const bool share_entries =
        many_rows() && (reads_far_rows() || (sizeof(T) == 2 && place_ != Place::near_cache));
    const Index heads =
        share_entries ? heads_of_entries : rows_of_heads / std::max<Index>(1, block_.inner.count);
    return std::clamp<Index>(heads, 1, std::max<Index>(1, block_.outer.count));
  }

  /// Whether some heads of a few rows go before the next rows. Where the heads of a row lie next to
  /// each other on the side of rows, several of them are then read or written at a time. All
  /// columns must end with a line at the same rows.
  bool heads_inside() const {
    const Index apart = columns == ColumnsOf::y ? block_.outer.y : block_.outer.x;
    const Index head = columns == ColumnsOf::y ? block_.outer.x : block_.outer.y;
    const Index row = columns == ColumnsOf::y ? block_.inner.x : block_.inner.y;
    return apart % line == 0 && std::abs(head) < std::abs(row);
  }
  /// Whole tiles of heads that have so many columns.
  Index heads_of_columns(Index count) const {
    return std::max<Index>(1, count / std::max<Index>(1, plan_.row_length) / heads_) * heads_;
  }

  /// The rows from r on of the heads from h on that end with a line; returns how many rows.
  Index rotate_strip(const Runs& runs, Index h, Index r) {
    Strip strip;
    strip.heads = std::min(heads_, block_.outer.count - h);
    strip.x = block_.x + h * block_.outer.x + r * block_.inner.x;
    strip.y = block_.y + h * block_.outer.y + r * block_.inner.y;
    strip.table = h * block_.outer.table + r * block_.inner.table;
    strip.rows = std::min(block_.inner.count - r, rows_of_lines(column(strip)));
    for (const Run& run : runs) {
      for (Index k = 0; k < run.count; k += most_pairs_)
        rotate_part(strip, run.part(k, std::min(most_pairs_, run.count - k)));
    }
    move(strip, 0, plan_.offset);
    move(strip, plan_.offset + plan_.rotary_dims, plan_.row_length);
    return strip.rows;
  }

  static const T* column(const Strip& strip) { return columns == ColumnsOf::x ? strip.x : strip.y; }

  /// As many rows from p on as end with a line.
  Index rows_of_lines(const T* p) const {
    const Index first = elements_to_line(p);
    return first == 0 ? most_rows_ : most_rows_ - line + first;
  }

  /// Whether rows of y, and the parts of them that are rotated together, are whole lines.
  bool rows_fill_lines(const Runs& runs) const {
    const auto whole = [](Index elements) { return elements % line == 0; };
    bool result = reinterpret_cast<std::uintptr_t>(block_.y) % 64 == 0 && whole(block_.inner.y) &&
                  whole(block_.outer.y) && whole(plan_.offset) && kernel_.streaming != nullptr;
    for (const Run& run : runs)
      result = result && run.count % kernel_.column_pairs == 0 && whole(run.count) &&
               whole(run.out_a) && (run.out_step != 1 || whole(run.out_b));
    return result;
  }

  /// All pairs of a run, which is a part of the window's.
  void rotate_part(const Strip& strip, Run run) {
    Tile<T> tile{};
    tile.cos = block_.cos + strip.table;
    tile.sin = block_.sin + strip.table;
    tile.inner = {strip.rows, block_.inner.x, block_.inner.y, block_.inner.table};
    tile.outer = {strip.heads, block_.outer.x, block_.outer.y, block_.outer.table};
    if constexpr (columns == ColumnsOf::y) {
      const Index a = run.out_a, b = run.out_b;
      put_into_tile(run.out_a, run.out_b);
      tile.inner.y = step();
      tile.outer.y = strip.rows * step();
      tile.x = strip.x + plan_.offset;
      tile.y = tile_rows();
      tile.later = to_later_row();
      pass(run, tile, Stores::cached);
      move_members(strip, a, b, run.count);
    } else {
      move_members(strip, run.in_a, run.in_b, run.count);
      put_into_tile(run.in_a, run.in_b);
      tile.inner.x = step();
      tile.outer.x = strip.rows * step();
      tile.x = tile_rows();
      tile.y = strip.y + plan_.offset;
      pass(run, tile, stores_);
    }
  }

  /// Members next to each other stay so.
  void put_into_tile(Index& a, Index& b) const {
    b = b == a + 1 ? 1 : most_pairs_;
    a = 0;
  }

  void pass(const Run& run, Tile<T>& tile, Stores stores) {
    tile.stores = stores;
    tile.streams = streams_of(tile.inner, tile.outer, heads_);
    const auto pass = stores == Stores::streaming ? kernel_.streaming : kernel_.cached;
    pass_in_order(tile, [&](const Tile<T>& part) { pass(plan_, run, part); });
  }

  /// Between the tile and columns.
  void move_members(const Strip& strip, Index a, Index b, Index count) {
    if (b == a + 1) return move_columns(strip, a, 0, 2 * count);
    move_columns(strip, a, 0, count);
    move_columns(strip, b, most_pairs_, count);
  }

  /// The columns from `feature` of the window on.
  HWY_INLINE void move_columns(const Strip& strip, Index feature, Index in_tile, Index count) {
    const Index head = columns == ColumnsOf::x ? block_.outer.x : block_.outer.y;
    const bool joined = head == strip.rows && (columns == ColumnsOf::y || !staged_);
    const Index pieces = joined ? 1 : strip.heads;
    const Index rows = joined ? strip.heads * strip.rows : strip.rows;
    for (Index h = 0; h < pieces; ++h) {
      T* const tile = tile_rows() + h * rows * step() + in_tile;
      if constexpr (columns == ColumnsOf::x) {
        const T* const x = strip.x + h * head + (plan_.offset + feature) * block_.features.x;
        if (staged_) {
          stage_columns_of_x(x, tile, count, rows);
        } else {
          transpose(bits_of(x), block_.features.x, bits_of(tile), step(), count, rows);
        }
      } else {
        T* const y = strip.y + h * head + (plan_.offset + feature) * block_.features.y;
        if (staged_) {
          stage_columns_of_y(tile, y, count, rows);
        } else {
          transpose(bits_of(tile), step(), bits_of(y), block_.features.y, rows, count,
                    block_.stores);
        }
      }
    }
  }

  /// Elements between rows of the tile.
  Index step() const { return 2 * most_pairs_; }
  Index rows_of_strip() const { return std::min(block_.inner.count, most_rows_); }
  /// Staged columns share no place with their neighbours. Those of y may be of several heads.
  Index stage_step() const {
    const Index rows = columns == ColumnsOf::x ? rows_of_strip() : heads_ * rows_of_strip();
    return (rows / line + 2) * line;
  }
  T* staged_column(Index i) { return stage_.data() + i * stage_step(); }

  void stage_columns_of_x(const T* x, T* tile, Index count, Index rows) {
    for (Index k = 0; k < count; k += columns_of_stage) {
      const Index staged = std::min(columns_of_stage, count - k);
      for (Index i = 0; i < staged; ++i) {
        const T* const column = x + (k + i) * block_.features.x;
        if (k + i + columns_ahead < count)
          ask_for(column + columns_ahead * block_.features.x, rows);
        std::copy_n(column, rows, staged_column(i));
      }
      transpose(bits_of(staged_column(0)), stage_step(), bits_of(tile + k), step(), staged, rows);
    }
  }

  void stage_columns_of_y(const T* tile, T* y, Index count, Index rows) {
    for (Index k = 0; k < count; k += columns_of_stage) {
      const Index staged = std::min(columns_of_stage, count - k);
      transpose(bits_of(tile + k), step(), bits_of(staged_column(0)), stage_step(), rows, staged);
      for (Index i = 0; i < staged; ++i)
        std::copy_n(staged_column(i), rows, y + (k + i) * block_.features.y);
    }
  }

  /// What is not rotated.
  void move(const Strip& strip, Index first, Index last) {
    if (first == last) return;
    for (Index h = 0; h < strip.heads; ++h) {
      const auto* x = bits_of(strip.x + h * block_.outer.x + first * block_.features.x);
      auto* y = bits_of(strip.y + h * block_.outer.y + first * block_.features.y);
      if constexpr (columns == ColumnsOf::x) {
        transpose(x, block_.features.x, y, block_.inner.y, last - first, strip.rows);
      } else {
        transpose(x, block_.inner.x, y, block_.features.y, strip.rows, last - first, block_.stores);
      }
    }
  }

  T* tile_rows() { return tile_.data(); }

  using Bits = hwy::UnsignedFromSize<sizeof(T)>;
  static const Bits* bits_of(const T* p) { return reinterpret_cast<const Bits*>(p); }
  static Bits* bits_of(T* p) { return reinterpret_cast<Bits*>(p); }

  const RowPlan& plan_;
  const CrossBlock<T>& block_;
  const KernelOf<T>& kernel_;
  Place place_;
  bool staged_;
  Index most_rows_;
  Index most_pairs_;
  Index heads_;
  Stores stores_ = Stores::cached;
  Scratch<T> tile_;
  Scratch<T> stage_;
};

template <class T>
void cross_block(const RowPlan& plan, const CrossBlock<T>& block) {
  if (block.features.x == 1) {
    TiledCrossing<T, ColumnsOf::y>(plan, block).rotate();
  } else {
    TiledCrossing<T, ColumnsOf::x>(plan, block).rotate();
  }
}

#else

template <class T>
void cross_block(const RowPlan& plan, const CrossBlock<T>& block) {
  cross_rows_plainly(plan, block);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
