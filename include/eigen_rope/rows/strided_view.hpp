// SPDX-License-Identifier: Apache-2.0
//
// Rows that lie anywhere in memory: q inside a fused QKV buffer, a permuted tensor, one slot of a
// KV cache.
//
// Element (d, i_1, i_2, ...) lies at
//
//   data[d * feature_stride + i_1 * strides[0] + i_2 * strides[1] + ...]
//
// with strides in elements. strided_view() makes one of a whole array, and slice(), chip(), split()
// and swap_axes() make views of its parts: nothing is copied, and nothing is owned.
#pragma once

#include <cstddef>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/numbers/strides.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// A view of rows that lie at regular distances in memory, which it does not own.
///
///     element (d, i_1, ...) = data[d * feature_stride + i_1 * strides[0] + ...]
///
/// Axis 0 holds the features, unless Pairing::along() names another axis of the view.
///
/// \code{.cpp}
/// // The keys of a fused buffer [D, heads of q, k and v, tokens]:
/// std::vector<float> qkv(D * 3 * heads * tokens);
/// const auto rows = er::strided_view(qkv.data(), {D, 3 * heads, tokens}).slice(1, heads, heads);
/// er::rotate_inplace(rows, cache, er::split_half);
/// \endcode
///
/// The four members that return a view count axes from 0, the fastest of a dense array. They throw
/// eigen_rope::Error where the view has not one stride for each outer axis, where an axis is none
/// of its axes, and where a part would begin outside the address space. They read no element.
///
/// \tparam Scalar  the elements' type; `const` for rows that are only read
///
/// \see strided_view(), \ref cookbook "Cookbook"
template <class Scalar>
struct StridedView {
  Scalar* data = nullptr;  ///< The address of element (0, 0, ...).
  Shape shape{};           ///< The extents, the feature axis first.
  /// The distance of neighbours along each axis but axis 0, in elements; of any sign.
  Strides strides{};
  /// The distance of neighbours along axis 0, in elements; of any sign, but not 0.
  Index feature_stride = 1;

  /// Returns a view of `count` neighbours along an axis: the heads of the queries, the tokens of
  /// one sequence.
  ///
  /// \code{.cpp}
  /// // Tokens 3 to 7 of [D, heads, tokens, batch], at positions 0 to 4:
  /// const er::Cache<float> five(frequencies, er::Positions::range(0, 5));
  /// er::rotate_inplace(er::strided_view(q).slice(2, 3, 5), five, er::split_half);
  /// \endcode
  ///
  /// \param axis   the axis that becomes shorter
  /// \param first  the first element to keep
  /// \param count  how many to keep; 0 makes an empty view
  ///
  /// - Errors:   eigen_rope::Error unless the elements lie within the axis.
  StridedView slice(int axis, Index first, Index count) const;

  /// Returns a view of one element of an axis, without that axis: one sequence of a batch, one
  /// block of a paged cache.
  ///
  /// \code{.cpp}
  /// // Sequence 1 of [D, heads, tokens, batch]:
  /// er::rotate_inplace(er::strided_view(q).chip(3, 1), cache, er::split_half);
  /// \endcode
  ///
  /// \param axis   the axis that is removed. Without axis 0, axis 1 has the features
  /// \param index  the element of the axis to keep
  ///
  /// - Errors:   eigen_rope::Error for an index outside the axis, and for a view of one axis.
  StridedView chip(int axis, Index index) const;

  /// Returns a view with an axis split into two: a token's features into heads of D, tokens into
  /// sequences.
  ///
  /// \code{.cpp}
  /// // A projection [heads * D, tokens]:
  /// std::vector<float> projected(heads * D * tokens);
  /// const auto rows = er::strided_view(projected.data(), {heads * D, tokens}).split(0, D);
  /// er::rotate_inplace(rows, cache, er::split_half);  // [D, heads, tokens]
  /// \endcode
  ///
  /// \param axis    the axis that becomes `axis`, with `extent` elements, and `axis` + 1, with the
  ///                number of such parts
  /// \param extent  how many elements a part has
  ///
  /// - Errors:   eigen_rope::Error unless the extent is positive and divides that of the axis, and
  ///             for a view of max_rank axes.
  StridedView split(int axis, Index extent) const;

  /// Returns a view with two axes exchanged; the elements stay where they are.
  ///
  /// \code{.cpp}
  /// // From [D, heads, tokens, batch] to [D, tokens, heads, batch]:
  /// Eigen::Tensor<float, 4> turned(D, tokens, heads, batch);
  /// er::rotate_to(er::strided_view(turned).swap_axes(1, 2), er::strided_view(q), cache,
  ///               er::split_half);
  /// \endcode
  ///
  /// \param a, b  the two axes, in any order
  StridedView swap_axes(int a, int b) const;
};

namespace detail {

/// The members of a view but for its data.
struct ViewPlaces {
  Shape shape{};
  Strides strides{};
  Index feature_stride = 1;
};

/// An axis of a view, and the number that messages give it.
struct AxisOfView {
  int axis;
  int named;
};

/// These change the places to those of a part of the view. The first two return how far its first
/// element lies from that of the view; an empty part begins where the view does.
///
/// - Errors:   eigen_rope::Error as StridedView's members throw it.
EIGEN_ROPE_API Index keep_slice(ViewPlaces& places, AxisOfView axis, Index first, Index count);
EIGEN_ROPE_API Index keep_chip(ViewPlaces& places, AxisOfView axis, Index index);
EIGEN_ROPE_API void split_axis(ViewPlaces& places, int axis, Index extent);
EIGEN_ROPE_API void exchange_axes(ViewPlaces& places, int a, int b);

/// Throws eigen_rope::Error for an element so far from `data` that it lies outside the address
/// space.
EIGEN_ROPE_API void check_offset(const void* data, std::size_t size, Index offset);

template <class Scalar>
ViewPlaces places_of(const StridedView<Scalar>& view) {
  return {view.shape, view.strides, view.feature_stride};
}

/// The view with these places that begins so far from `data`. A null pointer stays one, for the
/// rotation to refuse.
template <class Scalar>
StridedView<Scalar> view_at(Scalar* data, Index offset, const ViewPlaces& places) {
  if (data == nullptr) offset = 0;
  if (offset != 0) check_offset(data, sizeof(Scalar), offset);
  return {data + offset, places.shape, places.strides, places.feature_stride};
}

/// Appends the strides of a dense array to a view that has none. They are written to where they
/// stay: for one token, a copy would be felt.
template <class Scalar>
void lay_out_densely(StridedView<Scalar>& view) {
  auto stride = std::size_t{1};  // unsigned: where an extent is 0 others may be anything
  const int outer_axes = view.shape.rank() - 1;
  for (int axis = 0; axis < outer_axes; ++axis) {
    stride *= static_cast<std::size_t>(view.shape.begin()[axis]);
    view.strides.push_back(static_cast<Index>(stride));
  }
}

/// Whether rows of a view may share elements. Rows that are only read may, rows that are written
/// may not.
enum class SharedElements { refused, allowed };

/// Whether there is one stride for each outer axis, and each steps over all that lies inside it and
/// is short enough for the whole span, as those of dense arrays and of parts of them are. Then
/// check_strides() has nothing to refuse.
inline bool are_plain_strides(const Shape& shape, const Strides& strides, Index feature_stride) {
  constexpr Index longest = Index{1} << 31;
  constexpr Index most = Index{1} << 25;  // seven such axes span less than 59 bits
  if (static_cast<int>(strides.size()) + 1 != shape.rank() || feature_stride != 1) return false;
  Index inside = shape[0];
  if (inside >= longest) return false;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const Index extent = shape.begin()[i + 1];
    if (strides[i] < inside || strides[i] >= longest || extent >= most) return false;
    inside += strides[i] * (extent - 1);
  }
  return true;
}

/// What check_strides() does with all others.
EIGEN_ROPE_API void check_other_strides(const Shape& shape, const Strides& strides,
                                        SharedElements shared, Index feature_stride);

/// Checks that there is one stride for each outer axis, and that the whole span is within 60 bits.
/// Those of an empty view lead nowhere, and may be anything.
///
/// - Errors:   eigen_rope::Error.
inline void check_strides(const Shape& shape, const Strides& strides,
                          SharedElements shared = SharedElements::refused,
                          Index feature_stride = 1) {
  if (!are_plain_strides(shape, strides, feature_stride))
    check_other_strides(shape, strides, shared, feature_stride);
}

template <class Scalar>
void check_strides(const StridedView<Scalar>& view,
                   SharedElements shared = SharedElements::refused) {
  check_strides(view.shape, view.strides, shared, view.feature_stride);
}

/// First and last element a view touches, relative to its data. The shape must not be empty.
struct Span {
  Index first;
  Index last;
};
inline Span span_of(const Shape& shape, const Strides& strides, Index feature_stride = 1) {
  Span span{0, 0};
  const auto add = [&](Index reach) { (reach < 0 ? span.first : span.last) += reach; };
  add(feature_stride * (shape[0] - 1));
  for (int axis = 1; axis < shape.rank(); ++axis)
    add(strides[static_cast<std::size_t>(axis - 1)] * (shape[axis] - 1));
  return span;
}

/// Throws eigen_rope::Error for a span that leads out of the address space.
[[noreturn]] EIGEN_ROPE_API void fail_beyond_memory(const Span& span);

}  // namespace detail

template <class Scalar>
StridedView<Scalar> StridedView<Scalar>::slice(int axis, Index first, Index count) const {
  detail::ViewPlaces places = detail::places_of(*this);
  const Index offset = detail::keep_slice(places, {axis, axis}, first, count);
  return detail::view_at(data, offset, places);
}

template <class Scalar>
StridedView<Scalar> StridedView<Scalar>::chip(int axis, Index index) const {
  detail::ViewPlaces places = detail::places_of(*this);
  const Index offset = detail::keep_chip(places, {axis, axis}, index);
  return detail::view_at(data, offset, places);
}

template <class Scalar>
StridedView<Scalar> StridedView<Scalar>::split(int axis, Index extent) const {
  detail::ViewPlaces places = detail::places_of(*this);
  detail::split_axis(places, axis, extent);
  return detail::view_at(data, 0, places);
}

template <class Scalar>
StridedView<Scalar> StridedView<Scalar>::swap_axes(int a, int b) const {
  detail::ViewPlaces places = detail::places_of(*this);
  detail::exchange_axes(places, a, b);
  return detail::view_at(data, 0, places);
}

/// Returns a view of all rows of a dense array, the fastest axis first.
///
/// \code{.cpp}
/// // The queries of a fused buffer [D, heads of q, k and v, tokens]:
/// std::vector<float> qkv(D * 3 * heads * tokens);
/// const auto rows = er::strided_view(qkv.data(), {D, 3 * heads, tokens});
/// er::rotate_inplace(rows.slice(1, 0, heads), cache, er::split_half);
/// \endcode
///
/// \param data   the first element; the array must outlive the view, which is read-only where it is
///               const
/// \param shape  the extents, the feature axis first
///
/// \see StridedView::slice(), StridedView::split()
template <class Scalar>
StridedView<Scalar> strided_view(Scalar* data, const Shape& shape) {
  StridedView<Scalar> view;  // written to where it stays, as in lay_out_densely()
  view.data = data;
  for (int axis = 0; axis < shape.rank(); ++axis) view.shape.push_back(shape[axis]);
  detail::lay_out_densely(view);
  return view;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
