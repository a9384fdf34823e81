// SPDX-License-Identifier: Apache-2.0
//
// How one column of a row is rotated: as many pairs as one or two vectors hold.
//
//   out_a = p a + q b        out_b = r b + s a        p, q, r, s from the table and the direction
//
// Three kernels by where the members of pairs lie: in different vectors, in different vectors of
// bfloat16, and next to each other in one. Each has Column (coefficients), column(),
// without_payload(), Result, rotate(), put_first() and put_second(); pointers are those of the
// column's first pair. column_of() is what loops ask for coefficients. `copies` says whether there
// is a loop that copies what lies outside the window, too. Arithmetic is that of rotate_pair
// (eigen_rope/rows/detail/rows.hpp) to the bit on every target. Compiled once per target. The loops
// are in passes-inl.hpp.
#if defined(EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP
#undef EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_COLUMNS_INL_HPP
#endif

#include <cstddef>
#include <limits>
#include <type_traits>

#include "eigen_rope/rows/detail/rows.hpp"
#include "kernels/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

enum class Members { separate, adjacent };
enum class TableWidth { half, full };

/// Where a table row's entries begin.
template <class T>
struct TableRow {
  const Widened<T>* cos;
  const Widened<T>* sin;
};

template <class V>
struct Two {
  V first, second;
};

/// v, whose NaNs have a mantissa that survives being cut.
template <class V>
HWY_INLINE V canonical(V v) {
  const hn::DFromV<V> d;
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(d, std::numeric_limits<hn::TFromV<V>>::quiet_NaN()),
                        v);
}

/// How coefficients come from a table: for the forward or the backward direction, or, apart because
/// of its divisions, for the inverse.
struct Turn {
  Direction direction;
};
struct Inverse {};

/// Changes every sign of v if the direction is not the forward one.
template <class V>
HWY_INLINE V negative_unless_forward(Direction direction, V v) {
  using C = hn::TFromV<V>;
  return hn::Xor(v, hn::Set(hn::DFromV<V>(), direction == Direction::forward ? C(0.0) : C(-0.0)));
}

/// Coefficients of pairs whose members share cos and sin: out_a = cos a - sin b, out_b = cos b +
/// sin a.
template <class V>
struct SharedCoefficients {
  static constexpr int registers = 2;
  V cos, sin;

  template <class T>
  HWY_INLINE Two<V> rotate(V a, V b) const {
    return {multiply_subtract<T>(cos, a, hn::Mul(sin, b)),
            multiply_add<T>(cos, b, hn::Mul(sin, a))};
  }

  HWY_INLINE SharedCoefficients without_payload() const { return {canonical(cos), canonical(sin)}; }

  static HWY_INLINE SharedCoefficients of(Turn turn, V cos, V sin) {
    return {cos, negative_unless_forward(turn.direction, sin)};
  }

  static HWY_INLINE SharedCoefficients of(Inverse, V cos, V sin) {
    const V determinant = hn::Add(hn::Mul(cos, cos), hn::Mul(sin, sin));
    return {hn::Div(cos, determinant), hn::Neg(hn::Div(sin, determinant))};
  }
};

template <class V>
struct FullCoefficients {
  static constexpr int registers = 4;
  V p, q, r, s;

  template <class T>
  HWY_INLINE Two<V> rotate(V a, V b) const {
    return {multiply_add<T>(p, a, hn::Mul(q, b)), multiply_add<T>(r, b, hn::Mul(s, a))};
  }

  HWY_INLINE FullCoefficients without_payload() const {
    return {canonical(p), canonical(q), canonical(r), canonical(s)};
  }

  static HWY_INLINE FullCoefficients of(Turn turn, V cos_a, V cos_b, V sin_a, V sin_b) {
    if (turn.direction == Direction::forward) return {cos_a, hn::Neg(sin_a), cos_b, sin_b};
    return {cos_a, sin_b, cos_b, hn::Neg(sin_a)};
  }

  static HWY_INLINE FullCoefficients of(Inverse, V cos_a, V cos_b, V sin_a, V sin_b) {
    const V determinant = hn::Add(hn::Mul(cos_a, cos_b), hn::Mul(sin_a, sin_b));
    return {hn::Div(cos_b, determinant), hn::Div(sin_a, determinant), hn::Div(cos_a, determinant),
            hn::Neg(hn::Div(sin_b, determinant))};
  }
};

template <TableWidth width, class V>
using Coefficients =
    std::conditional_t<width == TableWidth::half, SharedCoefficients<V>, FullCoefficients<V>>;

/// The coefficients of as many pairs as d has lanes, from `k` on.
template <Members table_members, TableWidth width, class D, class C, class How>
HWY_INLINE Coefficients<width, hn::Vec<D>> load_coefficients(D d, const C* cos, const C* sin,
                                                             const Run& run, Index k, How how) {
  using V = hn::Vec<D>;
  if constexpr (width == TableWidth::half) {
    return SharedCoefficients<V>::of(how, hn::LoadU(d, cos + run.table_a + k),
                                     hn::LoadU(d, sin + run.table_a + k));
  } else if constexpr (table_members == Members::separate) {
    return FullCoefficients<V>::of(
        how, hn::LoadU(d, cos + run.table_a + k), hn::LoadU(d, cos + run.table_b + k),
        hn::LoadU(d, sin + run.table_a + k), hn::LoadU(d, sin + run.table_b + k));
  } else {
    V cos_a, cos_b, sin_a, sin_b;
    hn::LoadInterleaved2(d, cos + run.table_a + 2 * k, cos_a, cos_b);
    hn::LoadInterleaved2(d, sin + run.table_a + 2 * k, sin_a, sin_b);
    return FullCoefficients<V>::of(how, cos_a, cos_b, sin_a, sin_b);
  }
}

/// Members in different vectors, one pair in each lane.
template <Members in, Members out, TableWidth width, class Scalar>
struct ApartKernel {
  using T = Scalar;
  static constexpr Index in_step = in == Members::separate ? 1 : 2;
  static constexpr Index out_step = out == Members::separate ? 1 : 2;
  static constexpr Index pairs_per_lane = 1;
  static constexpr bool two_stores = out == Members::separate;
  /// Highway's own interleaved stores of float and double go through the cache.
  static constexpr bool streams_adjacent = is_16_bit<Scalar>;
  static constexpr bool copies = width == TableWidth::half && in == out;
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
  static HWY_INLINE Column<D> inverted(D, const Column<D>& column) {
    return column.inverted();
  }

  template <class D>
  static HWY_INLINE Column<D> without_payload(D, const Column<D>& column) {
    return column.without_payload();
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D d, const T* x_a, const T* x_b, const Column<D>& column) {
    hn::Vec<D> a, b;
    if constexpr (in == Members::separate) {
      a = load(d, x_a);
      b = load(d, x_b);
    } else {
      load_apart(d, x_a, a, b);
    }
    return column.template rotate<T>(a, b);
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
};

/// Members in different vectors of bfloat16: pairs at even and at odd places, which a shift and a
/// mask make floats of.
template <TableWidth width>
struct EvenOddKernel {
  using T = Eigen::bfloat16;
  static constexpr Index in_step = 1;
  static constexpr Index out_step = 1;
  static constexpr Index pairs_per_lane = 2;
  static constexpr bool two_stores = true;
  static constexpr bool streams_adjacent = true;
  static constexpr bool copies = width == TableWidth::half;
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
    V cos_even, cos_odd, sin_even, sin_odd;
    hn::LoadInterleaved2(d, table.cos + run.table_a + k, cos_even, cos_odd);
    hn::LoadInterleaved2(d, table.sin + run.table_a + k, sin_even, sin_odd);
    if constexpr (width == TableWidth::half) {
      return {SharedCoefficients<V>::of(how, cos_even, sin_even),
              SharedCoefficients<V>::of(how, cos_odd, sin_odd)};
    } else {
      V cos_b_even, cos_b_odd, sin_b_even, sin_b_odd;
      hn::LoadInterleaved2(d, table.cos + run.table_b + k, cos_b_even, cos_b_odd);
      hn::LoadInterleaved2(d, table.sin + run.table_b + k, sin_b_even, sin_b_odd);
      return {FullCoefficients<V>::of(how, cos_even, cos_b_even, sin_even, sin_b_even),
              FullCoefficients<V>::of(how, cos_odd, cos_b_odd, sin_odd, sin_b_odd)};
    }
  }

  template <class D>
  static HWY_INLINE Column<D> inverted(D, const Column<D>& column) {
    return {column.even.inverted(), column.odd.inverted()};
  }

  template <class D>
  static HWY_INLINE Column<D> without_payload(D, const Column<D>& column) {
    return {column.even.without_payload(), column.odd.without_payload()};
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
};

/// Members next to each other in a vector, which is multiplied with its own coefficients and,
/// members swapped, with the cross ones. A column is two vectors.
template <TableWidth width, class Scalar>
struct NeighbourKernel {
  using T = Scalar;
  static constexpr Index in_step = 2;
  static constexpr Index out_step = 2;
  static constexpr Index pairs_per_lane = 1;
  static constexpr bool two_stores = false;
  static constexpr bool streams_adjacent = true;
  static constexpr bool copies = width == TableWidth::half;
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
      const auto shared =
          load_coefficients<Members::separate, width>(d, table.cos, table.sin, run, k, how);
      const auto lower = twice(d, 0);
      const auto upper = twice(d, lanes / 2);
      return {
          signs(hn::TableLookupLanes(shared.cos, lower), hn::TableLookupLanes(shared.sin, lower)),
          signs(hn::TableLookupLanes(shared.cos, upper), hn::TableLookupLanes(shared.sin, upper))};
    }
  }

  template <class D>
  static HWY_INLINE Column<D> without_payload(D, const Column<D>& column) {
    return {{canonical(column.lower.direct), canonical(column.lower.cross)},
            {canonical(column.upper.direct), canonical(column.upper.cross)}};
  }

  template <class D>
  static HWY_INLINE Result<D> rotate(D d, const T* x, const T*, const Column<D>& column) {
    return {rotate(d, load(d, x), column.lower),
            rotate(d, load(d, x + hn::Lanes(d)), column.upper)};
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_first(D d, const Result<D>& result, T* y) {
    store<stores>(result.first, d, y);
    store<stores>(result.second, d, y + hn::Lanes(d));
  }

  template <Stores stores, class D>
  static HWY_INLINE void put_second(D, const Result<D>&, T*) {}

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

  template <class V>
  static HWY_INLINE Cross<V> signs(V cos, V sin) {
    return {cos, hn::OddEven(sin, hn::Neg(sin))};
  }

  template <class D, class V>
  static HWY_INLINE Cross<V> cross(D d, Turn turn, V cos, V sin) {
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
  const auto column = Kernel::column(d, table, run, k, how);
  if constexpr (std::is_same_v<typename Kernel::T, Eigen::bfloat16>)
    return Kernel::without_payload(d, column);
  return column;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
