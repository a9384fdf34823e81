// SPDX-License-Identifier: Apache-2.0
//
// Views of whole Eigen tensors, for the functions that take rows anywhere in memory.
//
//   eigen_rope::StridedView<float> rows = eigen_rope::strided_view(y);
//
// Where this header is included, functions that take such rows, for example gradients(), also take
// a Tensor, TensorFixedSize, TensorMap or TensorRef itself. Slices and chips of them are in
// piece_view.hpp.
//
// The feature axis is the fastest one: the first in ColMajor, the last in RowMajor. The view counts
// its axes from there outwards in both. The tensor must outlive the view. Any other expression has
// no memory to view, so evaluate it first.
#pragma once

#include <string>
#include <type_traits>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

template <int layout, class Scalar, class Dimensions>
StridedView<Scalar> dense_view(Scalar* data, const Dimensions& dimensions) {
  StridedView<Scalar> view;
  view.data = data;
  append_extents<layout>(dimensions, view.shape);
  lay_out_densely(view);
  return view;
}

/// For sentences about what is instantiated.
template <class T>
inline constexpr bool is_never = false;

}  // namespace detail

/// Returns a view of all rows of a tensor, through which they can be written.
///
/// \code{.cpp}
/// er::StridedView<float> rows = er::strided_view(q);
/// er::rotate_inplace(rows.slice(1, 0, 2), cache, er::split_half);  // the first two heads only
/// \endcode
///
/// \param tensor  must outlive the view; resizing it makes the view invalid
template <class Scalar, int rank, int options, class TensorIndex>
StridedView<Scalar> strided_view(Eigen::Tensor<Scalar, rank, options, TensorIndex>& tensor) {
  return detail::dense_view<detail::layout_of<options>>(tensor.data(), tensor.dimensions());
}
/// Returns a view of all rows of a constant tensor, through which they can be read.
///
/// \code{.cpp}
/// const Eigen::Tensor<float, 4> keys = k;
/// er::StridedView<const float> rows = er::strided_view(keys);
/// er::rotate_to(er::strided_view(y), rows, cache, er::split_half);
/// \endcode
///
/// \param tensor  must outlive the view
template <class Scalar, int rank, int options, class TensorIndex>
StridedView<const Scalar> strided_view(
    const Eigen::Tensor<Scalar, rank, options, TensorIndex>& tensor) {
  return detail::dense_view<detail::layout_of<options>>(tensor.data(), tensor.dimensions());
}
/// Returns a view of all rows of a map: to be written, or to be read if the map is of a constant
/// tensor.
///
/// \code{.cpp}
/// std::vector<float> memory(D * heads * tokens);
/// Eigen::TensorMap<Eigen::Tensor<float, 3>> map(memory.data(), D, heads, tokens);
/// er::rotate_inplace(er::strided_view(map), cache, er::split_half);
/// \endcode
///
/// \param map  the memory it is over, not the map object, must outlive the view
template <class Plain, int options, template <class> class Pointer>
auto strided_view(const Eigen::TensorMap<Plain, options, Pointer>& map) {
  return detail::dense_view<Eigen::TensorMap<Plain, options, Pointer>::Layout>(map.data(),
                                                                               map.dimensions());
}
/// Returns a view of all rows of a tensor whose extents are part of its type.
///
/// \code{.cpp}
/// Eigen::TensorFixedSize<float, Eigen::Sizes<64, 2>> token;  // [D, heads]
/// token.setRandom();
/// const er::Cache<float> now(frequencies, er::Positions::range(7, 1));
/// er::rotate_inplace(er::strided_view(token), now, er::split_half);
/// \endcode
///
/// \param tensor  must outlive the view
template <class Scalar, class Extents, int options, class TensorIndex>
StridedView<Scalar> strided_view(
    Eigen::TensorFixedSize<Scalar, Extents, options, TensorIndex>& tensor) {
  return detail::dense_view<detail::layout_of<options>>(tensor.data(), tensor.dimensions());
}
/// Returns a view of all rows of a constant tensor whose extents are part of its type.
template <class Scalar, class Extents, int options, class TensorIndex>
StridedView<const Scalar> strided_view(
    const Eigen::TensorFixedSize<Scalar, Extents, options, TensorIndex>& tensor) {
  return detail::dense_view<detail::layout_of<options>>(tensor.data(), tensor.dimensions());
}
/// Returns a view of all rows that a TensorRef refers to, to be read: it does not say whether its
/// memory may be written.
///
/// \code{.cpp}
/// const Eigen::TensorRef<Eigen::Tensor<float, 4>> input(q);
/// er::rotate_to(er::strided_view(y), er::strided_view(input), cache, er::split_half);
/// \endcode
///
/// \param reference  must outlive the view, as must what it refers to
///
/// - Errors:   eigen_rope::Error if it refers to an expression whose elements are not in memory one
///             behind the other, such as a sum or a slice with gaps.
template <class Plain>
auto strided_view(const Eigen::TensorRef<Plain>& reference) {
  const auto view =
      detail::dense_view<Eigen::TensorRef<Plain>::Layout>(reference.data(), reference.dimensions());
  if (view.data == nullptr && view.shape.size() != 0) {
    detail::fail("a TensorRef must refer to memory in one piece: evaluate the expression first",
                 "an expression of shape " + view.shape.text());
  }
  return view;
}
/// Refuses a temporary tensor when the program is compiled: its memory would be gone before the
/// view is used.
template <class Scalar, int rank, int options, class TensorIndex>
void strided_view(const Eigen::Tensor<Scalar, rank, options, TensorIndex>&&) = delete;
/// Refuses a temporary tensor of a fixed size likewise.
template <class Scalar, class Extents, int options, class TensorIndex>
void strided_view(const Eigen::TensorFixedSize<Scalar, Extents, options, TensorIndex>&&) = delete;
/// Refuses a temporary TensorRef likewise: it may own what it refers to.
template <class Plain>
void strided_view(const Eigen::TensorRef<Plain>&&) = delete;
/// Refuses an expression without memory of its own in one sentence when the program is compiled.
template <class Expression>
StridedView<float> strided_view(const Eigen::TensorBase<Expression, Eigen::ReadOnlyAccessors>&) {
  static_assert(detail::is_never<Expression>,
                "[rope] a view must be of elements in memory: evaluate an expression first, as in "
                "Eigen::Tensor<float, 3> q = a + b");
  return {};
}

namespace detail {

/// Views whole tensors, maps and references; of a temporary tensor the view is a constant one.
template <int layout>
struct RowsOfEigen {
  static constexpr IndexOrder order = order_of_layout<layout>;
  static constexpr bool may_be_ambiguous = true;
  template <class T>
  static auto view(T&& tensor) {
    return strided_view(
        static_cast<std::conditional_t<std::is_lvalue_reference_v<T>, T, const T&>>(tensor));
  }
};

template <class Scalar, int rank, int options, class TensorIndex>
struct RowsOf<Eigen::Tensor<Scalar, rank, options, TensorIndex>> : RowsOfEigen<layout_of<options>> {
};

template <class Scalar, class Extents, int options, class TensorIndex>
struct RowsOf<Eigen::TensorFixedSize<Scalar, Extents, options, TensorIndex>>
    : RowsOfEigen<layout_of<options>> {};

template <class Plain, int options, template <class> class Pointer>
struct RowsOf<Eigen::TensorMap<Plain, options, Pointer>>
    : RowsOfEigen<Eigen::TensorMap<Plain, options, Pointer>::Layout> {};

template <class Plain>
struct RowsOf<Eigen::TensorRef<Plain>> : RowsOfEigen<Eigen::TensorRef<Plain>::Layout> {};

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI
