// SPDX-License-Identifier: Apache-2.0
//
// Which scalar a rotation is computed in, and which it returns.
//
//   x              table          computed in   result
//   half, bfloat16 16-bit, float  float         that of x, rounded once
//   float          float, 16-bit  float         float
//   any of these   wider          the wider     that of x, rounded once
//   AD<T>          T or AD<T>     AD<T>         AD<T>
//                       any differentiable scalar, on either side
//
// and how: two products and a sum, each rounded, except that 16-bit x computed in float has its
// first product fused with the sum, on every machine (processors with a fused instruction convert
// and add 16-bit values with the same units, which are short).
//
// 16-bit types are recognised by their size and Eigen's NumTraits, so that this header needs only
// Eigen/Core.
#pragma once

#include <Eigen/Core>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/detail/rounding.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class T>
inline constexpr bool is_16_bit =
    std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;

template <class T>
inline constexpr bool is_plain = std::is_floating_point_v<T> || is_16_bit<T>;

template <class T>
using Widened = std::conditional_t<is_16_bit<T>, float, T>;

template <class... T>
inline constexpr bool are_plain = (is_plain<T> && ...);

template <class XScalar, class TableScalar, bool both_plain = are_plain<XScalar, TableScalar>>
struct Scalars {
  using Compute = decltype(Widened<XScalar>() * Widened<TableScalar>());
  using Result = XScalar;
};

template <class XScalar, class TableScalar>
struct Scalars<XScalar, TableScalar, false> {
  // Whole numbers are refused elsewhere, by sentences of their own.
  static_assert(is_plain<XScalar> || is_plain<TableScalar> ||
                    std::is_same_v<XScalar, TableScalar> || is_whole<XScalar> ||
                    is_whole<TableScalar>,
                "[rope] x and the table must have the same differentiable scalar, or one of them a "
                "plain one");
  using Compute = std::conditional_t<is_plain<XScalar>, TableScalar, XScalar>;
  using Result = Compute;
};

/// An x of whole numbers, which nothing else would refuse, has no such class.
template <class XScalar>
struct Rotatable {
  static_assert(!is_whole<XScalar> && Eigen::NumTraits<XScalar>::IsInteger == 0,
                "[rope] x must hold floating-point or differentiable numbers, not integers: "
                "cast it first, as in x.cast<float>()");
};

template <class XScalar, class TableScalar>
struct CheckedScalars : Scalars<XScalar, TableScalar> {
  static_assert(sizeof(Rotatable<XScalar>) != 0);
};

template <class XScalar, class TableScalar>
using ComputeScalar = typename CheckedScalars<XScalar, TableScalar>::Compute;

template <class XScalar, class TableScalar>
using ResultScalar = typename CheckedScalars<XScalar, TableScalar>::Result;

/// `value` as a C, explicitly: not every scalar converts by itself, and a Jet of Jets is made from
/// a number by way of the inner one.
template <class C, class T>
C converted(const T& value) {
  if constexpr (!std::is_constructible_v<C, const T&> && has_jet_members<C>) {
    return C(converted<std::decay_t<decltype(std::declval<C&>().a)>>(value));
  } else {
    return static_cast<C>(value);
  }
}

/// p a + q b for x of XScalar.
template <class XScalar, class C>
C sum_of_products(const C& p, const C& a, const C& q, const C& b) {
  if constexpr (is_16_bit<XScalar> && std::is_same_v<C, float>) {
    // The product of a float and a 16-bit number is exact in double; a sum rounded to odd there is
    // rounded to float only once.
    const float second = q * b;
    return static_cast<float>(to_odd_double(
        two_sum(static_cast<double>(p) * static_cast<double>(a), static_cast<double>(second))));
  } else {
    return rounded_sum_of_products(p, a, q, b);
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
