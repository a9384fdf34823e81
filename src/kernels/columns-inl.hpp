// SPDX-License-Identifier: Apache-2.0
//
// How one column of a row is rotated: as many pairs as one or two vectors hold.
//
// Three kernels by where the members of pairs lie: in different vectors, in different vectors of
// bfloat16, and next to each other in one. Each has Column (coefficients), column(),
// without_payload(), Result, rotate(), put_first() and put_second(); pointers are those of the
// column's first pair. column_of() is what loops ask for coefficients. `is_common` says
// whether models rotate so: only then there are passes with coefficients in registers, and passes
// that copy what lies outside the window. Arithmetic is that of rotate_pair
// (eigen_rope/rows/detail/rows.hpp) to the bit on every target. Compiled once per target. The loops
// are in passes-inl.hpp.
#if defined(EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP
#undef EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP
#endif

#include <cstddef>
#include <type_traits>

#include "kernels/coefficients-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// The members of as many pairs as d has lanes, apart.
template <Members members, class D, class T>
HWY_INLINE Two<hn::Vec<D>> load_pairs(D d, const T* x_a, const T* x_b) {
  if constexpr (members == Members::separate) return {load(d, x_a), load(d, x_b)};
  hn::Vec<D> a, b;
  load_apart(d, x_a, a, b);
  return {a, b};
}

/// As many pairs next to each other, as they lie in memory.
template <class D, class T>
HWY_INLINE Two<hn::Vec<D>> load_two(D d, const T* x) {
  return {load(d, x), load(d, x + hn::Lanes(d))};
}

/// Pairs that lie as `in` says, for results that lie as `out` does.
template <Members in, Members out, class D, class T>
HWY_INLINE Two<hn::Vec<D>> load_as(D d, const T* x_a, const T* x_b) {
  if constexpr (out == Members::adjacent) return load_two(d, x_a);
  return load_pairs<in>(d, x_a, x_b);
}

/// Members in different vectors, one pair in each lane.
template <Members in, Members out, TableWidth width, class Scalar>
struct ApartKernel {
  using T = Scalar;
  static constexpr Index in_step = in == Members::separate ? 1 : 2;
  static constexpr Index out_step = out == Members::separate ? 1 : 2;
  static constexpr Index pairs_per_lane = 1;
  /// Bytes of y that a store writes for each lane.
  static constexpr std::size_t bytes_per_lane = (out == Members::separate ? 1 : 2) * sizeof(T);
  static constexpr int vectors_of_column = out == Members::separate ? 2 : 1;
  static constexpr bool two_stores = out == Members::separate;
  /// Highway's own interleaved stores of float and double go through the cache.
  static constexpr bool streams_adjacent = is_16_bit<Scalar>;
  static constexpr bool is_common = width == TableWidth::half && in == out;
  static constexpr Swap swap =
      in == Members::separate && out == Members::separate ? Swap::members : Swap::nothing;
  template <class D>
  using Column = Coefficients<width, hn::Vec<D>>;
  template <class D>
  using Result = Two<hn::Vec<D>>;

  template <class D, class How>
  static HWY_INLINE Column<D> column(D d, const TableRow<T>& table, const Run& run, Index k,
                                     How how) {
    constexpr Members entries =
        in == Members::adjacent && out == Members::adjacent ? Members::adjacent : Members::separate;
    return load_coefficients<entries, width>(d, table.cos, table.sin, run, k, how);
  }

  template <class D>
  static HWY_INLINE Column<D> without_payload(D, const Column<D>& column) {
    return column.without_payload();
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> sum(D, const Column<D>& column) {
    return column.sum();
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D d, const T* x_a, const T* x_b, const Column<D>& column) {
    return rotate(d, load_pairs<in>(d, x_a, x_b), column);
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D, const Two<hn::Vec<D>>& x, const Column<D>& column) {
    return column.template rotate<T>(x.first, x.second);
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_first(D d, const Result<D>& result, T* y_a) {
    if constexpr (out == Members::separate) {
      store<stores>(result.first, d, y_a);
    } else {
      store_apart<stores>(result.first, result.second, d, y_a);
    }
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_second(D d, const Result<D>& result, T* y_b) {
    if constexpr (out == Members::separate) store<stores>(result.second, d, y_b);
  }

  /// What is stored of a column, as lanes of DL: vectors_of_column vectors, in memory's order.
  template <class DL, class D>
  static HWY_INLINE Two<hn::Vec<DL>> lanes(DL dl, D d, const Result<D>& result) {
    if constexpr (out == Members::separate) {
      return {hn::BitCast(dl, as_stored<T>(d, result.first)),
              hn::BitCast(dl, as_stored<T>(d, result.second))};
    } else {
      const auto both = hn::BitCast(dl, apart_as_stored(d, result.first, result.second));
      return {both, both};
    }
  }
};

/// Members in different vectors of bfloat16: pairs at even and at odd places, which a shift and a
/// mask make floats of.
template <TableWidth width>
struct EvenOddKernel {
  using T = Eigen::bfloat16;
  static constexpr Index in_step = 1;
  static constexpr Index out_step = 1;
  static constexpr Index pairs_per_lane = 2;
  static constexpr std::size_t bytes_per_lane = 2 * sizeof(T);
  static constexpr int vectors_of_column = 2;
  static constexpr bool two_stores = true;
  static constexpr bool streams_adjacent = true;
  static constexpr bool is_common = width == TableWidth::half;
  static constexpr Swap swap = Swap::members;
  template <class D>
  struct Column {
    static constexpr int registers = 2 * Coefficients<width, hn::Vec<D>>::registers;
    Coefficients<width, hn::Vec<D>> even, odd;
  };
  template <class D>
  struct Result {
    Two<hn::Vec<D>> even, odd;
  };

  template <class D, class How>
  static HWY_INLINE Column<D> column(D d, const TableRow<T>& table, const Run& run, Index k,
                                     How how) {
    using V = hn::Vec<D>;
    const auto cos = entries_apart(d, table.cos + run.table_a + k);
    const auto sin = entries_apart(d, table.sin + run.table_a + k);
    if constexpr (width == TableWidth::half) {
      return {SharedCoefficients<V>::of(how, cos.first, sin.first),
              SharedCoefficients<V>::of(how, cos.second, sin.second)};
    } else {
      const auto cos_b = entries_apart(d, table.cos + run.table_b + k);
      const auto sin_b = entries_apart(d, table.sin + run.table_b + k);
      return {FullCoefficients<V>::of(how, cos.first, cos_b.first, sin.first, sin_b.first),
              FullCoefficients<V>::of(how, cos.second, cos_b.second, sin.second, sin_b.second)};
    }
  }

  template <class D>
  static HWY_INLINE Column<D> without_payload(D, const Column<D>& column) {
    return {column.even.without_payload(), column.odd.without_payload()};
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> sum(D, const Column<D>& column) {
    return hn::Add(column.even.sum(), column.odd.sum());
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D d, const T* x_a, const T* x_b, const Column<D>& column) {
    hn::Vec<D> a_even, a_odd, b_even, b_odd;
    load_apart(d, x_a, a_even, a_odd);
    load_apart(d, x_b, b_even, b_odd);
    return {column.even.template rotate<T>(a_even, b_even),
            column.odd.template rotate<T>(a_odd, b_odd)};
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_first(D d, const Result<D>& result, T* y_a) {
    store_apart<stores>(result.even.first, result.odd.first, d, y_a);
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_second(D d, const Result<D>& result, T* y_b) {
    store_apart<stores>(result.even.second, result.odd.second, d, y_b);
  }

  template <class DL, class D>
  static HWY_INLINE Two<hn::Vec<DL>> lanes(DL dl, D d, const Result<D>& result) {
    return {hn::BitCast(dl, apart_as_stored(d, result.even.first, result.odd.first)),
            hn::BitCast(dl, apart_as_stored(d, result.even.second, result.odd.second))};
  }
};

/// Members next to each other in a vector, which is multiplied with its own coefficients and,
/// members swapped, with the cross ones. A column is two vectors.
template <TableWidth width, class Scalar>
struct NeighbourKernel {
  using T = Scalar;
  static constexpr Index in_step = 2;
  static constexpr Index out_step = 2;
  static constexpr Index pairs_per_lane = 1;
  static constexpr std::size_t bytes_per_lane = sizeof(T);
  static constexpr int vectors_of_column = 2;
  static constexpr bool two_stores = false;
  static constexpr bool streams_adjacent = true;
  static constexpr bool is_common = width == TableWidth::half;
  static constexpr Swap swap = Swap::nothing;
  /// direct * v + cross * swapped(v)
  template <class V>
  struct Cross {
    V direct, cross;
  };
  template <class D>
  struct Column {
    static constexpr int registers = 4;
    Cross<hn::Vec<D>> lower, upper;
  };
  template <class D>
  using Result = Two<hn::Vec<D>>;

  template <class D, class How>
  static HWY_INLINE Column<D> column(D d, const TableRow<T>& table, const Run& run, Index k,
                                     How how) {
    const auto lanes = hn::Lanes(d);
    if constexpr (width == TableWidth::full) {
      const auto* cos = table.cos + run.table_a + 2 * k;
      const auto* sin = table.sin + run.table_a + 2 * k;
      return {cross(d, how, hn::LoadU(d, cos), hn::LoadU(d, sin)),
              cross(d, how, hn::LoadU(d, cos + lanes), hn::LoadU(d, sin + lanes))};
    } else {
      const auto shared = load_coefficients<Members::separate, width>(d, table.cos, table.sin, run,
                                                                      k, unsigned_of(how));
      const auto lower = twice(d, 0);
      const auto upper = twice(d, lanes / 2);
      const auto signs = signs_of(d, how);
      return {{hn::TableLookupLanes(shared.cos, lower),
               hn::Xor(signs, hn::TableLookupLanes(shared.sin, lower))},
              {hn::TableLookupLanes(shared.cos, upper),
               hn::Xor(signs, hn::TableLookupLanes(shared.sin, upper))}};
    }
  }

  template <class D>
  static HWY_INLINE Column<D> without_payload(D, const Column<D>& column) {
    return {{canonical(column.lower.direct), canonical(column.lower.cross)},
            {canonical(column.upper.direct), canonical(column.upper.cross)}};
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> sum(D, const Column<D>& column) {
    return hn::Add(hn::Add(column.lower.direct, column.lower.cross),
                   hn::Add(column.upper.direct, column.upper.cross));
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D d, const T* x, const T*, const Column<D>& column) {
    return rotate(d, load_two(d, x), column);
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D d, const Two<hn::Vec<D>>& x, const Column<D>& column) {
    return {rotate(d, x.first, column.lower), rotate(d, x.second, column.upper)};
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_first(D d, const Result<D>& result, T* y) {
    store<stores>(result.first, d, y);
    store<stores>(result.second, d, y + hn::Lanes(d));
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_second(D, const Result<D>&, T*) {}

  template <class DL, class D>
  static HWY_INLINE Two<hn::Vec<DL>> lanes(DL dl, D d, const Result<D>& result) {
    return {hn::BitCast(dl, as_stored<T>(d, result.first)),
            hn::BitCast(dl, as_stored<T>(d, result.second))};
  }

 private:
  template <class D, class V>
  static HWY_INLINE V rotate(D d, V v, const Cross<V>& c) {
    return multiply_add<T>(c.direct, v, hn::Mul(c.cross, hn::Reverse2(d, v)));
  }

  /// Indices that give half a vector's lanes twice each: v0 v0 v1 v1 ...
  template <class D>
  static HWY_INLINE auto twice(D d, std::size_t first) {
    const hn::RebindToUnsigned<D> du;
    const auto lane = hn::ShiftRight<1>(hn::Iota(du, 0));
    return hn::IndicesFromVec(
        d, hn::Add(lane, hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(first))));
  }

  static HWY_INLINE Turn<Swap::members> unsigned_of(Turn<Swap::nothing> turn) {
    return {turn.direction};
  }
  static HWY_INLINE Inverse unsigned_of(Inverse inverse) { return inverse; }

  /// out_a = direct a + cross b, so a forward rotation has its minus at even places. Coefficients
  /// of the inverse have their sign already.
  template <class D>
  static HWY_INLINE hn::Vec<D> signs_of(D d, Turn<Swap::nothing> turn) {
    using C = hn::TFromD<D>;
    const bool forward = turn.direction == Direction::forward;
    return hn::OddEven(hn::Set(d, forward ? C(0.0) : C(-0.0)),
                       hn::Set(d, forward ? C(-0.0) : C(0.0)));
  }

  template <class D>
  static HWY_INLINE hn::Vec<D> signs_of(D d, Inverse) {
    using C = hn::TFromD<D>;
    return hn::OddEven(hn::Zero(d), hn::Set(d, C(-0.0)));
  }

  template <class D, class V>
  static HWY_INLINE Cross<V> cross(D d, Turn<Swap::nothing> turn, V cos, V sin) {
    const V forward = hn::OddEven(sin, hn::Neg(sin));
    return {cos, turn.direction == Direction::forward ? forward : hn::Reverse2(d, forward)};
  }

  template <class D, class V>
  static HWY_INLINE Cross<V> cross(D d, Inverse, V cos, V sin) {
    const V forward = hn::OddEven(sin, hn::Neg(sin));
    const V other_cos = hn::Reverse2(d, cos);
    const V determinant = hn::Add(hn::Mul(cos, other_cos), hn::Mul(sin, hn::Reverse2(d, sin)));
    return {hn::Div(other_cos, determinant), hn::Neg(hn::Div(forward, determinant))};
  }
};

/// The coefficients of a column from pair k on.
template <class Kernel, class D, class How>
HWY_INLINE typename Kernel::template Column<D> column_of(D d,
                                                         const TableRow<typename Kernel::T>& table,
                                                         const Run& run, Index k, How how) {
  auto column = Kernel::column(d, table, run, k, how);
  if constexpr (std::is_same_v<typename Kernel::T, Eigen::bfloat16>) {
    if (may_have_nan(d, Kernel::sum(d, column))) column = Kernel::without_payload(d, column);
  }
  return column;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
