// SPDX-License-Identifier: Apache-2.0
//
// Tensors and tables of any type in the terms of the C++ interface: axes from the fastest one
// outwards, strides for all of them.
//
//   read_view<float>(x)         a StridedView, the fastest axis of the list as its axis 0
//   places_of(table, ...)       where a table's entries lie, and whether a TableView can say so
//
// Types, alignment and the number of strides are checked here, and for tables the strides, too.
// Everything else is checked by what the views are passed to. Private to the library.
#pragma once

#include <array>
#include <cstddef>

#include "eigen_rope/any/tensor.hpp"
#include "eigen_rope/rows/detail/feature_axis.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

inline IndexOrder index_order(any::Order order) {
  return order == any::Order::slowest_first ? IndexOrder::slowest_first : IndexOrder::fastest_first;
}

/// The extents of a tensor from the fastest axis outwards, in whichever order they are listed.
class FastestFirst {
 public:
  FastestFirst(const Shape& shape, any::Order order)
      : shape_(shape), last_(order == any::Order::slowest_first ? shape.rank() - 1 : -1) {}

  /// 1 for axes from the rank on.
  Index operator[](int axis) const {
    return axis < shape_.rank() ? shape_[place_of(axis)] : Index{1};
  }
  int place_of(int axis) const { return last_ < 0 ? axis : last_ - axis; }

 private:
  const Shape& shape_;
  int last_;
};

/// Throws eigen_rope::Error unless `name` has the type `wanted`, that of `like`.
void require_type(const char* name, ScalarType type, const char* like, ScalarType wanted);

/// Calls visit(tag of x's scalar, tag of the table's) for a table of x's type, or of f32 where x
/// has 16 bits; throws eigen_rope::Error for any other.
template <class Visit>
void with_scalars(const char* x, ScalarType type, ScalarType table, const Visit& visit) {
  with_scalar(type, [&](auto tag) {
    if (table == type) return visit(tag, tag);
    if constexpr (is_16_bit<typename decltype(tag)::type>) {
      if (table == ScalarType::f32) return visit(tag, ScalarTag<float>());
    }
    require_type("the table", table, x, type);
  });
}

/// The members of a StridedView but for its data, written where they stay: a copy in wide parts of
/// what was just written in narrow ones stalls the processor.
struct AnyPlaces {
  Shape& shape;
  Strides& strides;
  Index& feature_stride;
};

/// Writes the places of a tensor to `places`, which must have no axes.
///
/// - Errors:   eigen_rope::Error for a type or an order that is none of those there are, unless
///             there is one stride for each axis or none, and for data that is not aligned.
void write_places(const AnyPlaces& places, const any::ConstTensor& x);
void write_places(const AnyPlaces& places, const any::Tensor& y);

template <class Scalar>
StridedView<const Scalar> read_view(const any::ConstTensor& x) {
  StridedView<const Scalar> view;
  view.data = static_cast<const Scalar*>(x.data);
  write_places({view.shape, view.strides, view.feature_stride}, x);
  return view;
}

/// Whether elements of this shape lie in the same places with either strides: along an axis of one
/// element they lead nowhere.
bool same_places(const Shape& shape, const Strides& a, const Strides& b, any::Order order);

/// Whether both have the same places, whatever their data.
inline bool lie_alike(const any::Tensor& a, const any::ConstTensor& b) {
  return a.type == b.type && a.order == b.order && a.shape == b.shape && a.strides == b.strides;
}

/// Throws eigen_rope::Error for data that is not aligned to its type.
void check_alignment(ScalarType type, const void* data);

/// The data of a tensor with the places of one that has been checked.
template <class Scalar>
Scalar* checked_data(const any::Tensor& y) {
  if (y.shape.size() != 0) check_alignment(y.type, y.data);
  return static_cast<Scalar*>(y.data);
}

template <class Scalar>
StridedView<Scalar> written_view(const any::Tensor& y) {
  StridedView<Scalar> view;
  view.data = static_cast<Scalar*>(y.data);
  write_places({view.shape, view.strides, view.feature_stride}, y);
  return view;
}

/// The memory between the first and the last element of a tensor with checked strides.
Stretch stretch_of(const any::ConstTensor& tensor);

/// Throws what rotate_to would throw for this tensor alone, its features on the fastest axis: rows
/// that cannot be counted, strides that do not fit or lead out of the address space. For those who
/// have work to do before they rotate, or rotate later.
void check_alone(const any::ConstTensor& tensor, SharedElements shared);

/// Where the entries of a table lie.
struct AnyTablePlaces {
  Index width = 0;
  Shape given{};  ///< The extents outside the feature axis.
  Shape outer{};  ///< The same, with 1 for axes of stride 0.
  Index entry = 1;
  Strides strides{};  ///< Of the outer axes.
  /// Whether a TableView with this feature axis has the same entries.
  bool dense = true;
  int feature_axis = 0;

  bool repeats() const { return given != outer; }
  /// Whether it has these extents. Missing slowest axes count as 1.
  bool has_extents(Index wanted_width, const Shape& wanted_outer) const;
};

/// - Errors:   eigen_rope::Error as above, for strides that lead out of the address space, for
///             entries that share memory where that is refused, and for a stride of 0 along the
///             feature axis.
AnyTablePlaces places_of(const any::Table& table, SharedElements shared);

/// Calls visit(row, place of its first entry) for each row of a table.
template <class Visit>
void for_each_table_place(const AnyTablePlaces& places, const Visit& visit) {
  const Index rows = places.outer.size();
  std::array<Index, max_rank> at{};
  Index place = 0;
  for (Index row = 0; row < rows; ++row) {
    visit(row, place);
    for (int axis = 0; axis < places.outer.rank(); ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      place += places.strides[i];
      if (++at[i] < places.outer[axis]) break;
      place -= places.strides[i] * places.outer[axis];
      at[i] = 0;
    }
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
