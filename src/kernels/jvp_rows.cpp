// SPDX-License-Identifier: Apache-2.0
//
// Two rotations and their sum (eigen_rope/kernels/detail/jvp_rows.hpp), and the sum of two rows
// (add_rows.hpp), with the vectors of one target.
//
// As many columns as have both tables' coefficients in registers go together. Rows pass a few at a
// time, and the first columns ask for all of each row, as in pair_sums.cpp. Sums of rows go past
// the cache in whole lines of y alone, since one that is written partly costs hundreds of
// nanoseconds: what lies before the first line and behind the last goes through the cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jvp_rows.cpp"
#include <hwy/foreach_target.h>
//
#include "eigen_rope/kernels/detail/add_rows.hpp"
#include "eigen_rope/kernels/detail/jvp_rows.hpp"
#include "kernels/passes-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

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

bool add_rotations_float(const RowPlan& plan, const JvpRows& rows) {
  if (plan.full_width || plan.permutes()) return false;
  const Runs runs = runs_of(plan);
  if (plan.kind == PairKind::interleaved)
    return add_with<NeighbourKernel<TableWidth::half, float>>(plan, runs, rows);
  using Kernel = ApartKernel<Members::separate, Members::separate, TableWidth::half, float>;
  return add_with<Kernel>(plan, runs, rows);
}

#else

bool add_rotations_float(const RowPlan&, const JvpRows&) { return false; }

#endif  // HWY_TARGET != HWY_SCALAR

template <class T>
void add_through_cache(const T* a, const T* b, T* y, Index count) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr auto width = static_cast<Index>(hn::MaxLanes(d));
  for (; i + width <= count; i += width)
    hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
#endif
  for (; i < count; ++i) y[i] = a[i] + b[i];
}

template <class T>
void add_past_cache(const T* a, const T* b, T* y, Index count) {
#if HWY_TARGET == HWY_SCALAR
  add_through_cache(a, b, y, count);
#else
  constexpr auto of_line = static_cast<Index>(64 / sizeof(T));
  const hn::ScalableTag<T> d;
  constexpr auto width = static_cast<Index>(hn::MaxLanes(d));
  static_assert(of_line % width == 0);
  const auto into_line =
      static_cast<Index>(reinterpret_cast<std::uintptr_t>(y) / sizeof(T)) % of_line;
  const Index begin = std::min(count, (of_line - into_line) % of_line);
  const Index end = begin + (count - begin) / of_line * of_line;
  add_through_cache(a, b, y, begin);
  for (Index i = begin; i < end; i += width)
    hn::Stream(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  add_through_cache(a + end, b + end, y + end, count - end);
#endif
}

template <class T>
void add_any(const T* a, const T* b, T* y, Index count, Stores stores) {
  if (stores == Stores::streaming) {
    add_past_cache(a, b, y, count);
  } else {
    add_through_cache(a, b, y, count);
  }
}

void add_rows_float(const float* a, const float* b, float* y, Index count, Stores stores) {
  add_any(a, b, y, count, stores);
}
void add_rows_double(const double* a, const double* b, double* y, Index count, Stores stores) {
  add_any(a, b, y, count, stores);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

bool add_rotations(const RowPlan& plan, const JvpRows& rows) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_rotations_float);
  return for_targets[chosen_version()](plan, rows);
}

void add_rows(const float* a, const float* b, float* y, Index count, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_rows_float);
  for_targets[chosen_version()](a, b, y, count, stores);
}

void add_rows(const double* a, const double* b, double* y, Index count, Stores stores) {
  static constexpr auto for_targets = EIGEN_ROPE_VERSIONS(add_rows_double);
  for_targets[chosen_version()](a, b, y, count, stores);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
