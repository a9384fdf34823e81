// SPDX-License-Identifier: Apache-2.0
//
// A tensor's scalar as a value, for callers who learn it when the program runs.
//
// The operators and the tool read files and other systems' tensors, whose scalar is a field; inside
// the library scalars are template parameters. Half and bfloat16 are recognised where Eigen/Core
// defines them. Not a list of all scalars the rotation takes: long double and differentiable
// scalars have no name in any file.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace eigen_rope {

/// A scalar as a value at run time.
enum class ScalarType { f32, f64, f16, bf16 };

/// "f32", "f64", "f16" or "bf16".
constexpr const char* name_of(ScalarType type) {
  switch (type) {
    case ScalarType::f32: return "f32";
    case ScalarType::f64: return "f64";
    case ScalarType::f16: return "f16";
    case ScalarType::bf16: break;
  }
  return "bf16";
}

/// Bytes of one element.
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

/// The name of float, double, Eigen::half or Eigen::bfloat16.
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
}  // namespace eigen_rope
