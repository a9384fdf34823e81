// SPDX-License-Identifier: Apache-2.0
//
// A tensor's scalar as a value, for programs that learn it only when they run.
//
// Scalars are template parameters inside the library. The operators and the tool read files and
// other systems' tensors, where the scalar is a field. ScalarType names float, double, and half and
// bfloat16 as Eigen/Core defines them. The rotation takes more scalars than these: long double and
// differentiable scalars have no name in any file.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The scalar of a tensor's elements, as a value.
enum class ScalarType {
  f32,  ///< float, 32 bits.
  f64,  ///< double, 64 bits.
  f16,  ///< Eigen::half, 16 bits.
  bf16  ///< Eigen::bfloat16, 16 bits.
};

/// Returns the scalar's name: `f32`, `f64`, `f16` or `bf16`.
///
/// \code{.cpp}
/// const std::string name = er::name_of(er::ScalarType::bf16);
/// \endcode
constexpr const char* name_of(ScalarType type) {
  switch (type) {
    case ScalarType::f32: return "f32";
    case ScalarType::f64: return "f64";
    case ScalarType::f16: return "f16";
    case ScalarType::bf16: break;
  }
  return "bf16";
}

/// Returns the number of bytes of one element.
///
/// \code{.cpp}
/// const std::size_t bytes = D * er::size_of(er::ScalarType::f16);
/// \endcode
constexpr std::size_t size_of(ScalarType type) {
  return type == ScalarType::f64   ? sizeof(double)
         : type == ScalarType::f32 ? sizeof(float)
                                   : sizeof(std::uint16_t);
}

namespace detail {

template <class Scalar>
struct ScalarTypeOf;
template <>
struct ScalarTypeOf<float> : std::integral_constant<ScalarType, ScalarType::f32> {};
template <>
struct ScalarTypeOf<double> : std::integral_constant<ScalarType, ScalarType::f64> {};
template <>
struct ScalarTypeOf<Eigen::half> : std::integral_constant<ScalarType, ScalarType::f16> {};
template <>
struct ScalarTypeOf<Eigen::bfloat16> : std::integral_constant<ScalarType, ScalarType::bf16> {};

}  // namespace detail

/// The ScalarType of float, double, Eigen::half or Eigen::bfloat16; const does not matter.
///
/// \code{.cpp}
/// const er::ScalarType type = er::scalar_type<float>;
/// \endcode
template <class Scalar>
inline constexpr ScalarType scalar_type = detail::ScalarTypeOf<std::remove_const_t<Scalar>>::value;

namespace detail {

template <class Scalar>
struct ScalarTag {
  using type = Scalar;
};

/// Calls visit(ScalarTag<T>()) with the scalar of that name.
template <class Visit>
decltype(auto) with_scalar(ScalarType type, Visit&& visit) {
  switch (type) {
    case ScalarType::f32: return visit(ScalarTag<float>());
    case ScalarType::f64: return visit(ScalarTag<double>());
    case ScalarType::f16: return visit(ScalarTag<Eigen::half>());
    case ScalarType::bf16: break;
  }
  return visit(ScalarTag<Eigen::bfloat16>());
}

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI
