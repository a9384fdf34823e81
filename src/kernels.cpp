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

/// The windows of some rows. Held by value in locals: vector stores may alias anything else.
template <class T>
struct Rows {
  const T* x;
  T* y;
  const T* cos;
  const T* sin;
  Index count, x_step, y_step, table_step;
};

/// Pairs whose members lie in different vectors.
template <Direction direction, int in_step, int out_step, bool full_width>
struct ApartKernel {
  // NOLINTNEXTLINE(bugprone-branch-clone): the steps are the same for some kinds
  static constexpr int table_step = !full_width ? 1 : direction == Direction::forward ? out_step : in_step;

  template <class V>
  struct Coefficients {
    V cos_a, cos_b, sin_a, sin_b;
  };

  template <class D, class T, class V = hn::Vec<D>>
  static HWY_INLINE Coefficients<V> load(D d, const T* cos_first, const T* cos_second, const T* sin_first, const T* sin_second) {
    Coefficients<V> v;
    if constexpr (full_width) {
      load_members<table_step>(d, cos_first, cos_second, v.cos_a, v.cos_b);
      load_members<table_step>(d, sin_first, sin_second, v.sin_a, v.sin_b);
    } else {
      v.cos_a = v.cos_b = hn::LoadU(d, cos_first);
      v.sin_a = v.sin_b = hn::LoadU(d, sin_first);
    }
    return v;
  }

  template <class D, class T, class V>
  static HWY_INLINE void rotate(D d, const T* x_first, const T* x_second, T* y_first, T* y_second, const Coefficients<V>& v) {
    V a, b, out_a, out_b;
    load_members<in_step>(d, x_first, x_second, a, b);
    rotate_vectors<direction>(a, b, v.cos_a, v.cos_b, v.sin_a, v.sin_b, out_a, out_b);
    store_members<out_step>(d, out_a, out_b, y_first, y_second);
  }

  /// The pairs of a run from `begin` on, row by row.
  template <class T>
  static HWY_INLINE void rotate_in_order(const Run& run, const Index begin, const Rows<T> rows) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Index count = run.count;
    const T* cos_first = rows.cos + run.table_a;
    const T* cos_second = rows.cos + run.table_b;
    const T* sin_first = rows.sin + run.table_a;
    const T* sin_second = rows.sin + run.table_b;
    const T* x_first = rows.x + run.in_a;
    const T* x_second = rows.x + run.in_b;
    T* y_first = rows.y + run.out_a;
    T* y_second = rows.y + run.out_b;
    for (Index row = 0; row < rows.count; ++row) {
      Index k = begin;
      for (; k + lanes <= count; k += lanes) {
        const Index t = k * table_step;
        const auto v = load(d, cos_first + t, cos_second + t, sin_first + t, sin_second + t);
        rotate(d, x_first + k * in_step, x_second + k * in_step, y_first + k * out_step, y_second + k * out_step, v);
      }
      for (; k < count; ++k) {
        const Index t = k * table_step;
        T out_a, out_b;
        rotate_pair<direction, T>(x_first[k * in_step], x_second[k * in_step], cos_first[t], cos_second[t], sin_first[t], sin_second[t],
                                  out_a, out_b);
        y_first[k * out_step] = out_a;
        y_second[k * out_step] = out_b;
      }
      x_first += rows.x_step;
      x_second += rows.x_step;
      y_first += rows.y_step;
      y_second += rows.y_step;
      cos_first += rows.table_step;
      cos_second += rows.table_step;
      sin_first += rows.table_step;
      sin_second += rows.table_step;
    }
  }

  /// As many columns of four vectors as there are, their coefficients in registers while all rows pass, which share a table row. Returns
  /// the number of pairs done.
  template <class T>
  static HWY_INLINE Index rotate_by_columns(const Run& run, const Rows<T> rows) {
    if constexpr (full_width) return 0;
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    Index k = 0;
    for (; k + 4 * lanes <= run.count; k += 4 * lanes) {
      const T* const cos = rows.cos + run.table_a + k;
      const T* const sin = rows.sin + run.table_a + k;
      const auto v0 = load(d, cos, cos, sin, sin);
      const auto v1 = load(d, cos + lanes, cos, sin + lanes, sin);
      const auto v2 = load(d, cos + 2 * lanes, cos, sin + 2 * lanes, sin);
      const auto v3 = load(d, cos + 3 * lanes, cos, sin + 3 * lanes, sin);
      const T* x_first = rows.x + run.in_a + k * in_step;
      const T* x_second = rows.x + run.in_b + k * in_step;
      T* y_first = rows.y + run.out_a + k * out_step;
      T* y_second = rows.y + run.out_b + k * out_step;
      const Index in = lanes * in_step;
      const Index out = lanes * out_step;
      for (Index row = 0; row < rows.count; ++row) {
        rotate(d, x_first, x_second, y_first, y_second, v0);
        rotate(d, x_first + in, x_second + in, y_first + out, y_second + out, v1);
        rotate(d, x_first + 2 * in, x_second + 2 * in, y_first + 2 * out, y_second + 2 * out, v2);
        rotate(d, x_first + 3 * in, x_second + 3 * in, y_first + 3 * out, y_second + 3 * out, v3);
        x_first += rows.x_step;
        x_second += rows.x_step;
        y_first += rows.y_step;
        y_second += rows.y_step;
      }
    }
    return k;
  }
};

#if HWY_TARGET != HWY_SCALAR
/// Pairs whose members are neighbours in one vector, which is multiplied with its own coefficients and, with its members swapped, with
/// the cross ones: the same products and sums as taking the pairs apart.
template <Direction direction, bool full_width>
struct NeighbourKernel {
  /// direct * v + cross * swapped(v), over `determinant` for the inverse.
  template <class V>
  struct Coefficients {
    V direct, cross, determinant;
  };

  /// From the slots' own cosines and sines.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE Coefficients<V> of(D d, V cos, V sin) {
    const V forward_cross = hn::OddEven(sin, hn::Neg(sin));
    Coefficients<V> v;
    if constexpr (direction == Direction::forward) {
      v.direct = cos;
      v.cross = forward_cross;
    } else if constexpr (direction == Direction::transpose) {
      v.direct = cos;
      v.cross = hn::Reverse2(d, forward_cross);
    } else {
      v.direct = hn::Reverse2(d, cos);
      v.cross = hn::Neg(forward_cross);
      v.determinant = hn::Add(hn::Mul(cos, v.direct), hn::Mul(sin, hn::Reverse2(d, sin)));
    }
    return v;
  }

  /// Indices that give each lane of a vector's lower or upper half twice: v0 v0 v1 v1 ...
  template <class D>
  static HWY_INLINE auto twice(D d, std::size_t first) {
    const hn::RebindToUnsigned<D> du;
    const auto lane = hn::ShiftRight<1>(hn::Iota(du, 0));
    return hn::IndicesFromVec(d, hn::Add(lane, hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(first))));
  }

  /// Coefficients of two vectors of slots, those at `slot` and the ones after.
  template <class D, class Indices, class T, class V>
  static HWY_INLINE void load(D d, Indices lower_twice, Indices upper_twice, const T* cos_row, const T* sin_row, Index slot,
                              Coefficients<V>& lower, Coefficients<V>& upper) {
    if constexpr (full_width) {
      const auto lanes = static_cast<Index>(hn::Lanes(d));
      lower = of(d, hn::LoadU(d, cos_row + slot), hn::LoadU(d, sin_row + slot));
      upper = of(d, hn::LoadU(d, cos_row + slot + lanes), hn::LoadU(d, sin_row + slot + lanes));
    } else {
      const V cos = hn::LoadU(d, cos_row + slot / 2);
      const V sin = hn::LoadU(d, sin_row + slot / 2);
      lower = of(d, hn::TableLookupLanes(cos, lower_twice), hn::TableLookupLanes(sin, lower_twice));
      upper = of(d, hn::TableLookupLanes(cos, upper_twice), hn::TableLookupLanes(sin, upper_twice));
    }
  }

  template <class D, class T, class V>
  static HWY_INLINE void rotate(D d, const T* x, T* y, const Coefficients<V>& v) {
    const V self = hn::LoadU(d, x);
    V result = hn::Add(hn::Mul(v.direct, self), hn::Mul(v.cross, hn::Reverse2(d, self)));
    if constexpr (direction == Direction::inverse) result = hn::Div(result, v.determinant);
    hn::StoreU(result, d, y);
  }

  /// As many whole vectors as there are, in columns whose coefficients stay in registers while all rows pass, which share a table row.
  /// Returns the number of pairs done.
  template <class T>
  static HWY_INLINE Index rotate_by_columns(const Run& run, const Rows<T> rows) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const auto lower_twice = twice(d, 0);
    const auto upper_twice = twice(d, hn::Lanes(d) / 2);
    const Index slots = 2 * run.count;
    Index slot = 0;
    for (; slot + 4 * lanes <= slots; slot += 4 * lanes) {
      Coefficients<V> v0, v1, v2, v3;
      load(d, lower_twice, upper_twice, rows.cos, rows.sin, slot, v0, v1);
      load(d, lower_twice, upper_twice, rows.cos, rows.sin, slot + 2 * lanes, v2, v3);
      const T* x = rows.x + slot;
      T* y = rows.y + slot;
      for (Index row = 0; row < rows.count; ++row, x += rows.x_step, y += rows.y_step) {
        rotate(d, x, y, v0);
        rotate(d, x + lanes, y + lanes, v1);
        rotate(d, x + 2 * lanes, y + 2 * lanes, v2);
        rotate(d, x + 3 * lanes, y + 3 * lanes, v3);
      }
    }
    for (; slot + 2 * lanes <= slots; slot += 2 * lanes) {
      Coefficients<V> v0, v1;
      load(d, lower_twice, upper_twice, rows.cos, rows.sin, slot, v0, v1);
      const T* x = rows.x + slot;
      T* y = rows.y + slot;
      for (Index row = 0; row < rows.count; ++row, x += rows.x_step, y += rows.y_step) {
        rotate(d, x, y, v0);
        rotate(d, x + lanes, y + lanes, v1);
      }
    }
    return slot / 2;
  }
};
#endif  // HWY_TARGET != HWY_SCALAR

/// Everything outside the window, which is copied.
template <class T>
void copy_outside(const RowPlan& plan, const T* x, T* y) {
  const Index tail = plan.offset + plan.rotary_dims;
  if (plan.offset > 0) std::memcpy(y, x, static_cast<std::size_t>(plan.offset) * sizeof(T));
  if (tail < plan.row_length) std::memcpy(y + tail, x + tail, static_cast<std::size_t>(plan.row_length - tail) * sizeof(T));
}

/// Blocks up to this size pass column by column, their coefficients in registers; larger ones row by row, as memory is read fastest.
constexpr std::size_t column_block_bytes = std::size_t{64} * 1024;

template <Direction direction, int in_step, int out_step, bool full_width, class T>
void rotate_block(const RowPlan& plan, const RowBlock<T, T>& block) {
  using Apart = ApartKernel<direction, in_step, out_step, full_width>;
#if HWY_TARGET == HWY_SCALAR
  using ByColumns = Apart;
#else
  using ByColumns = std::conditional_t<in_step == 2 && out_step == 2, NeighbourKernel<direction, full_width>, Apart>;
#endif
  const Runs runs = runs_of(plan);
  const RowSteps inner = block.inner;
  const bool in_place = block.x == block.y;
  const bool copies = !in_place && plan.rotary_dims < plan.row_length;
  const bool permutes_in_place = in_place && plan.permutes();
  const std::size_t bytes = static_cast<std::size_t>(inner.count * block.outer.count * plan.row_length) * sizeof(T);
  const bool by_columns = inner.table == 0 && bytes <= column_block_bytes;
  const Index together = permutes_in_place ? 1 : inner.count;
  const auto dims = static_cast<std::size_t>(plan.rotary_dims);
  std::vector<T> row_copy(permutes_in_place ? dims : 0);
  for (Index o = 0; o < block.outer.count; ++o) {
    for (Index i = 0; i < inner.count; i += together) {
      const T* x = block.x + o * block.outer.x + i * inner.x;
      T* y = block.y + o * block.outer.y + i * inner.y;
      const Index table = o * block.outer.table + i * inner.table;
      Rows<T> rows{x + plan.offset, y + plan.offset, block.cos + table, block.sin + table, together, inner.x, inner.y, inner.table};
      if (copies) {
        for (Index row = 0; row < together; ++row) copy_outside(plan, x + row * inner.x, y + row * inner.y);
      }
      if (permutes_in_place) {
        std::memcpy(row_copy.data(), rows.x, dims * sizeof(T));
        rows.x = row_copy.data();
      }
      for (const Run& run : runs) {
        const Index done = by_columns ? ByColumns::rotate_by_columns(run, rows) : 0;
        if (done < run.count) Apart::rotate_in_order(run, done, rows);
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
  switch (plan.kind) {
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
