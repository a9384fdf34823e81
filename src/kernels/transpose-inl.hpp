// SPDX-License-Identifier: Apache-2.0
//
// Transposing rows, with the vectors of one target.
//
//   to[d * to_step + r] = from[r * from_step + d]
//
//   transpose_tile   a whole vector of rows, 16 bytes of elements, in registers
//   transpose        any rows and elements: what is not a whole tile moves one by one
//
// A vector takes 16 bytes of one row in each of its blocks, so that all shuffles stay inside blocks
// of 16 bytes, and every store is a whole vector. Elements are unsigned integers of 2, 4 or 8
// bytes. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_TRANSPOSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_TRANSPOSE_INL_HPP
#undef EIGEN_ROPE_KERNEL_TRANSPOSE_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_TRANSPOSE_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "eigen_rope/rows/detail/move_rows.hpp"
#include "kernels/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

/// Elements of a block of 16 bytes.
template <class T>
constexpr auto elements_of_block = static_cast<Index>(16 / sizeof(T));

template <class D>
constexpr auto rows_of_tile = static_cast<Index>(hn::MaxLanes(D()));

/// A vector of two blocks, each from a row of its own.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* row0, const T* row1) {
  const hn::Half<D> half;
  return hn::Combine(d, hn::LoadU(half, row1), hn::LoadU(half, row0));
}

/// A vector of as many blocks as it has. Halves are put together, for which 64 bytes take five
/// instructions; blocks that are repeated and blended take seven.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* row0, const T* row1, const T* row2, const T* row3) {
  constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(T);
  if constexpr (bytes == 16) {
    return hn::LoadU(d, row0);
  } else if constexpr (bytes == 32) {
    return load_blocks(d, row0, row1);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, row2, row3), load_blocks(half, row0, row1));
  }
}

/// The rows of a tile, of which every vector takes the next one for each of its blocks.
template <class D>
struct RowsOfTile {
  using T = hn::TFromD<D>;

  HWY_INLINE hn::Vec<D> next(D d) {
    const T* const row = from + at++ * step;
    const Index block = elements_of_block<T> * step;
    return load_blocks(d, row, row + block, row + 2 * block, row + 3 * block);
  }

  const T* from;
  Index step;
  Index at = 0;
};

/// Likewise, with pointers that move in a way that the compiler does not see through: it would keep
/// the places of 32 rows on the stack.
template <class D>
class MovingRowsOfTile {
 public:
  using T = hn::TFromD<D>;

  HWY_INLINE MovingRowsOfTile(const T* from, Index step)
      : step_(step),
        row0_(from),
        row1_(from + elements_of_block<T> * step),
        row2_(from + 2 * elements_of_block<T> * step),
        row3_(from + 3 * elements_of_block<T> * step) {}

  HWY_INLINE hn::Vec<D> next(D d) {
    const auto result = load_blocks(d, row0_, row1_, row2_, row3_);
    row0_ += step_;
    row1_ += step_;
    row2_ += step_;
    row3_ += step_;
    hide();
    return result;
  }

 private:
  HWY_INLINE void hide() {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
    constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(T);
    if constexpr (bytes == 64) {
      asm("" : "+r"(row0_), "+r"(row1_), "+r"(row2_), "+r"(row3_));
    } else if constexpr (bytes == 32) {
      asm("" : "+r"(row0_), "+r"(row1_));
    } else {
      asm("" : "+r"(row0_));
    }
#endif
  }

  Index step_;
  const T* row0_;
  const T* row1_;
  const T* row2_;
  const T* row3_;
};

template <class Wide, class D, class V>
HWY_INLINE V interleave_lower(D d, V a, V b) {
  const hn::Repartition<Wide, D> wide;
  return hn::BitCast(d, hn::InterleaveLower(wide, hn::BitCast(wide, a), hn::BitCast(wide, b)));
}
template <class Wide, class D, class V>
HWY_INLINE V interleave_upper(D d, V a, V b) {
  const hn::Repartition<Wide, D> wide;
  return hn::BitCast(d, hn::InterleaveUpper(wide, hn::BitCast(wide, a), hn::BitCast(wide, b)));
}

/// Two columns next to each other, of which a and b hold one half each in every block.
template <Stores stores, class D, class V>
HWY_INLINE void put_columns(D d, V a, V b, hn::TFromD<D>* to, Index to_step) {
  using Half = std::uint64_t;
  store_bits<stores>(interleave_lower<Half>(d, a, b), d, to);
  store_bits<stores>(interleave_upper<Half>(d, a, b), d, to + to_step);
}

/// Four columns, of which each vector holds a quarter.
template <Stores stores, class D, class V>
HWY_INLINE void put_columns(D d, V a0, V a1, V b0, V b1, hn::TFromD<D>* to, Index to_step) {
  using Quarter = std::uint32_t;
  put_columns<stores>(d, interleave_lower<Quarter>(d, a0, a1), interleave_lower<Quarter>(d, b0, b1),
                      to, to_step);
  put_columns<stores>(d, interleave_upper<Quarter>(d, a0, a1), interleave_upper<Quarter>(d, b0, b1),
                      to + 2 * to_step, to_step);
}

template <Stores stores, class D>
HWY_INLINE void transpose_tile(D d, const std::uint64_t* from, Index from_step, std::uint64_t* to,
                               Index to_step) {
  RowsOfTile<D> rows{from, from_step};
  const auto r0 = rows.next(d), r1 = rows.next(d);
  put_columns<stores>(d, r0, r1, to, to_step);
}

template <Stores stores, class D>
HWY_INLINE void transpose_tile(D d, const std::uint32_t* from, Index from_step, std::uint32_t* to,
                               Index to_step) {
  RowsOfTile<D> rows{from, from_step};
  const auto r0 = rows.next(d), r1 = rows.next(d), r2 = rows.next(d), r3 = rows.next(d);
  put_columns<stores>(d, r0, r1, r2, r3, to, to_step);
}

template <Stores stores, class D>
HWY_INLINE void transpose_tile(D d, const std::uint16_t* from, Index from_step, std::uint16_t* to,
                               Index to_step) {
  MovingRowsOfTile<D> rows(from, from_step);
  const auto r0 = rows.next(d), r1 = rows.next(d), r2 = rows.next(d), r3 = rows.next(d);
  const auto r4 = rows.next(d), r5 = rows.next(d), r6 = rows.next(d), r7 = rows.next(d);
  put_columns<stores>(d, hn::InterleaveLower(d, r0, r1), hn::InterleaveLower(d, r2, r3),
                      hn::InterleaveLower(d, r4, r5), hn::InterleaveLower(d, r6, r7), to, to_step);
  put_columns<stores>(d, hn::InterleaveUpper(d, r0, r1), hn::InterleaveUpper(d, r2, r3),
                      hn::InterleaveUpper(d, r4, r5), hn::InterleaveUpper(d, r6, r7),
                      to + 4 * to_step, to_step);
}

/// The blocks of a vector to rows `step` apart.
template <class D, class V>
HWY_INLINE void store_blocks(D d, V v, hn::TFromD<D>* to, Index step) {
  constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (bytes == 16) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), to, step);
    constexpr auto blocks = static_cast<Index>(bytes / 32);
    store_blocks(half, hn::UpperHalf(half, v), to + blocks * step, step);
  }
}

/// Four rows of every block, of each of which a vector holds a quarter; the next block's rows lie
/// 8 rows further.
template <class D, class V>
HWY_INLINE void put_rows(D d, V a0, V a1, V b0, V b1, hn::TFromD<D>* to, Index to_step) {
  using Quarter = std::uint32_t;
  using Half = std::uint64_t;
  const V first_a = interleave_lower<Quarter>(d, a0, a1);
  const V first_b = interleave_lower<Quarter>(d, b0, b1);
  const V last_a = interleave_upper<Quarter>(d, a0, a1);
  const V last_b = interleave_upper<Quarter>(d, b0, b1);
  const Index block = 8 * to_step;
  store_blocks(d, interleave_lower<Half>(d, first_a, first_b), to, block);
  store_blocks(d, interleave_upper<Half>(d, first_a, first_b), to + to_step, block);
  store_blocks(d, interleave_lower<Half>(d, last_a, last_b), to + 2 * to_step, block);
  store_blocks(d, interleave_upper<Half>(d, last_a, last_b), to + 3 * to_step, block);
}

/// A vector of each of 8 rows, whose lines are read once: for rows that would drive each other's
/// lines from the first-level cache. Stores are 16 bytes each.
template <class D>
HWY_INLINE void transpose_vectors(D d, const std::uint16_t* from, Index from_step,
                                  std::uint16_t* to, Index to_step) {
  const auto row = [&](Index i) HWY_ATTR { return hn::LoadU(d, from + i * from_step); };
  const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const auto r4 = row(4), r5 = row(5), r6 = row(6), r7 = row(7);
  put_rows(d, hn::InterleaveLower(d, r0, r1), hn::InterleaveLower(d, r2, r3),
           hn::InterleaveLower(d, r4, r5), hn::InterleaveLower(d, r6, r7), to, to_step);
  put_rows(d, hn::InterleaveUpper(d, r0, r1), hn::InterleaveUpper(d, r2, r3),
           hn::InterleaveUpper(d, r4, r5), hn::InterleaveUpper(d, r6, r7), to + 4 * to_step,
           to_step);
}

/// Whether rows so far apart share one place of the first-level cache, which holds lines of 8 to
/// 12 of them; a tile of 16-bit elements has more.
template <class T>
bool share_a_place(Index step) {
  constexpr Index bytes_of_places = 4096;
  return step * static_cast<Index>(sizeof(T)) % bytes_of_places == 0;
}

/// Whole tiles, along the lines of the side whose lines lie further apart: they may all share a few
/// places of the first-level cache. What is stored past the caches goes line by line.
template <Stores stores, class D, class T>
HWY_INLINE void transpose_tiles(D d, const T* from, Index from_step, T* to, Index to_step,
                                Index rows, Index elements) {
  if constexpr (sizeof(T) == 2 && stores == Stores::cached) {
    if (share_a_place<T>(from_step) && elements % rows_of_tile<D> == 0) {
      for (Index r = 0; r < rows; r += elements_of_block<T>) {
        for (Index e = 0; e < elements; e += rows_of_tile<D>)
          transpose_vectors(d, from + r * from_step + e, from_step, to + e * to_step + r, to_step);
      }
      return;
    }
  }
  if (stores == Stores::cached && std::abs(from_step) > std::abs(to_step)) {
    for (Index r = 0; r < rows; r += rows_of_tile<D>) {
      for (Index e = 0; e < elements; e += elements_of_block<T>)
        transpose_tile<stores>(d, from + r * from_step + e, from_step, to + e * to_step + r,
                               to_step);
    }
  } else {
    for (Index e = 0; e < elements; e += elements_of_block<T>) {
      for (Index r = 0; r < rows; r += rows_of_tile<D>)
        transpose_tile<stores>(d, from + r * from_step + e, from_step, to + e * to_step + r,
                               to_step);
    }
  }
}

/// Through the caches, in tiles of D, what is left in smaller ones. `elements` are whole blocks.
/// Returns how many rows were moved.
template <class D, class T>
Index transpose_rows(D d, const T* from, Index from_step, T* to, Index to_step, Index rows,
                     Index elements) {
  const Index moved = rows / rows_of_tile<D> * rows_of_tile<D>;
  if (moved > 0) transpose_tiles<Stores::cached>(d, from, from_step, to, to_step, moved, elements);
  if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
    if (moved < rows)
      return moved + transpose_rows(hn::Half<D>(), from + moved * from_step, from_step, to + moved,
                                    to_step, rows - moved, elements);
  }
  return moved;
}
#endif  // HWY_TARGET != HWY_SCALAR

/// Through the caches.
template <class T>
void transpose(const T* from, Index from_step, T* to, Index to_step, Index rows, Index elements) {
  Index tiled_rows = 0, tiled = 0;
#if HWY_TARGET != HWY_SCALAR
  tiled = elements / elements_of_block<T> * elements_of_block<T>;
  tiled_rows = transpose_rows(hn::ScalableTag<T>(), from, from_step, to, to_step, rows, tiled);
#endif
  const RowGrid in{from_step, 1};
  const RowGrid out{1, to_step};
  if (tiled < elements)
    move_rows_plainly(from + tiled, in, to + tiled * to_step, out, tiled_rows, elements - tiled);
  if (tiled_rows < rows)
    move_rows_plainly(from + tiled_rows * from_step, in, to + tiled_rows, out, rows - tiled_rows,
                      elements);
}

/// to[d * to_step + r] = from[r * from_step + d]
///
/// Past the caches go rows that fill lines, where every column begins like the first.
template <class T>
void transpose(const T* from, Index from_step, T* to, Index to_step, Index rows, Index elements,
               [[maybe_unused]] Stores stores) {
#if HWY_TARGET != HWY_SCALAR
  constexpr Index line = elements_of_line<T>;
  const Index begin = std::min(rows, elements_to_line(to));
  const Index whole = (rows - begin) / line * line;
  const bool on_elements = reinterpret_cast<std::uintptr_t>(to) % sizeof(T) == 0;
  const bool streams = stores == Stores::streaming && to_step % line == 0 && on_elements &&
                       elements % elements_of_block<T> == 0;
  if (streams && whole > 0) {
    transpose(from, from_step, to, to_step, begin, elements);
    transpose_tiles<Stores::streaming>(hn::ScalableTag<T>(), from + begin * from_step, from_step,
                                       to + begin, to_step, whole, elements);
    const Index end = begin + whole;
    return transpose(from + end * from_step, from_step, to + end, to_step, rows - end, elements);
  }
#endif
  transpose(from, from_step, to, to_step, rows, elements);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
