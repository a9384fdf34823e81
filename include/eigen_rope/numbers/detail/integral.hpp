// SPDX-License-Identifier: Apache-2.0
//
// Which numbers cannot be rotated because they are whole ones.
//
//   integers, bool, enumerations, and whatever std::numeric_limits calls an integer       yes
//   std::complex of such a number                                                         yes
//   everything else, std::complex of floating-point numbers included                      no
//
// Not a list of what can be rotated: any scalar that is not whole is plain or differentiable.
// Without Eigen; see scalars.hpp.
#pragma once

#include <complex>
#include <limits>
#include <type_traits>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class T>
inline constexpr bool is_whole = std::is_enum_v<T> || std::numeric_limits<T>::is_integer;
template <class T>
inline constexpr bool is_whole<std::complex<T>> = is_whole<T>;
template <class T>
inline constexpr bool is_whole<const T> = is_whole<T>;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
