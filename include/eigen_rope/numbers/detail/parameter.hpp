// SPDX-License-Identifier: Apache-2.0
//
// Arguments that cannot be taken for one another: real numbers are written as such, counts as
// integers.
//
//   DynamicNtkScaling{4.0, 4096}         a factor and a number of tokens
//   DynamicNtkScaling{4096, 4}           refused when it is compiled, as is {4096, 4.0}
//
// Only for the constructors of parameters that stand beside a count; the parameters themselves are
// members of their own types, which may be assigned by name as any number. Not for two real
// numbers, or two counts: those have an order that only their names can tell.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// A real parameter of scalar S.
template <class S>
class Real {
 public:
  template <class T,
            std::enable_if_t<
                !std::is_same_v<std::decay_t<T>, Real> && std::is_constructible_v<S, T>, int> = 0>
  // NOLINTNEXTLINE(google-explicit-constructor): an argument is written as a number
  Real(T&& value) : value_(std::forward<T>(value)) {
    static_assert(!is_whole<std::decay_t<T>>,
                  "[rope] this parameter is a real number: write 4.0 instead of 4, so that neither "
                  "it nor a count is taken for the other");
  }

  const S& value() const { return value_; }

 private:
  S value_;
};

template <class S>
struct RealOf {
  using Type = Real<S>;
};
/// Real, from which the class template's scalar is not deduced: Llama3{8.0} is of double, as the
/// default says.
template <class S>
using RealArgument = typename RealOf<S>::Type;

/// A number of dims, pairs or tokens.
class Count {
 public:
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  constexpr Count(T value) : value_(static_cast<Index>(value)) {
    static_assert(is_whole<T>,
                  "[rope] this parameter counts dims, pairs or tokens: it must be an integer, not "
                  "a real number");
  }

  constexpr Index value() const { return value_; }

 private:
  Index value_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
