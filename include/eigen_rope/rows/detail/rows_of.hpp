// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of an argument lie, whatever its class: a StridedView says so itself, and
// rotation/tensor_view.hpp and piece_view.hpp say it of Eigen's tensors. A class template, not
// overloads, so that a function here finds what a header included later knows.
#pragma once

#include <type_traits>
#include <utility>

#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/rows/detail/feature_view.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// RowsOf<T>::view(t) is a StridedView of t's rows. Classes without rows in memory have no such
/// specialisation.
template <class T>
struct RowsOf;

template <class Scalar>
struct RowsOf<StridedView<Scalar>> {
  static constexpr IndexOrder order = IndexOrder::fastest_first;
  /// The features of a view are on axis 0 by definition.
  static constexpr bool may_be_ambiguous = false;
  static StridedView<Scalar> view(const StridedView<Scalar>& rows) { return rows; }
};

template <class T, class = void>
inline constexpr bool has_rows = false;
template <class T>
inline constexpr bool
    has_rows<T, std::void_t<decltype(RowsOf<std::decay_t<T>>::view(std::declval<T>()))>> = true;

/// The rows of what is read. They must outlive the view.
template <class T>
auto rows_of(T&& rows) {
  static_assert(
      has_rows<T>,
      "[rope] rows must be a Tensor, a TensorMap, a slice of one or a StridedView: evaluate "
      "an expression first, and include eigen_rope/rotation/tensor_view.hpp for tensors "
      "and piece_view.hpp for slices");
  if constexpr (has_rows<T>) {
    return RowsOf<std::decay_t<T>>::view(std::forward<T>(rows));
  } else {
    return StridedView<float>();
  }
}

/// Those rows, with the features in front.
template <class T>
auto rows_of(T&& rows, const Pairing& pairing) {
  auto view = rows_of(std::forward<T>(rows));
  if constexpr (has_rows<T>) {
    constexpr IndexOrder order = RowsOf<std::decay_t<T>>::order;
    return features_first(view, feature_place(pairing, view.shape.rank(), order));
  } else {
    return view;
  }
}

/// The scalar of the rows.
template <class T>
using RowScalar =
    std::remove_const_t<std::remove_pointer_t<decltype(rows_of(std::declval<T>()).data)>>;

/// The rows of what is written.
template <class T>
StridedView<RowScalar<T>> written_rows_of(T&& rows) {
  auto view = rows_of(std::forward<T>(rows));
  constexpr bool writable = std::is_same_v<decltype(view), StridedView<RowScalar<T>>>;
  static_assert(writable,
                "[rope] rows that are written must not be const, nor those of a temporary Tensor");
  if constexpr (writable) {
    return view;
  } else {
    return {};
  }
}

/// Those rows, with the features in front.
template <class T>
StridedView<RowScalar<T>> written_rows_of(T&& rows, const Pairing& pairing) {
  const auto view = written_rows_of(std::forward<T>(rows));
  if constexpr (has_rows<T>) {
    constexpr IndexOrder order = RowsOf<std::decay_t<T>>::order;
    return features_first(view, feature_place(pairing, view.shape.rank(), order));
  } else {
    return view;
  }
}

/// Calls compute() of these rows and a table of these extents. An error of rows that would fit the
/// table along another axis names that axis, and an axis that must be named is asked for.
template <class T, class Compute>
void along_feature_axis([[maybe_unused]] const T& rows, [[maybe_unused]] Index table_width,
                        [[maybe_unused]] const Shape& table_outer,
                        [[maybe_unused]] const Pairing& pairing, const Compute& compute) {
  if constexpr (has_rows<const T&>) {
    using Rows = RowsOf<std::decay_t<T>>;
    const Shape shape = rows_of(rows).shape;
    const AxisContext context = axis_context(shape, table_width, table_outer, pairing, Rows::order);
    if (Rows::may_be_ambiguous && default_axis() != DefaultAxis::fastest)
      refuse_ambiguous_axis(context);
    naming_other_axes(context, compute);
  } else {
    compute();
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
