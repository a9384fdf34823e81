// SPDX-License-Identifier: Apache-2.0
//
// Products that are rounded whatever the flags.
//
// Compilers may leave a product unrounded where a sum follows and the processor fuses both
// (-march=native; on 64-bit ARM without any flag). Results of templates in headers would then
// depend on the flags of the file that uses them, and, since the linker keeps one of equal
// functions, on those of any other file of the program. So every product of the library's own that
// a sum may follow is formed here. GCC has no means but to hide where a number comes from, which
// costs no instruction but keeps loops from being vectorised. Not for differentiable scalars, whose
// arithmetic is their authors', nor where a product is exact.
#pragma once

#include <type_traits>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

#if defined(__clang__)
/// p a + q b: two products and a sum, each rounded.
template <class S>
inline S rounded_sum_of_products(const S& p, const S& a, const S& q, const S& b) {
#pragma clang fp contract(off)
  return p * a + q * b;
}

/// a b, rounded before anything is done with it.
template <class S>
inline S rounded_product(const S& a, const S& b) {
#pragma clang fp contract(off)
  return a * b;
}
#else
/// The value itself, of which the compiler no longer knows where it comes from.
template <class T>
inline T opaque(T value) {
#if defined(__x86_64__) || defined(__aarch64__)
  // long double has no fused instruction there.
  if constexpr (!std::is_same_v<T, long double>) {
#if defined(__x86_64__)
    __asm__("" : "+x"(value));
#else
    __asm__("" : "+w"(value));
#endif
  }
#else
  __asm__("" : "+m"(value));
#endif
  return value;
}

/// p a + q b: two products and a sum, each rounded.
template <class S>
inline S rounded_sum_of_products(const S& p, const S& a, const S& q, const S& b) {
  if constexpr (std::is_floating_point_v<S>) {
    return opaque(p * a) + opaque(q * b);
  } else {
    return p * a + q * b;
  }
}

/// a b, rounded before anything is done with it.
template <class S>
inline S rounded_product(const S& a, const S& b) {
  if constexpr (std::is_floating_point_v<S>) {
    return opaque(a * b);
  } else {
    return a * b;
  }
}
#endif

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
