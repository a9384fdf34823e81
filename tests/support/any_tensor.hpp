// SPDX-License-Identifier: Apache-2.0
//
// A strided view told as a tensor that is typed at run time, in either order of its axes.
#pragma once

#include <type_traits>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::test {

/// A list with the first axis moved behind `place` others, as a tensor with its features there has
/// it.
template <class List>
List features_behind(const List& list, int place) {
  List moved;
  const auto size = static_cast<int>(list.end() - list.begin());
  for (int axis = 1; axis <= size; ++axis) {
    if (axis - 1 == place) moved.push_back(*list.begin());
    if (axis < size) moved.push_back(list.begin()[axis]);
  }
  return moved;
}

template <class List>
List listed(const std::vector<Index>& fastest_first, any::Order order) {
  List list;
  for (std::size_t i = 0; i < fastest_first.size(); ++i)
    list.push_back(order == any::Order::fastest_first
                       ? fastest_first[i]
                       : fastest_first[fastest_first.size() - 1 - i]);
  return list;
}

/// The number of an axis that has `place` axes before it, counted from the fastest one.
inline int listed_axis(int place, int rank, any::Order order) {
  return order == any::Order::fastest_first ? place : rank - 1 - place;
}

/// `View` is any::Tensor or any::ConstTensor. The features of the rows, on axis 0 of `rows`, become
/// axis `place`, counted from the fastest.
template <class View, class Scalar>
View any_tensor(const StridedView<Scalar>& rows, any::Order order, int place) {
  std::vector<Index> strides{rows.feature_stride};
  strides.insert(strides.end(), rows.strides.begin(), rows.strides.end());
  const std::vector<Index> extents(rows.shape.begin(), rows.shape.begin() + rows.shape.rank());
  View view;
  view.type = scalar_type<Scalar>;
  view.data = rows.data;
  view.shape = listed<Shape>(features_behind(extents, place), order);
  view.strides = listed<Strides>(features_behind(strides, place), order);
  view.order = order;
  return view;
}

}  // namespace eigen_rope::test
