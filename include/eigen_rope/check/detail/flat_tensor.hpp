// SPDX-License-Identifier: Apache-2.0
//
// Eigen tensors and single numbers as flat arrays and back, in memory order, with the scalar
// changed on the way: what a gradient check needs to call a user's function at other points and in
// other scalars.
//
// Not views: everything is copied.
#pragma once

#include <complex>
#include <type_traits>
#include <utility>
#include <vector>

#include "eigen_rope/check/detail/gradient_problem.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T, class = void>
struct IsTensorExpression : std::false_type {};
template <class T>
struct IsTensorExpression<
    T, std::enable_if_t<std::is_base_of_v<Eigen::TensorBase<T, Eigen::ReadOnlyAccessors>, T>>>
    : std::true_type {};

/// How a number, or a tensor, is taken apart. Undefined for anything else.
template <class T>
struct Flat;

template <class S, int rank, int options, class TensorIndex>
struct Flat<Eigen::Tensor<S, rank, options, TensorIndex>> {
  using Scalar = S;
  template <class T>
  using With = Eigen::Tensor<T, rank, options, TensorIndex>;

  static FlatArray array(const With<S>& tensor) {
    FlatArray result;
    for (const auto extent : tensor.dimensions())
      result.extents.push_back(static_cast<Index>(extent));
    if ((options & Eigen::RowMajor) != 0) result.order = MemoryOrder::last_index_fastest;
    return result;
  }
  static const S* data(const With<S>& tensor) { return tensor.data(); }
  /// A tensor of these extents with element j equal to entry(j).
  template <class T, class Entry>
  static With<T> filled(const FlatArray& array, const Entry& entry) {
    Eigen::DSizes<TensorIndex, rank> sizes;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      sizes[axis] = static_cast<TensorIndex>(array.extents[axis]);
    With<T> result(sizes);
    const Index size = static_cast<Index>(result.size());
    for (Index j = 0; j < size; ++j) result.data()[j] = entry(j);
    return result;
  }
};

template <class S>
struct FlatNumber {
  using Scalar = S;
  template <class T>
  using With = T;

  static FlatArray array(const S&) { return {}; }
  static const S* data(const S& number) { return &number; }
  template <class T, class Entry>
  static T filled(const FlatArray&, const Entry& entry) {
    return entry(Index{0});
  }
};

template <>
struct Flat<float> : FlatNumber<float> {};
template <>
struct Flat<double> : FlatNumber<double> {};
template <class T>
struct Flat<std::complex<T>> : FlatNumber<std::complex<T>> {};

/// A tensor expression as a tensor, a number as itself.
template <class Result>
auto evaluated(const Result& result) {
  if constexpr (IsTensorExpression<Result>::value) {
    using Traits = Eigen::internal::traits<Result>;
    using S = std::remove_const_t<typename Traits::Scalar>;
    return Eigen::Tensor<S, static_cast<int>(Traits::NumDimensions),
                         static_cast<int>(Traits::Layout), typename Traits::Index>(result);
  } else {
    return result;
  }
}

template <class T>
using Evaluated = decltype(evaluated(std::declval<const Plain<T>&>()));

template <class T>
using FlatScalar = typename Flat<Plain<T>>::Scalar;

template <class T, class S>
using FlatWith = typename Flat<Plain<T>>::template With<S>;

/// Appends part(element) of every element.
template <class T, class Part>
void append_to(FlatValues& values, const T& tensor, const Part& part) {
  const auto* elements = Flat<T>::data(tensor);
  const std::size_t before = values.size();
  values.resize(before + static_cast<std::size_t>(Flat<T>::array(tensor).size()));
  for (std::size_t j = before; j < values.size(); ++j) values[j] = part(elements[j - before]);
}

template <class T>
void append_to(FlatValues& values, const T& tensor) {
  append_to(values, tensor, [](const auto& element) { return static_cast<double>(element); });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
