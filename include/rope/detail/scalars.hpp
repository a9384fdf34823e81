// SPDX-License-Identifier: Apache-2.0
//
// Which scalar a rotation is computed in, and which it returns.
//
//   x              table          computed in    result
//   half, bfloat16 16-bit, float  float          that of x, rounded once
//   float          float, 16-bit  float          float
//   any of these   wider          the wider      that of x, rounded once
//   AD<T>          T or AD<T>     AD<T>          AD<T>          any differentiable scalar, on either side
//
// 16-bit types are recognised by their size and Eigen's NumTraits, so that this header needs only Eigen/Core.
#pragma once

#include <Eigen/Core>
#include <type_traits>

namespace rope::detail {

template <class T>
inline constexpr bool is_16_bit = std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;

template <class T>
inline constexpr bool is_plain = std::is_floating_point_v<T> || is_16_bit<T>;

template <class T>
using Widened = std::conditional_t<is_16_bit<T>, float, T>;

template <class XScalar, class TableScalar, bool both_plain = is_plain<XScalar>&& is_plain<TableScalar>>
struct Scalars {
  using Compute = decltype(Widened<XScalar>() * Widened<TableScalar>());
  using Result = XScalar;
};

template <class XScalar, class TableScalar>
struct Scalars<XScalar, TableScalar, false> {
  static_assert(is_plain<XScalar> || is_plain<TableScalar> || std::is_same_v<XScalar, TableScalar>,
                "[rope] x and the table must have the same differentiable scalar, or one of them a plain one");
  using Compute = std::conditional_t<is_plain<XScalar>, TableScalar, XScalar>;
  using Result = Compute;
};

template <class XScalar, class TableScalar>
using ComputeScalar = typename Scalars<XScalar, TableScalar>::Compute;

template <class XScalar, class TableScalar>
using ResultScalar = typename Scalars<XScalar, TableScalar>::Result;

}  // namespace rope::detail
