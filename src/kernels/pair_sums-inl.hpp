// SPDX-License-Identifier: Apache-2.0
//
// Sums of pairs' products (eigen_rope/kernels/detail/pair_sums.hpp).
//
// A column of as many pairs as a vector holds doubles has its sums in registers while the rows
// pass; a few columns go together, because a sum that waits for the one before it takes four
// cycles. Rows pass a few at a time, and passes ask for rows in the order in which memory has them:
// in another order, a pass over large tensors takes up to twice as long. Every sum takes its terms
// in the order of the template, so the bits are its bits. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_PAIR_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_PAIR_SUMS_INL_HPP
#undef EIGEN_ROPE_KERNEL_PAIR_SUMS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_PAIR_SUMS_INL_HPP
#endif

#include <algorithm>
#include <type_traits>
#include <utility>

#include "eigen_rope/kernels/detail/pair_sums.hpp"
#include "kernels/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

template <Members members, class T>
HWY_INLINE Two<V> load_members(const T* a, const T* b) {
  const D d;
  if constexpr (std::is_same_v<T, double>) {
    if constexpr (members == Members::separate) return {hn::LoadU(d, a), hn::LoadU(d, b)};
    V even, odd;
    hn::LoadInterleaved2(d, a, even, odd);
    return {even, odd};
  } else {
    const hn::Rebind<float, D> floats;
    if constexpr (members == Members::separate)
      return {hn::PromoteTo(d, load(floats, a)), hn::PromoteTo(d, load(floats, b))};
    hn::Vec<decltype(floats)> even, odd;
    load_apart(floats, a, even, odd);
    return {hn::PromoteTo(d, even), hn::PromoteTo(d, odd)};
  }
}

/// A running sum of products of T. Made of values only: what the compiler writes to make one of
/// nothing lacks the target's attribute.
template <class T>
struct Sum {
  V value;
  HWY_INLINE void add(V a, V b) { value = hn::MulAdd(a, b, value); }
};

template <>
struct Sum<double> {
  V value, rest;
  HWY_INLINE void add(V a, V b) {
    const V term = hn::Mul(a, b);
    const V next = hn::Add(value, term);
    const V added = hn::Sub(next, value);
    rest = hn::Add(rest, hn::Add(hn::Sub(value, hn::Sub(next, added)), hn::Sub(term, added)));
    value = next;
  }
};

template <class T>
HWY_INLINE Sum<T> load_sum(const double* values, [[maybe_unused]] const double* rests, Index at) {
  const D d;
  if constexpr (std::is_same_v<T, double>)
    return {hn::LoadU(d, values + at), hn::LoadU(d, rests + at)};
  else
    return {hn::LoadU(d, values + at)};
}

/// Where sums lie, by the step of the result's slots: separate arrays for A and B, or pairs next to
/// each other.
template <Members members, class T>
struct SumPair {
  Sum<T> a, b;

  static HWY_INLINE SumPair load(const double* values, const double* rests, Index A, Index B) {
    if constexpr (members == Members::separate)
      return {load_sum<T>(values, rests, A), load_sum<T>(values, rests, B)};
    const D d;
    V value_a, value_b;
    hn::LoadInterleaved2(d, values + A, value_a, value_b);
    if constexpr (std::is_same_v<T, double>) {
      V rest_a, rest_b;
      hn::LoadInterleaved2(d, rests + A, rest_a, rest_b);
      return {{value_a, rest_a}, {value_b, rest_b}};
    } else {
      return {{value_a}, {value_b}};
    }
  }

  HWY_INLINE void store(double* values, [[maybe_unused]] double* rests, Index A, Index B) const {
    const D d;
    if constexpr (members == Members::separate) {
      hn::StoreU(a.value, d, values + A);
      hn::StoreU(b.value, d, values + B);
      if constexpr (std::is_same_v<T, double>) {
        hn::StoreU(a.rest, d, rests + A);
        hn::StoreU(b.rest, d, rests + B);
      }
    } else {
      hn::StoreInterleaved2(a.value, b.value, d, values + A);
      if constexpr (std::is_same_v<T, double>) hn::StoreInterleaved2(a.rest, b.rest, d, rests + A);
    }
  }
};

/// Where a pass reads u and g in one row: the members of its first pair.
template <Members in, Members out, class T>
struct PairPointers {
  const T* u_a;
  const T* u_b;
  const T* g_a;
  const T* g_b;

  HWY_INLINE PairPointers at(Index u, Index g) const {
    return {u_a + u, u_b + u, g_a + g, g_b + g};
  }

  /// As RowPointers::hide.
  HWY_INLINE void hide() {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
    asm("" : "+r"(u_a), "+r"(g_a));
    if constexpr (in == Members::separate) asm("" : "+r"(u_b));
    if constexpr (out == Members::separate) asm("" : "+r"(g_b));
#endif
  }
};

/// Calls visit(pointers) for each row, in memory order.
template <Members in, Members out, class T, class Visit>
HWY_INLINE void for_each_row(const Run& run, Index k, const PairRows<T, T>& rows,
                             const Visit& visit) {
  const T* u = rows.u + k * (in == Members::separate ? 1 : 2);
  const T* g = rows.g + k * (out == Members::separate ? 1 : 2);
  const PairPointers<in, out, T> first{u + run.in_a, u + run.in_b, g + run.out_a, g + run.out_b};
  for (Index o = 0; o < rows.outer.count; ++o) {
    PairPointers<in, out, T> row = first.at(o * rows.outer.x, o * rows.outer.y);
    for (Index left = rows.inner.count; left > 0; --left) {
      row.hide();
      visit(row);
      row = row.at(rows.inner.x, rows.inner.y);
    }
  }
}

/// What a pass asks for behind each row: `count` elements of u and of g, a step further each time.
template <class T>
struct Asked {
  const T* u;
  const T* g;
  Index count, u_step, g_step;

  HWY_INLINE void ask() {
    ask_for(u, count);
    ask_for(g, count);
    u += u_step;
    g += g_step;
  }
};

template <Products products, Members in, Members out, class T, class Sums, std::size_t... i>
HWY_INLINE void add_columns(const Run& run, Index k, const PairRows<T, T>& rows, Asked<T> asked,
                            Sums& sums, std::index_sequence<i...>) {
  constexpr Index in_step = in == Members::separate ? 1 : 2;
  constexpr Index out_step = out == Members::separate ? 1 : 2;
  const Index A = run.out_a + k * out_step;
  const Index B = run.out_b + k * out_step;
  constexpr Index u_width = lanes * in_step;
  constexpr Index g_width = lanes * out_step;
  using Pair = SumPair<out, T>;
  const auto place = [](Index first, std::size_t column) {
    return first + static_cast<Index>(column) * g_width;
  };
  Pair crossed[] = {Pair::load(sums.crossed(), sums.crossed_rest(), place(A, i), place(B, i))...};
  const auto load_direct = [&](std::size_t column) HWY_ATTR {
    if constexpr (products == Products::all)
      return Pair::load(sums.direct(), sums.direct_rest(), place(A, column), place(B, column));
    else
      return crossed[column];  // not used
  };
  Pair direct[] = {load_direct(i)...};
  for_each_row<in, out>(run, k, rows, [&](const PairPointers<in, out, T>& row) HWY_ATTR {
    const auto add_column = [&](std::size_t column) HWY_ATTR {
      const Index to_u = static_cast<Index>(column) * u_width;
      const Index to_g = static_cast<Index>(column) * g_width;
      const auto u = load_members<in>(row.u_a + to_u, row.u_b + to_u);
      const auto g = load_members<out>(row.g_a + to_g, row.g_b + to_g);
      crossed[column].a.add(u.second, g.first);
      crossed[column].b.add(u.first, g.second);
      if constexpr (products == Products::all) {
        direct[column].a.add(u.first, g.first);
        direct[column].b.add(u.second, g.second);
      }
    };
    (add_column(i), ...);
    asked.ask();
  });
  (crossed[i].store(sums.crossed(), sums.crossed_rest(), place(A, i), place(B, i)), ...);
  if constexpr (products == Products::all) {
    (direct[i].store(sums.direct(), sums.direct_rest(), place(A, i), place(B, i)), ...);
  }
}

/// u_a g_B - u_b g_A of one column of one row, in float.
template <Members out, class D32, class V32>
HWY_INLINE V32 difference_of(D32 d, const Two<V32>& u, const Two<V32>& g) {
  if constexpr (out == Members::separate) {
    return hn::Sub(hn::Mul(u.first, g.second), hn::Mul(u.second, g.first));
  } else {
    const auto lower = hn::Mul(u.first, hn::Reverse2(d, g.first));
    const auto upper = hn::Mul(u.second, hn::Reverse2(d, g.second));
    return hn::Sub(hn::ConcatEven(d, upper, lower), hn::ConcatOdd(d, upper, lower));
  }
}

/// u_a g_B - u_b g_A of floats, in float, summed in double.
template <Members in, Members out, class T, class Sums, std::size_t... i>
HWY_INLINE void add_differences(const Run& run, Index k, const PairRows<T, T>& rows, Sums& sums,
                                std::index_sequence<i...>) {
  const hn::ScalableTag<float> d;
  const hn::Half<decltype(d)> half;
  const D wide;
  constexpr Index in_step = in == Members::separate ? 1 : 2;
  constexpr Index out_step = out == Members::separate ? 1 : 2;
  constexpr Index u_width = 2 * lanes * in_step;
  constexpr Index g_width = 2 * lanes * out_step;
  const Index A = run.out_a + k * out_step;
  const Index B = run.out_b + k * out_step;
  // Sums of pairs next to each other lie among those of A, which stay as they are.
  double* const target = sums.crossed() + (out == Members::separate ? B : A);
  const auto load_sums = [&](Index at) HWY_ATTR {
    if constexpr (out == Members::separate) return hn::LoadU(wide, target + at);
    V first, second;
    hn::LoadInterleaved2(wide, target + at, first, second);
    return second;
  };
  V lower[] = {load_sums(static_cast<Index>(i) * g_width)...};
  V upper[] = {load_sums(static_cast<Index>(i) * g_width + g_width / 2)...};
  for_each_row<in, out>(run, k, rows, [&](const PairPointers<in, out, T>& row) HWY_ATTR {
    const auto add_column = [&](std::size_t column, V& low, V& high) HWY_ATTR {
      const Index u = static_cast<Index>(column) * u_width;
      const Index g = static_cast<Index>(column) * g_width;
      const auto difference = difference_of<out>(d, load_as<in, out>(d, row.u_a + u, row.u_b + u),
                                                 load_as<out, out>(d, row.g_a + g, row.g_b + g));
      low = hn::Add(low, hn::PromoteTo(wide, hn::LowerHalf(half, difference)));
      high = hn::Add(high, hn::PromoteTo(wide, hn::UpperHalf(half, difference)));
    };
    (add_column(i, lower[i], upper[i]), ...);
  });
  const auto store_sums = [&](const V& v, Index at) HWY_ATTR {
    if constexpr (out == Members::separate) {
      hn::StoreU(v, wide, target + at);
    } else {
      hn::StoreInterleaved2(hn::Zero(wide), v, wide, target + at);
    }
  };
  (store_sums(lower[i], static_cast<Index>(i) * g_width), ...);
  (store_sums(upper[i], static_cast<Index>(i) * g_width + g_width / 2), ...);
}

/// Columns whose sums fit in registers beside two pairs of operands.
template <Products products, class T>
constexpr std::size_t columns_together() {
  constexpr int registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 16 : 8;
  constexpr int each = (products == Products::all ? 4 : 2) * (std::is_same_v<T, double> ? 2 : 1);
  return std::max(1, std::min(4, registers / each));
}

/// Whether differences are formed in float.
template <Products products, class T>
constexpr bool sums_differences = products == Products::difference && !std::is_same_v<T, double>;

/// The most pairs whose sums are in registers at a time.
template <Products products, class T>
constexpr Index pairs_together = sums_differences<products, T>
                                     ? 8 * lanes
                                     : static_cast<Index>(columns_together<products, T>()) * lanes;

/// What pass `i` of `passes` over a tile asks for, of rows of `dims` elements: its part of the rows
/// of the next tile, so that memory delivers while all columns pass over one. Where rows follow
/// each other, all parts follow each other, too. Where pairs of floats lie next to each other, the
/// first pass asks for the rows it reads, of which it reads a part.
template <Members in, class T>
Asked<T> asked_by_pass(Index i, Index passes, Index dims, const PairRows<T, T>& rows) {
  const RowSteps& inner = rows.inner;
  if (passes < 2) return {};
  if (in == Members::adjacent && !std::is_same_v<T, double>)
    return {rows.u, rows.g, i == 0 ? dims : 0, inner.x, inner.y};
  const Index part = (dims + passes - 1) / passes;
  const T* const u = rows.u + inner.count * inner.x;
  const T* const g = rows.g + inner.count * inner.y;
  if (inner.x == dims && inner.y == dims) {
    const Index before = i * inner.count * part;
    return {u + before, g + before, part, part, part};
  }
  return {u + i * part, g + i * part, std::min(part, dims - i * part), inner.x, inner.y};
}

/// `dims`: of the rows that passes ask for.
template <Products products, Members in, Members out, class T, class Sums>
void add_run(const Run& run, const PairRows<T, T>& rows, [[maybe_unused]] Index dims, Sums& sums) {
  Index k = 0;
  constexpr Index most = pairs_together<products, T>;
  if constexpr (sums_differences<products, T>) {
    constexpr Index column = 2 * lanes;
    for (; k + most <= run.count; k += most) {
      add_differences<in, out>(run, k, rows, sums, std::make_index_sequence<4>());
    }
    for (; k + column <= run.count; k += column)
      add_differences<in, out>(run, k, rows, sums, std::index_sequence<0>());
  } else {
    constexpr std::size_t together = columns_together<products, T>();
    for (; k + most <= run.count; k += most) {
      const Index passes = dims > 0 ? run.count / most : 0;
      const Asked<T> asked = asked_by_pass<in>(k / most, passes, dims, rows);
      add_columns<products, in, out>(run, k, rows, asked, sums,
                                     std::make_index_sequence<together>());
    }
    for (; k + lanes <= run.count; k += lanes)
      add_columns<products, in, out>(run, k, rows, Asked<T>{}, sums, std::index_sequence<0>());
  }
  if (k == run.count) return;
  const Runs rest{1, {run.part(k, run.count - k)}};
  add_pairs_plainly(rest, rows, sums);
}

/// So many bytes of u, and as many of g, stay in the first-level cache while all columns pass over
/// them.
constexpr Index bytes_of_tile = 4096;

template <Products products, class T, class Sums>
void add_tile(const Runs& runs, const PairRows<T, T>& rows, Sums& sums) {
  Index dims_asked = sums.dims();
  for (const Run& run : runs) {
    if (run.out_step == 2) {
      add_run<products, Members::adjacent, Members::adjacent>(run, rows, dims_asked, sums);
    } else if (run.in_step == 2) {
      add_run<products, Members::adjacent, Members::separate>(run, rows, dims_asked, sums);
    } else {
      add_run<products, Members::separate, Members::separate>(run, rows, dims_asked, sums);
    }
    dims_asked = 0;
  }
}

/// A few rows at a time: memory is then read in the order in which it lies, although the sums of a
/// row do not fit in registers. Every sum still takes its terms row by row.
template <Products products, class T, class Sums>
void add_runs(const Runs& runs, const PairRows<T, T>& rows, Sums& sums) {
  const bool in_one_pass = runs.count == 1 && runs.run[0].count <= pairs_together<products, T>;
  const Index together =
      in_one_pass
          ? rows.inner.count
          : std::max<Index>(1, bytes_of_tile / (sums.dims() * static_cast<Index>(sizeof(T))));
  PairRows<T, T> tile = rows;
  tile.outer.count = 1;
  for (Index o = 0; o < rows.outer.count; ++o) {
    for (Index row = 0; row < rows.inner.count; row += together) {
      tile.u = rows.u + o * rows.outer.x + row * rows.inner.x;
      tile.g = rows.g + o * rows.outer.y + row * rows.inner.y;
      tile.inner.count = std::min(together, rows.inner.count - row);
      add_tile<products>(runs, tile, sums);
    }
  }
}

template <class T, class Sums>
void add_all(const Runs& runs, const PairRows<T, T>& rows, Sums& sums) {
  if (sums.products() == Products::all) {
    add_runs<Products::all>(runs, rows, sums);
  } else {
    add_runs<Products::difference>(runs, rows, sums);
  }
}

#else

template <class T, class Sums>
void add_all(const Runs& runs, const PairRows<T, T>& rows, Sums& sums) {
  add_pairs_plainly(runs, rows, sums);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
