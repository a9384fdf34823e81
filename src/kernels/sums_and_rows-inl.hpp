// SPDX-License-Identifier: Apache-2.0
//
// Sums of pairs' products (pair_sums-inl.hpp) and the rows that are rotated, in one loop: where
// only differences are summed, reading g and storing dx then share the time.
//
//   dx = the rotation's transpose of g      sum += u_a g_B - u_b g_A
//
// A column has its coefficients and its sums in registers while the rows pass. Compiled once per
// target.
#if defined(EIGEN_ROPE_KERNEL_SUMS_AND_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_SUMS_AND_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_SUMS_AND_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_SUMS_AND_ROWS_INL_HPP
#endif

#include <cstdint>
#include <utility>

#include "kernels/pair_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With SSE4 sums and dx are formed one after the other: almost every processor has AVX2, and these
// loops would be half of the code here.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4

/// Columns of a pass: a row of 128 elements. Where registers do not hold all coefficients and sums,
/// reading some of them from the stack costs less than passing the rows again.
constexpr std::size_t columns_rotated_together =
    HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 8;

/// Where a pass reads u and g and writes dx in one row: the members of the first pair.
template <Members members, class T>
struct BackwardPointers {
  const T* u_a;
  const T* u_b;
  const T* g_a;
  const T* g_b;
  T* dx_a;
  T* dx_b;

  HWY_INLINE void advance(Index u, Index g, Index dx) {
    u_a += u;
    u_b += u;
    g_a += g;
    g_b += g;
    dx_a += dx;
    dx_b += dx;
  }

  /// Asks for the lines of `count` members of u and g: they are read in another order than they lie
  /// in memory.
  HWY_INLINE void ask_for_members(Index count) const {
    ask_for(u_a, count);
    ask_for(u_b, count);
    ask_for(g_a, count);
    ask_for(g_b, count);
  }

  /// As RowPointers::hide.
  HWY_INLINE void hide() {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
    if constexpr (members == Members::separate) {
      asm("" : "+r"(u_a), "+r"(u_b), "+r"(g_a), "+r"(g_b), "+r"(dx_a), "+r"(dx_b));
    } else {
      asm("" : "+r"(u_a), "+r"(g_a), "+r"(dx_a));
    }
#endif
  }
};

/// Some columns of all rows that share a table row: differences summed, g rotated into dx.
template <class Kernel, Members members, Stores stores, class T, class Sums, std::size_t... i>
HWY_INLINE void add_and_rotate_columns(const Run& sum_run, const Run& run, Index k,
                                       const RotatedPairRows<T>& rows, Sums& sums,
                                       std::index_sequence<i...>) {
  const hn::ScalableTag<float> d;
  const hn::Half<decltype(d)> half;
  const D wide;
  constexpr Index pairs = 2 * lanes;
  constexpr Index step = members == Members::separate ? 1 : 2;
  constexpr Index width = pairs * step;
  using Column = typename Kernel::template Column<hn::ScalableTag<float>>;
  const TableRow<T> table{rows.cos, rows.sin};
  const Turn<Kernel::swap> turn{Direction::backward};
  const Column columns[] = {
      column_of<Kernel>(d, table, run, k + static_cast<Index>(i) * pairs, turn)...};
  const Index A = sum_run.out_a + k * step;
  const Index B = sum_run.out_b + k * step;
  BackwardPointers<members, T> first{
      rows.u + sum_run.in_a + k * step, rows.u + sum_run.in_b + k * step, rows.g + A, rows.g + B,
      rows.dx + run.out_a + k * step,   rows.dx + run.out_b + k * step};
  V lower[] = {(static_cast<void>(i), hn::Zero(wide))...};
  V upper[] = {(static_cast<void>(i), hn::Zero(wide))...};
  const auto pass_column = [&](const BackwardPointers<members, T>& row, Index at,
                               const Column& column, V& low, V& high) HWY_ATTR {
    const auto u = load_as<members, members>(d, row.u_a + at, row.u_b + at);
    const auto g = load_as<members, members>(d, row.g_a + at, row.g_b + at);
    const auto difference = difference_of<members>(d, u, g);
    low = hn::Add(low, hn::PromoteTo(wide, hn::LowerHalf(half, difference)));
    high = hn::Add(high, hn::PromoteTo(wide, hn::UpperHalf(half, difference)));
    if constexpr (Kernel::swap == Swap::members) {
      const Two<hn::Vec<decltype(d)>> swapped{g.second, g.first};
      put<Kernel, stores>(d, Kernel::rotate(d, swapped, column), row.dx_b + at, row.dx_a + at);
    } else {
      put<Kernel, stores>(d, Kernel::rotate(d, g, column), row.dx_a + at, row.dx_b + at);
    }
  };
  for (Index o = 0; o < rows.outer.count; ++o) {
    BackwardPointers<members, T> row = first;
    for (Index left = rows.inner.count; left > 0; --left) {
      row.hide();
      if constexpr (members == Members::separate) {
        if (k == 0) row.ask_for_members(sum_run.count);
      }
      (pass_column(row, static_cast<Index>(i) * width, columns[i], lower[i], upper[i]), ...);
      row.advance(rows.inner.x, rows.inner.y, rows.dx_inner);
    }
    first.advance(rows.outer.x, rows.outer.y, rows.dx_outer);
  }
  const auto store_sums = [&](const V& v, Index first_pair) HWY_ATTR {
    double* const target = sums.crossed() + first_pair * step;
    if constexpr (members == Members::separate) {
      hn::StoreU(v, wide, target + B);
    } else {
      hn::StoreInterleaved2(hn::Zero(wide), v, wide, target + A);
    }
  };
  (store_sums(lower[i], static_cast<Index>(i) * pairs), ...);
  (store_sums(upper[i], static_cast<Index>(i) * pairs + lanes), ...);
}

template <class Kernel, Members members, Stores stores, class T, class Sums>
void add_and_rotate_runs(const RowPlan& plan, const Runs& sum_runs, const Runs& runs,
                         const RotatedPairRows<T>& rows, Sums& sums) {
  constexpr std::size_t together = columns_rotated_together;
  constexpr auto pairs = 2 * lanes;
  constexpr auto most = static_cast<Index>(together) * pairs;
  for (int r = 0; r < runs.count; ++r) {
    const Run& sum_run = sum_runs.run[static_cast<std::size_t>(r)];
    const Run& run = runs.run[static_cast<std::size_t>(r)];
    Index k = 0;
    for (; k + most <= run.count; k += most) {
      add_and_rotate_columns<Kernel, members, stores>(sum_run, run, k, rows, sums,
                                                      std::make_index_sequence<together>());
    }
    for (; k < run.count; k += pairs) {
      add_and_rotate_columns<Kernel, members, stores>(sum_run, run, k, rows, sums,
                                                      std::index_sequence<0>());
    }
  }
  if (plan.rotary_dims == plan.row_length || rows.dx == rows.g) return;
  const OutsideOfWindow outside(plan);
  for (Index o = 0; o < rows.outer.count; ++o) {
    for (Index row = 0; row < rows.inner.count; ++row) {
      outside.copy_row<Stores::cached>(rows.g + o * rows.outer.y + row * rows.inner.y,
                                       rows.dx + o * rows.dx_outer + row * rows.dx_inner);
    }
  }
}

/// Whether every pass over the rows fills whole cache lines of dx.
template <class T>
bool passes_fill_lines(const RowPlan& plan, const Runs& runs, const RotatedPairRows<T>& rows) {
  constexpr Index line = 64 / static_cast<Index>(sizeof(T));
  constexpr auto most = static_cast<Index>(columns_rotated_together) * 2 * lanes;
  const bool lines = reinterpret_cast<std::uintptr_t>(rows.dx) % 64 == 0 &&
                     rows.dx_inner % line == 0 && rows.dx_outer % line == 0;
  bool whole = lines && plan.rotary_dims == plan.row_length && most % line == 0;
  for (const Run& run : runs) {
    whole = whole && run.count % most == 0 && run.out_a % line == 0 &&
            (run.out_step == 2 || run.out_b % line == 0);
  }
  return whole;
}

template <class Kernel, Members members, class T, class Sums>
void add_and_rotate_with(const RowPlan& plan, const Runs& sum_runs, const Runs& runs,
                         const RotatedPairRows<T>& rows, Sums& sums) {
  if (rows.stores == Stores::streaming && passes_fill_lines(plan, runs, rows)) {
    add_and_rotate_runs<Kernel, members, Stores::streaming>(plan, sum_runs, runs, rows, sums);
  } else {
    add_and_rotate_runs<Kernel, members, Stores::cached>(plan, sum_runs, runs, rows, sums);
  }
}

template <class T, class Sums>
bool add_and_rotate_all(const RowPlan& plan, const Runs& sum_runs, const RotatedPairRows<T>& rows,
                        Sums& sums) {
  if (plan.full_width || plan.permutes()) return false;
  const Runs runs = runs_of(plan);
  for (const Run& run : runs) {
    if (run.count % (2 * lanes) != 0) return false;
  }
  if (plan.kind == PairKind::interleaved) {
    add_and_rotate_with<NeighbourKernel<TableWidth::half, T>, Members::adjacent>(plan, sum_runs,
                                                                                 runs, rows, sums);
  } else {
    using Kernel = ApartKernel<Members::separate, Members::separate, TableWidth::half, T>;
    add_and_rotate_with<Kernel, Members::separate>(plan, sum_runs, runs, rows, sums);
  }
  return true;
}

#else

template <class T, class Sums>
bool add_and_rotate_all(const RowPlan&, const Runs&, const RotatedPairRows<T>&, Sums&) {
  return false;
}

#endif  // HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
