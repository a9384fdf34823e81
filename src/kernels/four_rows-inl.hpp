// SPDX-License-Identifier: Apache-2.0
//
// A pass over four rows at a time that lie apart and share a table row: heads outside tokens.
//
//   pass_four_rows   line by line, whose coefficients serve four rows
//
// Each of the four rows has instructions of its own. Processors that look ahead by the instruction
// then see four streams, each read and written from one token to the next; one loop over the rows
// would show them addresses that jump. Pointers are those of the window. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_FOUR_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_FOUR_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_FOUR_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_FOUR_ROWS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Columns that go together: a line, of either member where these are apart, so that stores past
/// the caches fill one row's lines before they turn to the next.
template <class Kernel, class D = hn::ScalableTag<Widened<typename Kernel::T>>>
constexpr Index columns_of_line = std::clamp<Index>(
    elements_of_line<typename Kernel::T> / (pairs_of_column<Kernel, D> * Kernel::out_step), 1, 4);

/// Likewise if rows are a multiple of them: the 64 pairs of most models' heads, 32 of double, or as
/// many as have their coefficients in half of the registers. Each of the four streams is then read
/// and written for several lines at a time.
template <class Kernel, class D = hn::ScalableTag<Widened<typename Kernel::T>>>
constexpr Index columns_of_lines =
    std::max(columns_of_line<Kernel, D>,
             std::min<Index>(256 / sizeof(Widened<typename Kernel::T>) / pairs_of_column<Kernel, D>,
                             vector_registers / 2 / Kernel::template Column<D>::registers));

template <class Kernel>
HWY_INLINE void next_row(RowPointers<Kernel>& row, const RowSteps& rows) {
  row.advance(rows);
  row.hide();
}

template <class Kernel, Stores stores, class D, class T, std::size_t... i>
HWY_NOINLINE void rotate_four_rows(D d, const RowPlan& plan, const Run& run, const Tile<T>& block,
                                   std::index_sequence<i...> together) {
  using Column = typename Kernel::template Column<D>;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  constexpr Index width = static_cast<Index>(sizeof...(i)) * pairs;
  const Turn<Kernel::swap> turn{plan.direction};
  const RowSteps rows = block.inner;
  const RowSteps tokens = block.outer;
  // From the last row's pairs to the first row's next ones.
  const RowSteps back{0, width * Kernel::in_step - 3 * rows.x,
                      width * Kernel::out_step - 3 * rows.y, 0};
  const RowPointers<Kernel> first = first_row<Kernel>(run, 0, block, turn.direction);
  RowPlace place;
  for (Index left = tokens.count; left > 0; --left) {
    TableRow<T> table{block.cos + place.table, block.sin + place.table};
    RowPointers<Kernel> row = first.at(place);
    for (Index pairs_left = run.count; pairs_left > 0; pairs_left -= width) {
      row.hide();
      const Column columns[] = {
          column_of<Kernel>(d, table, run, static_cast<Index>(i) * pairs, turn)...};
      table.cos += width;
      table.sin += width;
      rotate_columns<Kernel, stores>(d, row, 0, columns, together);
      next_row(row, rows);
      rotate_columns<Kernel, stores>(d, row, 0, columns, together);
      next_row(row, rows);
      rotate_columns<Kernel, stores>(d, row, 0, columns, together);
      next_row(row, rows);
      rotate_columns<Kernel, stores>(d, row, 0, columns, together);
      row.advance(back);
    }
    place.x += tokens.x;
    place.y += tokens.y;
    place.table += tokens.table;
  }
}

/// The inner level is four rows, and a row columns_of_line columns or a multiple. Not for the
/// inverse, whose coefficients are divided first.
template <class Kernel, Stores stores, class T>
void pass_four_rows(const RowPlan& plan, const Run& run, const Tile<T>& block) {
  const hn::ScalableTag<Widened<T>> d;
  constexpr Index lines = columns_of_lines<Kernel>;
  constexpr Index line = columns_of_line<Kernel>;
  if constexpr (lines > line) {
    if (run.count % (lines * pairs_of_column<Kernel, decltype(d)>) == 0) {
      constexpr std::make_index_sequence<static_cast<std::size_t>(lines)> together;
      return rotate_four_rows<Kernel, stores>(d, plan, run, block, together);
    }
  }
  constexpr std::make_index_sequence<static_cast<std::size_t>(line)> together;
  rotate_four_rows<Kernel, stores>(d, plan, run, block, together);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
