// SPDX-License-Identifier: Apache-2.0
//
// Views of slices and chips of Eigen tensors, so that they are rotated where they are.
//
//   eigen_rope::rotate_inplace(x.slice(offsets, extents), cache, eigen_rope::split_half);
//   eigen_rope::StridedView<float> rows = eigen_rope::strided_view(x.chip(3, 2));
//
// To Eigen a slice is an expression; here its argument, offsets and extents say where its elements
// lie. The argument is a Tensor, TensorFixedSize, TensorMap or TensorRef, or again a slice or a
// chip. Offsets and extents are counted in the order of its indices, and those outside it are
// refused, in release builds too, where Eigen checks nothing. Where this header is included,
// rotate_inplace(), rotate_to() and gradients() and its relatives take such a piece itself.
#pragma once

#include <type_traits>

#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

/// Slices and chips.
template <class T>
inline constexpr bool is_piece = false;
template <class Offsets, class Extents, class Argument>
inline constexpr bool is_piece<Eigen::TensorSlicingOp<Offsets, Extents, Argument>> = true;
template <Eigen::DenseIndex dimension, class Argument>
inline constexpr bool is_piece<Eigen::TensorChippingOp<dimension, Argument>> = true;

/// What a piece, or a piece of a piece, is of.
template <class T>
struct Whole {
  using type = T;
};
template <class Offsets, class Extents, class Argument>
struct Whole<Eigen::TensorSlicingOp<Offsets, Extents, Argument>>
    : Whole<std::remove_const_t<Argument>> {};
template <Eigen::DenseIndex dimension, class Argument>
struct Whole<Eigen::TensorChippingOp<dimension, Argument>> : Whole<std::remove_const_t<Argument>> {
};

template <class T>
inline constexpr bool is_whole_memory = false;
template <class Scalar, int rank, int options, class TensorIndex>
inline constexpr bool is_whole_memory<Eigen::Tensor<Scalar, rank, options, TensorIndex>> = true;
template <class Scalar, class Extents, int options, class TensorIndex>
inline constexpr bool
    is_whole_memory<Eigen::TensorFixedSize<Scalar, Extents, options, TensorIndex>> = true;
template <class Plain, int options, template <class> class Pointer>
inline constexpr bool is_whole_memory<Eigen::TensorMap<Plain, options, Pointer>> = true;

template <class T>
inline constexpr bool is_whole_reference = false;
template <class Plain>
inline constexpr bool is_whole_reference<Eigen::TensorRef<Plain>> = true;

/// Whether the elements of a class lie in memory as far as the compiler knows: a TensorRef finds
/// out when the program runs.
template <class T>
inline constexpr bool is_memory = is_whole_memory<typename Whole<T>::type>;
template <class T>
inline constexpr bool is_reference = is_whole_reference<typename Whole<T>::type>;

template <class T>
inline constexpr bool may_be_viewed = is_memory<T> || is_reference<T>;

/// The view of what a piece is a piece of. An expression holds its argument as a constant and says
/// in its type whether it was one.
template <class Argument, class Piece>
auto view_of_argument(const Piece& piece) {
  const auto view = rows_of(const_cast<Argument&>(piece.expression()));
  using Scalar = std::remove_pointer_t<decltype(view.data)>;
  using Element = std::conditional_t<std::is_const_v<Argument>, const Scalar, Scalar>;
  return StridedView<Element>{view.data, view.shape, view.strides, view.feature_stride};
}

/// The axis of a view with the number `index` among a tensor's indices.
template <int layout>
AxisOfView axis_of_index(int index, int rank) {
  return {layout == static_cast<int>(Eigen::ColMajor) ? index : rank - 1 - index, index};
}

/// Of the first element so many from that of `view`.
template <class Scalar>
void move_view(StridedView<Scalar>& view, const ViewPlaces& places, Index offset) {
  view = view_at(view.data, offset, places);
}

}  // namespace detail

/// Returns a view of the elements of a slice, which can be written where the slice can be assigned
/// to.
///
/// \code{.cpp}
/// // Heads 1 and 2 of every token:
/// const Eigen::array<er::Index, 4> first{0, 1, 0, 0}, extents{D, 2, tokens, batch};
/// er::rotate_inplace(q.slice(first, extents), cache, er::split_half);  // or of a view of it
/// er::rotate_inplace(er::strided_view(q.slice(first, extents)), cache, er::split_half);
/// \endcode
///
/// \param slice  of a Tensor, TensorFixedSize, TensorMap, TensorRef or another slice or chip; the
///               elements must outlive the view, the expression need not
///
/// - Errors:   eigen_rope::Error unless the slice lies within its argument.
/// - Cost:     nothing is copied.
///
/// \see StridedView::slice()
template <class Offsets, class Extents, class Argument>
auto strided_view(const Eigen::TensorSlicingOp<Offsets, Extents, Argument>& slice) {
  using Slice = Eigen::TensorSlicingOp<Offsets, Extents, Argument>;
  constexpr int layout = Eigen::internal::traits<Slice>::Layout;
  auto view = detail::view_of_argument<Argument>(slice);
  const int rank = view.shape.rank();
  for (int index = 0; index < rank; ++index) {
    const auto first = static_cast<Index>(slice.startIndices()[detail::AxisNumber{index}]);
    const auto count = static_cast<Index>(slice.sizes()[detail::AxisNumber{index}]);
    detail::ViewPlaces places = detail::places_of(view);
    const Index offset =
        detail::keep_slice(places, detail::axis_of_index<layout>(index, rank), first, count);
    detail::move_view(view, places, offset);
  }
  return view;
}

/// Returns a view of the elements of a chip, which can be written where the chip can be assigned
/// to.
///
/// \code{.cpp}
/// er::rotate_inplace(q.chip(1, 3), cache, er::split_half);  // sequence 1 of a batch
/// const auto token = er::strided_view(q.chip<2>(5));        // token 5 of every sequence
/// \endcode
///
/// \param chip  of what a slice may be of; the elements must outlive the view
///
/// - Errors:   eigen_rope::Error for an offset or a dimension outside the argument.
/// - Cost:     nothing is copied.
///
/// \see StridedView::chip()
template <Eigen::DenseIndex dimension, class Argument>
auto strided_view(const Eigen::TensorChippingOp<dimension, Argument>& chip) {
  using Chip = Eigen::TensorChippingOp<dimension, Argument>;
  constexpr int layout = Eigen::internal::traits<Chip>::Layout;
  auto view = detail::view_of_argument<Argument>(chip);
  detail::ViewPlaces places = detail::places_of(view);
  const auto axis = detail::axis_of_index<layout>(static_cast<int>(chip.dim()), view.shape.rank());
  const Index offset = detail::keep_chip(places, axis, static_cast<Index>(chip.offset()));
  detail::move_view(view, places, offset);
  return view;
}

namespace detail {

/// No rows where the argument is an expression of another kind.
template <class Piece, bool viewed = may_be_viewed<Piece>>
struct RowsOfPiece {};

template <class Piece>
struct RowsOfPiece<Piece, true> {
  static constexpr IndexOrder order = order_of_layout<Eigen::internal::traits<Piece>::Layout>;
  static constexpr bool may_be_ambiguous = true;
  static auto view(const Piece& piece) { return strided_view(piece); }
};

template <class Offsets, class Extents, class Argument>
struct RowsOf<Eigen::TensorSlicingOp<Offsets, Extents, Argument>>
    : RowsOfPiece<Eigen::TensorSlicingOp<Offsets, Extents, Argument>> {};

template <Eigen::DenseIndex dimension, class Argument>
struct RowsOf<Eigen::TensorChippingOp<dimension, Argument>>
    : RowsOfPiece<Eigen::TensorChippingOp<dimension, Argument>> {};

/// rotate_to() where x or y is a piece, and both are elements in memory.
template <class Y, class X, class Table>
void rotate_pieces(Y& y, const X& x, const Table& table, const Pairing& pairing,
                   Direction direction, const Device& device) {
  constexpr IndexOrder order = RowsOf<X>::order;
  static_assert(RowsOf<std::remove_const_t<Y>>::order == order,
                "[rope] x and the destination must both be ColMajor or both be RowMajor");
  const auto to = written_rows_of(y);
  const auto from = rows_of(x);
  const auto& entries = view_of(table);
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  static_assert(std::is_same_v<ResultScalar<RowScalar<const X&>, TableScalar>, RowScalar<Y&>>,
                "[rope] the destination cannot hold the result's scalar");
  if (default_axis() != DefaultAxis::fastest) {
    refuse_ambiguous_axis(axis_context(from.shape, entries.width, entries.outer, pairing, order));
  }
  rotate_views(to, from, entries, pairing, direction, device, order);
}

}  // namespace detail

/// Rotates a slice or a chip in place.
///
/// Errors, error bound and cost are those of rotate_inplace() for a strided view.
///
/// \code{.cpp}
/// const Eigen::array<er::Index, 4> first{0, 2, 0, 0}, extents{D, 3, tokens, batch};
/// er::rotate_inplace(q.slice(first, extents), cache, er::split_half);  // heads 2 to 4
/// er::rotate_inplace(q.chip(0, 3), cache, er::split_half);             // sequence 0
/// \endcode
///
/// \param piece      a slice or a chip of a tensor, or of another slice or chip, that can be
///                   assigned to
/// \param table      a Cache, a TableView or anything else with a view()
/// \param pairing    which elements form a pair, and the window of each row that is rotated;
///                   along() counts the indices of the piece
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     Eigen's DefaultDevice or ThreadPoolDevice, or a Device
///
/// - Errors:   eigen_rope::Error also for offsets and extents outside the tensor.
template <class Piece, class Table>
std::enable_if_t<detail::is_piece<Piece>> rotate_inplace(const Piece& piece, const Table& table,
                                                         Pairing pairing,
                                                         Direction direction = Direction::forward,
                                                         const Device& device = Device()) {
  static_assert(detail::has_rows<const Piece&>,
                "[rope] a slice that is rotated in place must be of a tensor in memory");
  if constexpr (detail::has_rows<const Piece&>)
    detail::rotate_pieces(piece, piece, table, pairing, direction, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
