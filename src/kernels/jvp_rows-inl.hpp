// SPDX-License-Identifier: Apache-2.0
//
// Two rotations and their sum (eigen_rope/kernels/detail/jvp_rows.hpp).
//
//   dy = R dx + dR x      R of the table, dR of its tangent
//
// As many columns as have both tables' coefficients in registers go together. Rows pass a few at a
// time, and the first columns ask for all of each row, as in pair_sums-inl.hpp. Compiled once per
// target.
#if defined(EIGEN_ROPE_KERNEL_JVP_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_JVP_ROWS_INL_HPP
#undef EIGEN_ROPE_KERNEL_JVP_ROWS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_JVP_ROWS_INL_HPP
#endif

#include <algorithm>
#include <cstdint>
#include <utility>

#include "eigen_rope/kernels/detail/jvp_rows.hpp"
#include "kernels/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
namespace jvp {

using D = hn::ScalableTag<float>;
constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
constexpr Index line = 64 / static_cast<Index>(sizeof(float));

/// Columns whose coefficients, of two tables, take half of the registers.
template <class Kernel>
constexpr Index columns_together = std::max(1,
                                            std::min(4, coefficient_registers<float> / 4 /
                                                            Kernel::template Column<D>::registers));

/// Some columns of all rows; of each row, `fetched` elements of x and dx are asked for.
template <class Kernel, Stores stores, std::size_t... i>
HWY_INLINE void add_columns(const Run& run, Index k, const JvpRows& rows, Index fetched,
                            std::index_sequence<i...>) {
  const D d;
  constexpr Index step = Kernel::in_step;
  constexpr Index width = lanes * step;
  using Column = typename Kernel::template Column<D>;
  const Turn<Kernel::swap> turn{Direction::forward};
  const TableRow<float> table{rows.cos, rows.sin};
  const TableRow<float> tangent{rows.tangent_cos, rows.tangent_sin};
  const Column columns[] = {
      column_of<Kernel>(d, table, run, k + static_cast<Index>(i) * lanes, turn)...};
  const Column tangents[] = {
      column_of<Kernel>(d, tangent, run, k + static_cast<Index>(i) * lanes, turn)...};
  const Index a = run.in_a + k * step;
  const Index b = run.in_b + k * step;
  const auto add_column = [&](const float* x, const float* dx, float* dy, const Column& of_dx,
                              const Column& of_x) HWY_ATTR {
    const auto moved = Kernel::rotate(d, dx + a, dx + b, of_dx);
    const auto turned = Kernel::rotate(d, x + a, x + b, of_x);
    const typename Kernel::template Result<D> sum{hn::Add(moved.first, turned.first),
                                                  hn::Add(moved.second, turned.second)};
    put<Kernel, stores>(d, sum, dy + a, dy + b);
  };
  const float* x = rows.x;
  const float* dx = rows.dx;
  float* dy = rows.dy;
  for (Index row = 0; row < rows.count; ++row) {
    ask_for(dx, fetched);
    ask_for(x, fetched);
    (add_column(x + static_cast<Index>(i) * width, dx + static_cast<Index>(i) * width,
                dy + static_cast<Index>(i) * width, columns[i], tangents[i]),
     ...);
    x += rows.x_step;
    dx += rows.dx_step;
    dy += rows.dy_step;
  }
}

template <class Kernel, Stores stores>
void add_runs(const Runs& runs, Index dims, const JvpRows& rows) {
  constexpr auto most = columns_together<Kernel> * lanes;
  Index fetched = dims;
  for (const Run& run : runs) {
    Index k = 0;
    for (; k + most <= run.count; k += most) {
      add_columns<Kernel, stores>(run, k, rows, run.count > most ? fetched : 0,
                                  std::make_index_sequence<columns_together<Kernel>>());
      fetched = 0;
    }
    for (; k < run.count; k += lanes)
      add_columns<Kernel, stores>(run, k, rows, 0, std::index_sequence<0>());
  }
}

template <class Kernel>
bool add_with(const RowPlan& plan, const Runs& runs, const JvpRows& rows) {
  bool lines = reinterpret_cast<std::uintptr_t>(rows.dy) % 64 == 0 && rows.dy_step % line == 0;
  for (const Run& run : runs) {
    if (run.count % lanes != 0) return false;
    lines = lines && run.count * Kernel::out_step % line == 0 && run.out_a % line == 0 &&
            (Kernel::out_step == 2 || run.out_b % line == 0);
  }
  if (rows.stores == Stores::streaming && !lines) return false;
  constexpr Index bytes_of_tile = 4096;
  const Index together =
      std::max<Index>(1, bytes_of_tile / (plan.rotary_dims * static_cast<Index>(sizeof(float))));
  JvpRows tile = rows;
  for (Index row = 0; row < rows.count; row += together) {
    tile.x = rows.x + row * rows.x_step;
    tile.dx = rows.dx + row * rows.dx_step;
    tile.dy = rows.dy + row * rows.dy_step;
    tile.count = std::min(together, rows.count - row);
    if (rows.stores == Stores::streaming) {
      add_runs<Kernel, Stores::streaming>(runs, plan.rotary_dims, tile);
    } else {
      add_runs<Kernel, Stores::cached>(runs, plan.rotary_dims, tile);
    }
  }
  return true;
}

}  // namespace jvp

inline bool add_rotations_float(const RowPlan& plan, const JvpRows& rows) {
  if (plan.full_width || plan.permutes()) return false;
  const Runs runs = runs_of(plan);
  if (plan.kind == PairKind::interleaved)
    return jvp::add_with<NeighbourKernel<TableWidth::half, float>>(plan, runs, rows);
  using Kernel = ApartKernel<Members::separate, Members::separate, TableWidth::half, float>;
  return jvp::add_with<Kernel>(plan, runs, rows);
}

#else

inline bool add_rotations_float(const RowPlan&, const JvpRows&) { return false; }

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
