// SPDX-License-Identifier: Apache-2.0
//
// The row loop of rope/detail/rows.hpp for float and double, compiled for each instruction set and chosen when the program runs.
//
// Products and sums are rounded separately (this file is compiled without contraction into fused multiply-adds), so every target gives
// the bits of the template loop.
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "rope/detail/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Direction direction, class V>
HWY_INLINE void rotate_vectors(V a, V b, V cos_a, V cos_b, V sin_a, V sin_b, V& out_a, V& out_b) {
  if constexpr (direction == Direction::forward) {
    out_a = hn::Sub(hn::Mul(cos_a, a), hn::Mul(sin_a, b));
    out_b = hn::Add(hn::Mul(cos_b, b), hn::Mul(sin_b, a));
  } else if constexpr (direction == Direction::transpose) {
    out_a = hn::Add(hn::Mul(cos_a, a), hn::Mul(sin_b, b));
    out_b = hn::Sub(hn::Mul(cos_b, b), hn::Mul(sin_a, a));
  } else {
    const V determinant = hn::Add(hn::Mul(cos_a, cos_b), hn::Mul(sin_a, sin_b));
    out_a = hn::Div(hn::Add(hn::Mul(cos_b, a), hn::Mul(sin_a, b)), determinant);
    out_b = hn::Div(hn::Sub(hn::Mul(cos_a, b), hn::Mul(sin_b, a)), determinant);
  }
}

/// Two vectors of a run's members, `step` 1 or 2 apart.
template <int step, class D, class T, class V>
HWY_INLINE void load_members(D d, const T* first, const T* second, V& a, V& b) {
  if constexpr (step == 1) {
    a = hn::LoadU(d, first);
    b = hn::LoadU(d, second);
  } else {
    hn::LoadInterleaved2(d, first, a, b);
  }
}

template <int step, class D, class T, class V>
HWY_INLINE void store_members(D d, V a, V b, T* first, T* second) {
  if constexpr (step == 1) {
    hn::StoreU(a, d, first);
    hn::StoreU(b, d, second);
  } else {
    hn::StoreInterleaved2(a, b, d, first);
  }
}

template <Direction direction, int in_step, int out_step, bool full_width, class T>
HWY_INLINE void rotate_run(const Run& run, const T* x, T* y, const T* cos, const T* sin) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int table_step = !full_width ? 1 : direction == Direction::forward ? out_step : in_step;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index k = 0;
  for (; k + lanes <= run.count; k += lanes) {
    V a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b;
    load_members<in_step>(d, x + run.in_a + k * in_step, x + run.in_b + k * in_step, a, b);
    if constexpr (full_width) {
      load_members<table_step>(d, cos + run.table_a + k * table_step, cos + run.table_b + k * table_step, cos_a, cos_b);
      load_members<table_step>(d, sin + run.table_a + k * table_step, sin + run.table_b + k * table_step, sin_a, sin_b);
    } else {
      cos_a = cos_b = hn::LoadU(d, cos + run.table_a + k);
      sin_a = sin_b = hn::LoadU(d, sin + run.table_a + k);
    }
    rotate_vectors<direction>(a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
    store_members<out_step>(d, out_a, out_b, y + run.out_a + k * out_step, y + run.out_b + k * out_step);
  }
  for (; k < run.count; ++k) {
    const Index table_a = run.table_a + k * table_step;
    const Index table_b = run.table_b + k * table_step;
    T out_a, out_b;
    rotate_pair<direction, T>(x[run.in_a + k * in_step], x[run.in_b + k * in_step], cos[table_a], cos[table_b], sin[table_a],
                              sin[table_b], out_a, out_b);
    y[run.out_a + k * out_step] = out_a;
    y[run.out_b + k * out_step] = out_b;
  }
}

template <Direction direction, int in_step, int out_step, bool full_width, class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, T>& block) {
  std::vector<T> row_copy(plan.permutes ? static_cast<std::size_t>(plan.rotary_dims) : 0);
  const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  const Index tail = plan.offset + plan.rotary_dims;
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < block.inner.count; ++i) {
      const T* x = block.x + o * block.outer.x + i * block.inner.x;
      T* y = block.y + o * block.outer.y + i * block.inner.y;
      const Index table = o * block.outer.table + i * block.inner.table;
      const T* window = x + plan.offset;
      if (x != y) {
        if (plan.offset > 0) std::memcpy(y, x, bytes(plan.offset));
        if (tail < plan.row_length) std::memcpy(y + tail, x + tail, bytes(plan.row_length - tail));
      } else if (plan.permutes) {
        std::memcpy(row_copy.data(), window, bytes(plan.rotary_dims));
        window = row_copy.data();
      }
      for (int r = 0; r < plan.run_count; ++r) {
        rotate_run<direction, in_step, out_step, full_width>(plan.runs[static_cast<std::size_t>(r)], window, y + plan.offset,
                                                             block.cos + table, block.sin + table);
      }
    }
  }
}

template <Direction direction, class T>
void rotate_direction(const RowPlan& plan, const RowBlock<T, T>& block) {
  const auto call = [&](auto in_step, auto out_step) {
    if (plan.full_width) {
      rotate_block<direction, in_step(), out_step(), true>(plan, block);
    } else {
      rotate_block<direction, in_step(), out_step(), false>(plan, block);
    }
  };
  using One = std::integral_constant<int, 1>;
  using Two = std::integral_constant<int, 2>;
  switch (plan.pairing.kind()) {
    case PairKind::half:
    case PairKind::quarter: return call(One{}, One{});
    case PairKind::interleaved: return call(Two{}, Two{});
    case PairKind::interleaved_to_half: break;
  }
  if constexpr (direction == Direction::forward) {
    call(Two{}, One{});
  } else {
    call(One{}, Two{});
  }
}

template <class T>
void rotate_any(const RowPlan& plan, const RowBlock<T, T>& block) {
  switch (plan.direction) {
    case Direction::forward: return rotate_direction<Direction::forward>(plan, block);
    case Direction::transpose: return rotate_direction<Direction::transpose>(plan, block);
    case Direction::inverse: return rotate_direction<Direction::inverse>(plan, block);
  }
}

void rotate_float(const RowPlan& plan, const RowBlock<float, float>& block) { rotate_any(plan, block); }
void rotate_double(const RowPlan& plan, const RowBlock<double, double>& block) { rotate_any(plan, block); }

}  // namespace rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rope::detail {

HWY_EXPORT(rotate_float);
HWY_EXPORT(rotate_double);

void rotate_rows(const RowPlan& plan, const RowBlock<float, float>& block) { HWY_DYNAMIC_DISPATCH(rotate_float)(plan, block); }
void rotate_rows(const RowPlan& plan, const RowBlock<double, double>& block) { HWY_DYNAMIC_DISPATCH(rotate_double)(plan, block); }

}  // namespace rope::detail
#endif  // HWY_ONCE
