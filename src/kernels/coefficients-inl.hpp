// SPDX-License-Identifier: Apache-2.0
//
// The coefficients of some pairs, from the table and the direction.
//
//   out_a = p a + q b        out_b = r b + s a
//
//   half width    p = r = cos, s = -q = sin
//   full width    each member has its own entries; the inverse divides by the determinant
//
// Backward is forward with the members of every pair swapped: see Turn. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_COEFFICIENTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_COEFFICIENTS_INL_HPP
#undef EIGEN_ROPE_KERNEL_COEFFICIENTS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_COEFFICIENTS_INL_HPP
#endif

#include <limits>
#include <type_traits>

#include "eigen_rope/rows/detail/rows.hpp"
#include "kernels/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
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

/// Whether some of the coefficients with this sum may be NaN. Where comparisons have registers of
/// their own for their masks, asking takes less than making all coefficients canonical.
template <class D>
HWY_INLINE bool may_have_nan([[maybe_unused]] D d, [[maybe_unused]] hn::Vec<D> sum) {
#if HWY_TARGET == HWY_AVX3
  return HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(sum)));
#else
  return true;
#endif
}

/// Whether a kernel's passes swap the members of every pair for the backward direction.
enum class Swap { nothing, members };

/// How coefficients come from a table for the forward or the backward direction. Backward is
/// forward with the members of every pair swapped: out_b = cos b - sin a, out_a = cos a
/// + sin b. Where a kernel's members are in different vectors, its passes swap the pointers
/// (first_row in passes-inl.hpp), and the signs are those of the forward direction.
template <Swap swap>
struct Turn {
  Direction direction;
};
/// Likewise for the inverse, apart because of its divisions.
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
  HWY_INLINE V sum() const { return hn::Add(cos, sin); }

  static HWY_INLINE SharedCoefficients of(Turn<Swap::members>, V cos, V sin) { return {cos, sin}; }

  static HWY_INLINE SharedCoefficients of(Turn<Swap::nothing> turn, V cos, V sin) {
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
  HWY_INLINE V sum() const { return hn::Add(hn::Add(p, q), hn::Add(r, s)); }

  static HWY_INLINE FullCoefficients of(Turn<Swap::members> turn, V cos_a, V cos_b, V sin_a,
                                        V sin_b) {
    if (turn.direction == Direction::forward) return {cos_a, hn::Neg(sin_a), cos_b, sin_b};
    return {cos_b, hn::Neg(sin_a), cos_a, sin_b};
  }

  static HWY_INLINE FullCoefficients of(Turn<Swap::nothing> turn, V cos_a, V cos_b, V sin_a,
                                        V sin_b) {
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

/// Twice as many entries of a table as d has lanes: those at even places and those at odd ones.
template <class D, class C>
HWY_INLINE Two<hn::Vec<D>> entries_apart(D d, const C* entries) {
  const auto lower = hn::LoadU(d, entries);
  const auto upper = hn::LoadU(d, entries + hn::Lanes(d));
  return {hn::ConcatEven(d, upper, lower), hn::ConcatOdd(d, upper, lower)};
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
