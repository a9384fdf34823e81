// SPDX-License-Identifier: Apache-2.0
//
// Rotating a block of rows: the loop every path ends in.
//
// A block is two nested counts of rows (heads inside tokens, say), each with its own steps through
// x, y and the table; a table step of 0 is a broadcast. x and y are the same memory (in place) or
// do not overlap at all. Here stands the template for any scalar; float, double, half and bfloat16
// go to kernels compiled once in the library, which give the same bits (a NaN's payload excepted);
// 16-bit tables are widened for them a few rows at a time. The callers check shapes and share rows
// among threads.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/plan.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// `count` rows, each so many elements from the last.
struct RowSteps {
  Index count;
  Index x;
  Index y;
  Index table;
};

/// A number that has been read by itself. A block is written one number at a time and copied at
/// once; compilers would copy several as one vector, which a processor can only read when all of
/// them have reached the cache, behind everything that was stored before. One token would feel it.
template <class Number>
Number read_alone(Number number) {
#ifdef __GNUC__
  asm("" : "+r"(number));
#endif
  return number;
}
inline RowSteps read_alone(const RowSteps& steps) {
  return {read_alone(steps.count), read_alone(steps.x), read_alone(steps.y),
          read_alone(steps.table)};
}

/// Where one row lies, in elements from the beginning.
struct RowPlace {
  Index x = 0;
  Index y = 0;
  Index table = 0;
};

/// Through the caches, or past them where y is too large to stay there.
enum class Stores { cached, streaming };

/// Who orders what is stored past the caches before whatever the thread stores later: the block
/// itself, or its caller, who calls flush_streamed_rows() behind the last of its blocks. A fence
/// waits for all stores so far, so one behind each small block would stall every block.
enum class Fence { of_block, of_caller };

template <class XScalar, class TableScalar, class YScalar = XScalar>
struct RowBlock {
  const XScalar* x;
  YScalar* y;
  const TableScalar* cos;
  const TableScalar* sin;
  RowSteps inner;
  RowSteps outer;
  Stores stores = Stores::cached;
  Fence fence = Fence::of_block;
};

/// The rotation of one pair of an x of XScalar, (a, b) in and out, with the coefficients of both of
/// its rows.
template <class XScalar, Direction direction, class C>
inline void rotate_pair(const C& a, const C& b, const C& cos_a, const C& cos_b, const C& sin_a,
                        const C& sin_b, C& out_a, C& out_b) {
  if constexpr (direction == Direction::forward) {
    out_a = sum_of_products<XScalar, C>(cos_a, a, -sin_a, b);
    out_b = sum_of_products<XScalar, C>(cos_b, b, sin_b, a);
  } else if constexpr (direction == Direction::backward) {
    out_a = sum_of_products<XScalar, C>(cos_a, a, sin_b, b);
    out_b = sum_of_products<XScalar, C>(cos_b, b, -sin_a, a);
  } else {
    const C determinant = rounded_sum_of_products(cos_a, cos_b, sin_a, sin_b);
    out_a = sum_of_products<XScalar, C>(cos_b / determinant, a, sin_a / determinant, b);
    out_b = sum_of_products<XScalar, C>(cos_a / determinant, b, -sin_b / determinant, a);
  }
}

/// The same for a direction known only when the program runs.
template <class XScalar, class C>
inline void rotate_pair(Direction direction, const C& a, const C& b, const C& cos_a, const C& cos_b,
                        const C& sin_a, const C& sin_b, C& out_a, C& out_b) {
  if (direction == Direction::forward) {
    rotate_pair<XScalar, Direction::forward, C>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  } else if (direction == Direction::backward) {
    rotate_pair<XScalar, Direction::backward, C>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  } else {
    rotate_pair<XScalar, Direction::inverse, C>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
  }
}

/// One row's window. x, y, cos and sin point at the window's first element and at the table row.
template <Direction direction, class XScalar, class TableScalar, class YScalar>
inline void rotate_window(const Runs& runs, const XScalar* x, YScalar* y, const TableScalar* cos,
                          const TableScalar* sin) {
  using C = ComputeScalar<XScalar, TableScalar>;
  for (const Run& run : runs) {
    for (Index k = 0; k < run.count; ++k) {
      const C a = converted<C>(x[run.in_a + k * run.in_step]);
      const C b = converted<C>(x[run.in_b + k * run.in_step]);
      const Index table_a = run.table_a + k * run.table_step;
      const Index table_b = run.table_b + k * run.table_step;
      C out_a, out_b;
      rotate_pair<XScalar, direction, C>(a, b, converted<C>(cos[table_a]),
                                         converted<C>(cos[table_b]), converted<C>(sin[table_a]),
                                         converted<C>(sin[table_b]), out_a, out_b);
      y[run.out_a + k * run.out_step] = static_cast<YScalar>(out_a);
      y[run.out_b + k * run.out_step] = static_cast<YScalar>(out_b);
    }
  }
}

/// What does not turn.
template <class XScalar, class YScalar>
void copy_elements(const XScalar* begin, const XScalar* end, YScalar* to) {
  if constexpr (std::is_same_v<XScalar, YScalar>) {
    std::copy(begin, end, to);
  } else {
    std::transform(begin, end, to,
                   [](const XScalar& element) { return converted<YScalar>(element); });
  }
}

/// What lies outside the window of one row.
template <class XScalar, class YScalar>
void copy_outside_window(const RowPlan& plan, const XScalar* x, YScalar* y) {
  const Index end = plan.offset + plan.rotary_dims;
  copy_elements(x, x + plan.offset, y);
  copy_elements(x + end, x + plan.row_length, y + end);
}

template <Direction direction, class XScalar, class TableScalar, class YScalar>
void rotate_rows_loop(const RowPlan& plan, const RowBlock<XScalar, TableScalar, YScalar>& block) {
  const Runs runs = runs_of(plan);
  Scratch<XScalar> row_copy(plan.permutes() ? plan.rotary_dims : 0);
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < block.inner.count; ++i) {
      const XScalar* x = block.x + o * block.outer.x + i * block.inner.x;
      YScalar* y = block.y + o * block.outer.y + i * block.inner.y;
      const Index table = o * block.outer.table + i * block.inner.table;
      const XScalar* window = x + plan.offset;
      const bool in_place = static_cast<const void*>(x) == static_cast<const void*>(y);
      if (!in_place) {
        copy_outside_window(plan, x, y);
      } else if (plan.permutes()) {
        std::copy(window, window + plan.rotary_dims, row_copy.data());
        window = row_copy.data();
      }
      rotate_window<direction>(runs, window, y + plan.offset, block.cos + table, block.sin + table);
    }
  }
}

/// Calls call(direction) with a direction that is known when compiling.
template <class Call>
void for_direction(Direction direction, const Call& call) {
  switch (direction) {
    case Direction::forward: return call(std::integral_constant<Direction, Direction::forward>());
    case Direction::backward: return call(std::integral_constant<Direction, Direction::backward>());
    case Direction::inverse: return call(std::integral_constant<Direction, Direction::inverse>());
  }
}

/// In plain C++.
template <class XScalar, class TableScalar, class YScalar>
void rotate_rows_plainly(const RowPlan& plan,
                         const RowBlock<XScalar, TableScalar, YScalar>& block) {
  for_direction(plan.direction, [&](auto direction) { rotate_rows_loop<direction>(plan, block); });
}

// Compiled once, with the instructions of the machine it runs on
// (eigen_rope/machine/kernel_target.hpp).
EIGEN_ROPE_API void rotate_rows(const RowPlan& plan, const RowBlock<float, float>& block);
EIGEN_ROPE_API void rotate_rows(const RowPlan& plan, const RowBlock<double, double>& block);
EIGEN_ROPE_API void rotate_rows(const RowPlan& plan, const RowBlock<Eigen::half, float>& block);
EIGEN_ROPE_API void rotate_rows(const RowPlan& plan, const RowBlock<Eigen::bfloat16, float>& block);
/// After the last streamed row, before another thread is told of it.
EIGEN_ROPE_API void flush_streamed_rows();
EIGEN_ROPE_API void widen(const Eigen::half* from, float* to, Index count);
EIGEN_ROPE_API void widen(const Eigen::bfloat16* from, float* to, Index count);

/// With the entries of a 16-bit table as floats, as many rows at a time as stay close.
template <class Scalar, class TableScalar>
void rotate_rows_widened(const RowPlan& plan, const RowBlock<Scalar, TableScalar>& block) {
  constexpr Index room = 1024;
  alignas(64) std::array<float, room> cos_room;
  alignas(64) std::array<float, room> sin_room;
  const Index width = plan.full_width ? plan.rotary_dims : plan.rotary_dims / 2;
  Scratch<float> large(width > room ? 2 * width : 0);
  float* const cos = large.empty() ? cos_room.data() : large.data();
  float* const sin = large.empty() ? sin_room.data() : large.data() + width;
  const Index together = std::max<Index>(1, room / width);

  // The level whose table rows are widened together; the other is walked around them, or passes
  // with them where it shares them.
  const bool by_inner = block.inner.table != 0;
  const RowSteps& level = by_inner ? block.inner : block.outer;
  const RowSteps& other = by_inner ? block.outer : block.inner;
  const Index rounds = other.table != 0 ? other.count : 1;
  for (Index round = 0; round < rounds; ++round) {
    for (Index first = 0; first < level.count;) {
      const Index count =
          level.table == 0 ? level.count : (std::min)(together, level.count - first);
      const Index widened = level.table == 0 ? 1 : count;
      const Index table = round * other.table + first * level.table;
      for (Index row = 0; row < widened; ++row) {
        widen(block.cos + table + row * level.table, cos + row * width, width);
        widen(block.sin + table + row * level.table, sin + row * width, width);
      }
      RowBlock<Scalar, float> part{block.x + round * other.x + first * level.x,
                                   block.y + round * other.y + first * level.y,
                                   cos,
                                   sin,
                                   block.inner,
                                   block.outer,
                                   block.stores,
                                   block.fence};
      RowSteps& part_level = by_inner ? part.inner : part.outer;
      RowSteps& part_other = by_inner ? part.outer : part.inner;
      part_level.count = count;
      part_level.table = level.table == 0 ? 0 : width;
      part_other.table = 0;
      if (rounds > 1) part_other.count = 1;
      rotate_rows(plan, part);
      first += count;
    }
  }
}

/// Any scalar.
template <class XScalar, class TableScalar, class YScalar>
void rotate_rows(const RowPlan& plan, const RowBlock<XScalar, TableScalar, YScalar>& block) {
  constexpr bool x_is_narrow = std::is_same_v<Widened<XScalar>, float>;
  constexpr bool y_is_like_x = std::is_same_v<XScalar, YScalar>;
  if constexpr (is_16_bit<TableScalar> && x_is_narrow && y_is_like_x) {
    rotate_rows_widened(plan, block);
  } else {
    rotate_rows_plainly(plan, block);
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
