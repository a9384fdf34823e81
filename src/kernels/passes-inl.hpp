// SPDX-License-Identifier: Apache-2.0
//
// A pass over the rows of a block: some columns of every row are rotated, while their coefficients
// stay in registers.
//
//   pass_columns   the loop everything ends in
//   pass_run       8, 4, 2 and 1 columns at a time, as many as registers hold, until a run is done
//   tail_of_run    what is left: shorter vectors, then single pairs
//   copy_outside   the elements of a row outside its window
//
// The rows of a block's inner level share a table row. Pointers are those of the window. Compiled
// once per target. rows-inl.hpp says in which order rows are passed, and columns-inl.hpp how a
// column is rotated.
#if defined(EIGEN_ROPE_KERNEL_PASSES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_PASSES_INL_HPP
#undef EIGEN_ROPE_KERNEL_PASSES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_PASSES_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Coefficients that fit in registers beside what is being rotated.
constexpr int coefficient_registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 16 : 8;

template <class Kernel, Stores stores, class D, class Result, class T>
HWY_INLINE void put(D d, const Result& result, T* y_a, T* y_b) {
  Kernel::template put_first<stores>(d, result, y_a);
  Kernel::template put_second<stores>(d, result, y_b);
}

/// Less than a vector, or what is left of a streamed row from element i on. Apart from the loops,
/// which most rows do not leave.
template <Stores stores, class T>
HWY_NOINLINE void copy_rest(const T* from, T* to, Index i, Index count) {
  if constexpr (stores == Stores::streaming) {
    // A line written half past the cache and half through it costs hundreds of nanoseconds.
    using Bits = hwy::UnsignedFromSize<sizeof(T)>;
    constexpr Index lanes = 16 / sizeof(Bits);
    const hn::CappedTag<Bits, lanes> d;
    for (; i + lanes <= count; i += lanes) {
      store_bits<stores>(hn::LoadU(d, reinterpret_cast<const Bits*>(from + i)), d,
                         reinterpret_cast<Bits*>(to + i));
    }
  }
  if (i < count) std::memcpy(to + i, from + i, static_cast<std::size_t>(count - i) * sizeof(T));
}

template <Stores stores, class T>
HWY_INLINE void copy(const T* from, T* to, Index count) {
  using Bits = hwy::UnsignedFromSize<sizeof(T)>;
  const hn::ScalableTag<Bits> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const auto* source = reinterpret_cast<const Bits*>(from);
  auto* target = reinterpret_cast<Bits*>(to);
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    store_bits<stores>(hn::LoadU(d, source + i), d, target + i);
  if (i == count) return;
  if (stores == Stores::cached && i > 0) {
    hn::StoreU(hn::LoadU(d, source + count - lanes), d, target + count - lanes);
  } else {
    copy_rest<stores>(from, to, i, count);
  }
}

/// Everything outside the window.
template <Stores stores, class T>
HWY_INLINE void copy_outside(const RowPlan& plan, const T* x, T* y) {
  copy<stores>(x - plan.offset, y - plan.offset, plan.offset);
  copy<stores>(x + plan.rotary_dims, y + plan.rotary_dims,
               plan.row_length - plan.offset - plan.rotary_dims);
}

/// What happens to the elements outside the window while its columns are rotated. Where they are
/// copied, one pass rotates whole windows.
enum class Outside { untouched, copied };

template <class Kernel, class D>
constexpr Index pairs_of_column = static_cast<Index>(hn::MaxLanes(D())) * Kernel::pairs_per_lane;

template <class Kernel, class D, std::size_t count>
struct Columns {
  typename Kernel::template Column<D> column[count];
};

/// Coefficients of the inverse. Apart from the loops, since divisions would be most of their code
/// and most rotations need none.
template <class Kernel, class D, std::size_t... i>
HWY_NOINLINE Columns<Kernel, D, sizeof...(i)> inverse_columns(
    D d, const TableRow<typename Kernel::T>& table, const Run& run, Index k,
    std::index_sequence<i...>) {
  return {{column_of<Kernel>(d, table, run, k + static_cast<Index>(i) * pairs_of_column<Kernel, D>,
                             Inverse{})...}};
}

/// As many columns as `i` has members, of all rows. The rows of the inner level share a table row,
/// whose coefficients stay in registers; the stores of a streamed row go out in the order of
/// memory.
template <class Kernel, Stores stores, Outside outside, class D, class Block, std::size_t... i>
HWY_INLINE void pass_columns(D d, const RowPlan& plan, const Run& run, Index k, const Block& block,
                             std::index_sequence<i...>) {
  using T = typename Kernel::T;
  using Column = typename Kernel::template Column<D>;
  constexpr Index pairs = pairs_of_column<Kernel, D>;
  constexpr Index in = pairs * Kernel::in_step;
  constexpr Index out = pairs * Kernel::out_step;
  const Index a = run.in_a + k * Kernel::in_step;
  const Index b = run.in_b + k * Kernel::in_step;
  const Index A = run.out_a + k * Kernel::out_step;
  const Index B = run.out_b + k * Kernel::out_step;
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  for (Index o = 0; o < outer.count; ++o) {
    const TableRow<T> table{block.cos + o * outer.table, block.sin + o * outer.table};
    Column columns[] = {column_of<Kernel>(d, table, run, k + static_cast<Index>(i) * pairs,
                                          Turn{plan.direction})...};
    if (plan.direction == Direction::inverse) {
      const Columns<Kernel, D, sizeof...(i)> inverses =
          inverse_columns<Kernel>(d, table, run, k, std::index_sequence<i...>());
      ((columns[i] = inverses.column[i]), ...);
    }
    const T* x = block.x + o * outer.x;
    T* y = block.y + o * outer.y;
    for (Index row = 0; row < inner.count; ++row) {
      if constexpr (stores == Stores::streaming && Kernel::two_stores) {
        const typename Kernel::template Result<D> results[] = {
            Kernel::rotate(d, x + a + static_cast<Index>(i) * in,
                           x + b + static_cast<Index>(i) * in, columns[i])...};
        (Kernel::template put_first<stores>(d, results[i], y + A + static_cast<Index>(i) * out),
         ...);
        (Kernel::template put_second<stores>(d, results[i], y + B + static_cast<Index>(i) * out),
         ...);
      } else {
        (put<Kernel, stores>(d,
                             Kernel::rotate(d, x + a + static_cast<Index>(i) * in,
                                            x + b + static_cast<Index>(i) * in, columns[i]),
                             y + A + static_cast<Index>(i) * out,
                             y + B + static_cast<Index>(i) * out),
         ...);
      }
      if constexpr (outside == Outside::copied) copy_outside<stores>(plan, x, y);
      x += inner.x;
      y += inner.y;
    }
  }
}

/// Whether sums are rounded by arithmetic, which needs the registers.
template <class T>
constexpr bool rounds_by_arithmetic = is_16_bit<T> ? HWY_TARGET == HWY_SSE4 : false;

/// How many columns of a kernel have their coefficients in registers at a time.
template <class Kernel, class D>
constexpr Index most_columns = rounds_by_arithmetic<typename Kernel::T>
                                   ? 1
                                   : std::max(1, coefficient_registers /
                                                     Kernel::template Column<D>::registers);

/// Passes `count` columns at a time from pair k on, and returns the first pair that is left.
template <class Kernel, Stores stores, Outside outside, int count, class D, class Block>
HWY_INLINE Index pass_columns_while(D d, const RowPlan& plan, const Run& run, Index k,
                                    const Block& block) {
  if constexpr (count <= most_columns<Kernel, D>) {
    constexpr Index pairs = pairs_of_column<Kernel, D> * count;
    for (; k + pairs <= run.count; k += pairs) {
      pass_columns<Kernel, stores, outside>(
          d, plan, run, k, block, std::make_index_sequence<static_cast<std::size_t>(count)>());
    }
  }
  return k;
}

/// What is left of a run when no vector of d fits any more: shorter vectors, then one pair at a
/// time.
template <class Kernel, class D, class Block>
void tail_of_run(D, const RowPlan& plan, const Run& run, Index k, const Block& block) {
  using C = hn::TFromD<D>;
  using T = typename Kernel::T;
  constexpr std::size_t lanes = hn::MaxLanes(D()) / 2;
  if constexpr (lanes * sizeof(C) >= 16) {
    const hn::CappedTag<C, lanes> shorter;
    k = pass_columns_while<Kernel, Stores::cached, Outside::untouched, 1>(shorter, plan, run, k,
                                                                          block);
    if (k < run.count) tail_of_run<Kernel>(shorter, plan, run, k, block);
  } else {
    for (Index o = 0; o < block.outer.count; ++o) {
      const C* cos = block.cos + o * block.outer.table;
      const C* sin = block.sin + o * block.outer.table;
      for (Index row = 0; row < block.inner.count; ++row) {
        const T* x = block.x + o * block.outer.x + row * block.inner.x;
        T* y = block.y + o * block.outer.y + row * block.inner.y;
        for (Index j = k; j < run.count; ++j) {
          const Index a = run.table_a + j * run.table_step;
          const Index b = run.table_b + j * run.table_step;
          C out_a, out_b;
          rotate_pair<T, C>(plan.direction, static_cast<C>(x[run.in_a + j * run.in_step]),
                            static_cast<C>(x[run.in_b + j * run.in_step]), cos[a], cos[b], sin[a],
                            sin[b], out_a, out_b);
          y[run.out_a + j * run.out_step] = static_cast<T>(out_a);
          y[run.out_b + j * run.out_step] = static_cast<T>(out_b);
        }
      }
    }
  }
}

/// Whether a column of half vectors copies what is outside the window, too: where a whole one has
/// more pairs than lanes.
template <class Kernel, class D = hn::ScalableTag<Widened<typename Kernel::T>>>
constexpr bool half_columns_copy = Kernel::pairs_per_lane == 2 && hn::MaxLanes(D()) >= 8;

/// All pairs of a run in all rows.
template <class Kernel, Stores stores, Outside outside, class T>
void pass_run(const RowPlan& plan, const Run& run, const RowBlock<T, Widened<T>>& block) {
  const hn::ScalableTag<Widened<T>> d;
  Index k = pass_columns_while<Kernel, stores, outside, 8>(d, plan, run, 0, block);
  k = pass_columns_while<Kernel, stores, outside, 4>(d, plan, run, k, block);
  k = pass_columns_while<Kernel, stores, outside, 2>(d, plan, run, k, block);
  k = pass_columns_while<Kernel, stores, outside, 1>(d, plan, run, k, block);
  if (k == run.count) return;
  if constexpr (outside == Outside::untouched) {
    tail_of_run<Kernel>(d, plan, run, k, block);
  } else if constexpr (stores == Stores::cached && half_columns_copy<Kernel>) {
    const hn::Half<decltype(d)> shorter;
    pass_columns_while<Kernel, stores, outside, 1>(shorter, plan, run, k, block);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
