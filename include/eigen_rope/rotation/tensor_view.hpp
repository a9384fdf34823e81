// SPDX-License-Identifier: Apache-2.0
//
// A whole Eigen tensor as a StridedView, for the functions that work on rows anywhere in memory.
//
//   eigen_rope::StridedView<float> rows = eigen_rope::strided_view(y);
//
// Functions that take rows anywhere, such as gradients(), take a tensor or a map itself where this
// header is included.
//
// The feature axis is the fastest one: first in ColMajor, last in RowMajor; the view counts from it
// outwards in either. The tensor must outlive the view. Not for expressions, which have no memory:
// evaluate them first.
#pragma once

#include <type_traits>

#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope {
namespace detail {

template <int layout, class Scalar, class Dimensions>
StridedView<Scalar> dense_view(Scalar* data, const Dimensions& dimensions) {
  StridedView<Scalar> view{data, shape_of<layout>(dimensions), {}};
  const Strides strides = dense_strides(view.shape[0], view.shape.outer());
  view.strides.assign(strides.begin(), strides.begin() + view.shape.rank() - 1);
  return view;
}

}  // namespace detail

/// The tensor's memory, to be written.
template <class Scalar, int rank, int options, class TensorIndex>
StridedView<Scalar> strided_view(Eigen::Tensor<Scalar, rank, options, TensorIndex>& tensor) {
  return detail::dense_view<detail::layout_of<options>>(tensor.data(), tensor.dimensions());
}
/// The tensor's memory, to be read.
template <class Scalar, int rank, int options, class TensorIndex>
StridedView<const Scalar> strided_view(
    const Eigen::Tensor<Scalar, rank, options, TensorIndex>& tensor) {
  return detail::dense_view<detail::layout_of<options>>(tensor.data(), tensor.dimensions());
}
/// The map's memory.
template <class Plain, int options, template <class> class Pointer>
auto strided_view(const Eigen::TensorMap<Plain, options, Pointer>& map) {
  return detail::dense_view<Eigen::TensorMap<Plain, options, Pointer>::Layout>(map.data(),
                                                                               map.dimensions());
}
/// A temporary's memory is gone before the view is used.
template <class Scalar, int rank, int options, class TensorIndex>
void strided_view(const Eigen::Tensor<Scalar, rank, options, TensorIndex>&&) = delete;

namespace detail {

/// A temporary Tensor's rows are to be read.
struct RowsOfEigen {
  template <class T>
  static auto view(T&& tensor) {
    return strided_view(
        static_cast<std::conditional_t<std::is_lvalue_reference_v<T>, T, const T&>>(tensor));
  }
};

template <class Scalar, int rank, int options, class TensorIndex>
struct RowsOf<Eigen::Tensor<Scalar, rank, options, TensorIndex>> : RowsOfEigen {};

template <class Plain, int options, template <class> class Pointer>
struct RowsOf<Eigen::TensorMap<Plain, options, Pointer>> : RowsOfEigen {};

}  // namespace detail
}  // namespace eigen_rope
