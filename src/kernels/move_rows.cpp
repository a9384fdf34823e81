// SPDX-License-Identifier: Apache-2.0
//
// Copies of rows between two orders in memory (eigen_rope/rows/detail/move_rows.hpp), with the
// vectors of one target.
//
// Where elements of a row lie next to each other on one side and rows do on the other, square tiles
// of 16 or 32 bytes are transposed in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move_rows.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "eigen_rope/rows/detail/move_rows.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

/// Rows and columns of a tile: what half a vector of AVX-512 holds, 16 bytes of 16-bit elements.
template <class T>
constexpr Index side = static_cast<Index>(sizeof(T) == 2
                                              ? 8
                                              : hn::MaxLanes(hn::CappedTag<T, 32 / sizeof(T)>()));

template <Stores stores, class V, class D, class T>
HWY_INLINE void put_bits(V v, D d, T* to) {
  if constexpr (stores == Stores::streaming) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

// A square tile: column c of `from` becomes row c of `to`.

template <Stores stores>
HWY_INLINE void transpose_tile(const std::uint64_t* from, Index from_step, std::uint64_t* to,
                               Index to_step) {
  const hn::CappedTag<std::uint64_t, 4> d;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + from_step);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const auto r2 = hn::LoadU(d, from + 2 * from_step);
  const auto r3 = hn::LoadU(d, from + 3 * from_step);
  const auto low01 = hn::InterleaveLower(d, r0, r1), high01 = hn::InterleaveUpper(d, r0, r1);
  const auto low23 = hn::InterleaveLower(d, r2, r3), high23 = hn::InterleaveUpper(d, r2, r3);
  put_bits<stores>(hn::ConcatLowerLower(d, low23, low01), d, to);
  put_bits<stores>(hn::ConcatLowerLower(d, high23, high01), d, to + to_step);
  put_bits<stores>(hn::ConcatUpperUpper(d, low23, low01), d, to + 2 * to_step);
  put_bits<stores>(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * to_step);
#else
  put_bits<stores>(hn::InterleaveLower(d, r0, r1), d, to);
  put_bits<stores>(hn::InterleaveUpper(d, r0, r1), d, to + to_step);
#endif
}

/// Four rows whose blocks of 16 bytes are transposed.
template <class V>
struct Four {
  V row0, row1, row2, row3;
};

template <class D, class V>
HWY_INLINE Four<V> transpose_blocks(D d, V r0, V r1, V r2, V r3) {
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  return {hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)),
          hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23))};
}

template <Stores stores>
HWY_INLINE void transpose_tile(const std::uint32_t* from, Index from_step, std::uint32_t* to,
                               Index to_step) {
  const hn::CappedTag<std::uint32_t, 8> d;
  const auto row = [&](Index i) HWY_ATTR { return hn::LoadU(d, from + i * from_step); };
  const auto upper = transpose_blocks(d, row(0), row(1), row(2), row(3));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const auto lower = transpose_blocks(d, row(4), row(5), row(6), row(7));
  const auto put = [&](Index i, auto first, auto second) HWY_ATTR {
    put_bits<stores>(hn::ConcatLowerLower(d, second, first), d, to + i * to_step);
    put_bits<stores>(hn::ConcatUpperUpper(d, second, first), d, to + (i + 4) * to_step);
  };
  put(0, upper.row0, lower.row0);
  put(1, upper.row1, lower.row1);
  put(2, upper.row2, lower.row2);
  put(3, upper.row3, lower.row3);
#else
  put_bits<stores>(upper.row0, d, to);
  put_bits<stores>(upper.row1, d, to + to_step);
  put_bits<stores>(upper.row2, d, to + 2 * to_step);
  put_bits<stores>(upper.row3, d, to + 3 * to_step);
#endif
}

template <Stores stores>
HWY_INLINE void transpose_tile(const std::uint16_t* from, Index from_step, std::uint16_t* to,
                               Index to_step) {
  const hn::Full128<std::uint16_t> d;
  const hn::Full128<std::uint32_t> pairs;
  const hn::Full128<std::uint64_t> fours;
  const auto put = [&](int half, auto a, auto b) HWY_ATTR {
    put_bits<stores>(
        hn::BitCast(d, hn::InterleaveLower(fours, hn::BitCast(fours, a), hn::BitCast(fours, b))), d,
        to + 2 * half * to_step);
    put_bits<stores>(
        hn::BitCast(d, hn::InterleaveUpper(fours, hn::BitCast(fours, a), hn::BitCast(fours, b))), d,
        to + (2 * half + 1) * to_step);
  };
  const auto row = [&](Index i) HWY_ATTR { return hn::LoadU(d, from + i * from_step); };
  const auto low = [&](Index i) HWY_ATTR {
    return hn::BitCast(pairs, hn::InterleaveLower(d, row(i), row(i + 1)));
  };
  const auto high = [&](Index i) HWY_ATTR {
    return hn::BitCast(pairs, hn::InterleaveUpper(d, row(i), row(i + 1)));
  };
  const auto low01 = low(0), low23 = low(2), low45 = low(4), low67 = low(6);
  put(0, hn::InterleaveLower(pairs, low01, low23), hn::InterleaveLower(pairs, low45, low67));
  put(1, hn::InterleaveUpper(pairs, low01, low23), hn::InterleaveUpper(pairs, low45, low67));
  const auto high01 = high(0), high23 = high(2), high45 = high(4), high67 = high(6);
  put(2, hn::InterleaveLower(pairs, high01, high23), hn::InterleaveLower(pairs, high45, high67));
  put(3, hn::InterleaveUpper(pairs, high01, high23), hn::InterleaveUpper(pairs, high45, high67));
}
#endif  // HWY_TARGET != HWY_SCALAR

template <class T>
void move_one_by_one(const T* from, RowGrid from_grid, T* to, RowGrid to_grid, Index rows,
                     Index elements) {
  for (Index r = 0; r < rows; ++r) {
    for (Index d = 0; d < elements; ++d)
      to[r * to_grid.row + d * to_grid.element] = from[r * from_grid.row + d * from_grid.element];
  }
}

/// Whole tiles of the rows first..last-1, along the lines of the side whose lines lie further
/// apart: they may all share a few places of the first-level cache. What is stored past the caches
/// goes line by line.
template <Stores stores, class T>
void transpose_tiles([[maybe_unused]] const T* from, [[maybe_unused]] Index from_step,
                     [[maybe_unused]] T* to, [[maybe_unused]] Index to_step,
                     [[maybe_unused]] Index first, [[maybe_unused]] Index last,
                     [[maybe_unused]] Index elements) {
#if HWY_TARGET != HWY_SCALAR
  const auto move = [&](Index r, Index d) HWY_ATTR {
    transpose_tile<stores>(from + r * from_step + d, from_step, to + d * to_step + r, to_step);
  };
  if (stores == Stores::cached && std::abs(from_step) > std::abs(to_step)) {
    for (Index r = first; r < last; r += side<T>)
      for (Index d = 0; d < elements; d += side<T>) move(r, d);
  } else {
    for (Index d = 0; d < elements; d += side<T>)
      for (Index r = first; r < last; r += side<T>) move(r, d);
  }
#endif
}

/// to[d * to_step + r] = from[r * from_step + d]
template <class T>
void transpose(const T* from, Index from_step, T* to, Index to_step, Index rows, Index elements,
               [[maybe_unused]] Stores stores) {
  Index begin = 0, whole_rows = 0, whole_elements = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr auto line = static_cast<Index>(64 / sizeof(T));
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  const bool lines = stores == Stores::streaming && to_step % line == 0 && address % sizeof(T) == 0;
  const Index into_line = static_cast<Index>(address / sizeof(T)) % line;
  const Index step = lines ? line : side<T>;
  begin = lines ? std::min(rows, (line - into_line) % line) : 0;
  whole_rows = (rows - begin) / step * step;
  whole_elements = elements / side<T> * side<T>;
  const Index end = begin + whole_rows;
  lines
      ? transpose_tiles<Stores::streaming>(from, from_step, to, to_step, begin, end, whole_elements)
      : transpose_tiles<Stores::cached>(from, from_step, to, to_step, begin, end, whole_elements);
#endif
  const RowGrid in{from_step, 1};
  const RowGrid out{1, to_step};
  const auto move = [&](Index first, Index last, Index element) {
    move_one_by_one(from + first * from_step + element, in, to + first + element * to_step, out,
                    last - first, elements - element);
  };
  move(0, begin, 0);
  move(begin + whole_rows, rows, 0);
  move(begin, begin + whole_rows, whole_elements);
}

template <class T>
void move_any_rows(const T* from, RowGrid from_grid, T* to, RowGrid to_grid, Index rows,
                   Index elements, [[maybe_unused]] Stores stores) {
  if (from_grid.element == 1 && to_grid.element == 1) {
    for (Index r = 0; r < rows; ++r) {
      std::memcpy(to + r * to_grid.row, from + r * from_grid.row,
                  static_cast<std::size_t>(elements) * sizeof(T));
    }
  } else if (from_grid.row == 1 && to_grid.row == 1) {
    for (Index d = 0; d < elements; ++d) {
      std::memcpy(to + d * to_grid.element, from + d * from_grid.element,
                  static_cast<std::size_t>(rows) * sizeof(T));
    }
  } else if (from_grid.element == 1 && to_grid.row == 1) {
    transpose(from, from_grid.row, to, to_grid.element, rows, elements, stores);
  } else if (from_grid.row == 1 && to_grid.element == 1) {
    transpose(from, from_grid.element, to, to_grid.row, elements, rows, stores);
  } else {
    move_one_by_one(from, from_grid, to, to_grid, rows, elements);
  }
#if HWY_TARGET != HWY_SCALAR
  if (stores == Stores::streaming) hwy::FlushStream();
#endif
}

void move_rows_16(const std::uint16_t* from, RowGrid from_grid, std::uint16_t* to, RowGrid to_grid,
                  Index rows, Index elements, Stores stores) {
  move_any_rows(from, from_grid, to, to_grid, rows, elements, stores);
}
void move_rows_32(const std::uint32_t* from, RowGrid from_grid, std::uint32_t* to, RowGrid to_grid,
                  Index rows, Index elements, Stores stores) {
  move_any_rows(from, from_grid, to, to_grid, rows, elements, stores);
}
void move_rows_64(const std::uint64_t* from, RowGrid from_grid, std::uint64_t* to, RowGrid to_grid,
                  Index rows, Index elements, Stores stores) {
  move_any_rows(from, from_grid, to, to_grid, rows, elements, stores);
}

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::detail {

void move_rows(const std::uint16_t* from, RowGrid from_grid, std::uint16_t* to, RowGrid to_grid,
               Index rows, Index elements, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(move_rows_16);
  for_targets[chosen_version()](from, from_grid, to, to_grid, rows, elements, stores);
}

void move_rows(const std::uint32_t* from, RowGrid from_grid, std::uint32_t* to, RowGrid to_grid,
               Index rows, Index elements, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(move_rows_32);
  for_targets[chosen_version()](from, from_grid, to, to_grid, rows, elements, stores);
}

void move_rows(const std::uint64_t* from, RowGrid from_grid, std::uint64_t* to, RowGrid to_grid,
               Index rows, Index elements, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(move_rows_64);
  for_targets[chosen_version()](from, from_grid, to, to_grid, rows, elements, stores);
}

}  // namespace eigen_rope::detail
#endif  // HWY_ONCE
