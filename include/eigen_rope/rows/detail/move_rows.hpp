// SPDX-License-Identifier: Apache-2.0
//
// Copies of rows between memory where their elements lie next to each other and memory where they
// lie apart.
//
//   to[r * to_row + d * to_element] = from[r * from_row + d * from_element]
//
// Plain scalars are moved in square tiles of vectors, compiled once in the library; here stands the
// template for all others. The callers choose as many rows as stay in the first-level cache.
#pragma once

#include <cstdint>
#include <type_traits>

#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/rows.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Where neighbouring rows, and neighbouring elements of a row, lie.
struct RowGrid {
  Index row;
  Index element;
};

// Compiled once, with the instructions of the machine it runs on.
EIGEN_ROPE_API void move_rows(const std::uint16_t* from, RowGrid from_grid, std::uint16_t* to,
                              RowGrid to_grid, Index rows, Index elements, Stores stores);
EIGEN_ROPE_API void move_rows(const std::uint32_t* from, RowGrid from_grid, std::uint32_t* to,
                              RowGrid to_grid, Index rows, Index elements, Stores stores);
EIGEN_ROPE_API void move_rows(const std::uint64_t* from, RowGrid from_grid, std::uint64_t* to,
                              RowGrid to_grid, Index rows, Index elements, Stores stores);

template <std::size_t size>
using BitsOfSize = std::conditional_t<size == 2, std::uint16_t,
                                      std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>;

template <class T>
void move_rows_plainly(const T* from, RowGrid from_grid, T* to, RowGrid to_grid, Index rows,
                       Index elements) {
  for (Index r = 0; r < rows; ++r) {
    for (Index d = 0; d < elements; ++d)
      to[r * to_grid.row + d * to_grid.element] = from[r * from_grid.row + d * from_grid.element];
  }
}

/// Copies `rows` rows of `elements` elements, which must not overlap. Rows that are transposed may
/// be stored past the caches.
template <class T>
void move_rows(const T* from, RowGrid from_grid, T* to, RowGrid to_grid, Index rows, Index elements,
               [[maybe_unused]] Stores stores = Stores::cached) {
  if constexpr (is_plain<T> && sizeof(T) <= 8) {
    using Bits = BitsOfSize<sizeof(T)>;
    move_rows(reinterpret_cast<const Bits*>(from), from_grid, reinterpret_cast<Bits*>(to), to_grid,
              rows, elements, stores);
  } else {
    move_rows_plainly(from, from_grid, to, to_grid, rows, elements);
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
