// SPDX-License-Identifier: Apache-2.0
//
// Copies of rows between two orders in memory (eigen_rope/rows/detail/move_rows.hpp).
//
// Where elements of a row lie next to each other on one side and rows do on the other, they are
// transposed (transpose-inl.hpp). Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_MOVE_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_MOVE_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_MOVE_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_MOVE_ROWS_INL_HPP
#endif

#include <hwy/cache_control.h>

#include <cstddef>
#include <cstring>

#include "eigen_rope/rows/detail/move_rows.hpp"
#include "kernels/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

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
    move_rows_plainly(from, from_grid, to, to_grid, rows, elements);
  }
#if HWY_TARGET != HWY_SCALAR
  if (stores == Stores::streaming) hwy::FlushStream();
#endif
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
