// SPDX-License-Identifier: Apache-2.0
//
// Rotating a block of rows: the loop every path ends in.
//
// A block is two nested counts of rows (heads inside tokens, say), each with its own steps through x, y and the table; a table step of 0
// is a broadcast. x and y are the same memory (in place) or do not overlap at all. Here stands the template for any scalar; float and
// double go to kernels compiled once in the library, which give the same bits. Not here: shapes, checks, threads.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "rope/detail/plan.hpp"
#include "rope/detail/scalars.hpp"

namespace rope::detail {

/// `count` rows, each so many elements from the last.
struct RowSteps {
  Index count;
  Index x;
  Index y;
  Index table;
};

template <class XScalar, class TableScalar, class YScalar = XScalar>
struct RowBlock {
  const XScalar* x;
  YScalar* y;
  const TableScalar* cos;
  const TableScalar* sin;
  RowSteps inner;
  RowSteps outer;
};

/// The rotation of one pair, (a, b) in and out, with the coefficients of both of its rows.
template <Direction direction, class C>
inline void rotate_pair(const C& a, const C& b, const C& cos_a, const C& cos_b, const C& sin_a, const C& sin_b, C& out_a, C& out_b) {
  if constexpr (direction == Direction::forward) {
    out_a = cos_a * a - sin_a * b;
    out_b = cos_b * b + sin_b * a;
  } else if constexpr (direction == Direction::transpose) {
    out_a = cos_a * a + sin_b * b;
    out_b = cos_b * b - sin_a * a;
  } else {
    const C determinant = cos_a * cos_b + sin_a * sin_b;
    out_a = (cos_b * a + sin_a * b) / determinant;
    out_b = (cos_a * b - sin_b * a) / determinant;
  }
}

/// The same for a direction known only when the program runs.
template <class C>
inline void rotate_pair(Direction direction, const C& a, const C& b, const C& cos_a, const C& cos_b, const C& sin_a, const C& sin_b,
                        C& out_a, C& out_b) {
  if (direction == Direction::forward) {
    rotate_pair<Direction::forward, C>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  } else if (direction == Direction::transpose) {
    rotate_pair<Direction::transpose, C>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  } else {
    rotate_pair<Direction::inverse, C>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  }
}

/// One row's window. x, y, cos and sin point at the window's first element and at the table row.
template <Direction direction, class XScalar, class TableScalar, class YScalar>
inline void rotate_window(const Runs& runs, const XScalar* x, YScalar* y, const TableScalar* cos, const TableScalar* sin) {
  using C = ComputeScalar<XScalar, TableScalar>;
  for (const Run& run : runs) {
    for (Index k = 0; k < run.count; ++k) {
      const C a = static_cast<C>(x[run.in_a + k * run.in_step]);
      const C b = static_cast<C>(x[run.in_b + k * run.in_step]);
      const Index table_a = run.table_a + k * run.table_step;
      const Index table_b = run.table_b + k * run.table_step;
      C out_a, out_b;
      rotate_pair<direction, C>(a, b, static_cast<C>(cos[table_a]), static_cast<C>(cos[table_b]), static_cast<C>(sin[table_a]),
                                static_cast<C>(sin[table_b]), out_a, out_b);
      y[run.out_a + k * run.out_step] = static_cast<YScalar>(out_a);
      y[run.out_b + k * run.out_step] = static_cast<YScalar>(out_b);
    }
  }
}

template <Direction direction, class XScalar, class TableScalar, class YScalar>
void rotate_rows_loop(const RowPlan& plan, const RowBlock<XScalar, TableScalar, YScalar>& block) {
  const Runs runs = runs_of(plan);
  std::vector<XScalar> row_copy;
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < block.inner.count; ++i) {
      const XScalar* x = block.x + o * block.outer.x + i * block.inner.x;
      YScalar* y = block.y + o * block.outer.y + i * block.inner.y;
      const Index table = o * block.outer.table + i * block.inner.table;
      const XScalar* window = x + plan.offset;
      const bool in_place = static_cast<const void*>(x) == static_cast<const void*>(y);
      if (!in_place) {
        std::copy(x, x + plan.offset, y);
        std::copy(window + plan.rotary_dims, x + plan.row_length, y + plan.offset + plan.rotary_dims);
      } else if (plan.permutes()) {
        row_copy.assign(window, window + plan.rotary_dims);
        window = row_copy.data();
      }
      rotate_window<direction>(runs, window, y + plan.offset, block.cos + table, block.sin + table);
    }
  }
}

/// Any scalar.
template <class XScalar, class TableScalar, class YScalar>
void rotate_rows(const RowPlan& plan, const RowBlock<XScalar, TableScalar, YScalar>& block) {
  switch (plan.direction) {
    case Direction::forward: return rotate_rows_loop<Direction::forward>(plan, block);
    case Direction::transpose: return rotate_rows_loop<Direction::transpose>(plan, block);
    case Direction::inverse: return rotate_rows_loop<Direction::inverse>(plan, block);
  }
}

/// Compiled once, with the instructions of the machine it runs on.
void rotate_rows(const RowPlan& plan, const RowBlock<float, float>& block);
void rotate_rows(const RowPlan& plan, const RowBlock<double, double>& block);

}  // namespace rope::detail
