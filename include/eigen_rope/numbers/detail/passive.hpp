// SPDX-License-Identifier: Apache-2.0
//
// The number a branch looks at: the value of any scalar as a double, its derivatives left behind.
//
//   arithmetic types                          the value, rounded to double
//   DoubleDouble                              the nearest double
//   std::complex                              the real part (the complex step keeps the derivative
//                                             in the imaginary one)
//   Eigen::AutoDiffScalar, ADOL-C's adouble   .value()
//   Sacado's types                            .val()
//   ceres::Jet                                .a
//   anything else that converts to double     the conversion
//
// taken again where that is itself such a scalar (nested types, for second derivatives). Any other
// type joins by a function `eigen_rope_passive(const S&)` in its own namespace, which returns its
// value; it comes before the list. Not for values that are computed with: only for comparisons,
// rounding and checks.
#pragma once

#include <complex>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/double_double.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class S, class = void>
inline constexpr bool has_rope_passive = false;
template <class S>
inline constexpr bool
    has_rope_passive<S, std::void_t<decltype(eigen_rope_passive(std::declval<const S&>()))>> = true;

template <class S, class = void>
inline constexpr bool has_value_function = false;
template <class S>
inline constexpr bool
    has_value_function<S, std::void_t<decltype(std::declval<const S&>().value())>> = true;

template <class S, class = void>
inline constexpr bool has_val_function = false;
template <class S>
inline constexpr bool has_val_function<S, std::void_t<decltype(std::declval<const S&>().val())>> =
    true;

template <class S, class = void>
inline constexpr bool has_jet_members = false;
template <class S>
inline constexpr bool has_jet_members<
    S, std::void_t<decltype(std::declval<const S&>().a), decltype(std::declval<const S&>().v)>> =
    true;

template <class S>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// Whether the list above knows the value of an S.
template <class S>
constexpr bool has_passive() {
  if constexpr (std::is_arithmetic_v<S> || std::is_same_v<S, DoubleDouble>) {
    return true;
  } else if constexpr (has_rope_passive<S>) {
    return has_passive<std::decay_t<decltype(eigen_rope_passive(std::declval<const S&>()))>>();
  } else if constexpr (is_complex<S>) {
    return has_passive<typename S::value_type>();
  } else if constexpr (has_value_function<S>) {
    return has_passive<std::decay_t<decltype(std::declval<const S&>().value())>>();
  } else if constexpr (has_val_function<S>) {
    return has_passive<std::decay_t<decltype(std::declval<const S&>().val())>>();
  } else if constexpr (has_jet_members<S>) {
    return has_passive<std::decay_t<decltype(std::declval<const S&>().a)>>();
  } else {
    return std::is_constructible_v<double, const S&>;
  }
}

/// The value of `scalar` as a double; reads nothing but the value.
template <class S>
double passive(const S& scalar) {
  if constexpr (std::is_arithmetic_v<S>) {
    return static_cast<double>(scalar);
  } else if constexpr (has_rope_passive<S>) {
    return detail::passive(eigen_rope_passive(scalar));
  } else if constexpr (std::is_same_v<S, DoubleDouble>) {
    return scalar.high;
  } else if constexpr (is_complex<S>) {
    return detail::passive(scalar.real());
  } else if constexpr (has_value_function<S>) {
    return detail::passive(scalar.value());
  } else if constexpr (has_val_function<S>) {
    return detail::passive(scalar.val());
  } else if constexpr (has_jet_members<S>) {
    return detail::passive(scalar.a);
  } else {
    static_assert(std::is_constructible_v<double, const S&>,
                  "[rope] the value of this scalar is unknown: give its namespace a function "
                  "eigen_rope_passive(const S&)");
    return static_cast<double>(scalar);
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
