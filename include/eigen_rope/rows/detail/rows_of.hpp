// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of an argument lie, whatever its class: a StridedView says so itself, and
// rotation/tensor_view.hpp says it of Eigen's tensors. A class template, not overloads, so that a
// function here finds what a header included later knows.
#pragma once

#include <type_traits>
#include <utility>

#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::detail {

/// RowsOf<T>::view(t) is a StridedView of t's rows. Classes without rows in memory have no such
/// specialisation.
template <class T>
struct RowsOf;

template <class Scalar>
struct RowsOf<StridedView<Scalar>> {
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
  static_assert(has_rows<T>,
                "[rope] rows must be a Tensor, a TensorMap or a StridedView: evaluate an "
                "expression first, and include "
                "eigen_rope/rotation/tensor_view.hpp for tensors");
  if constexpr (has_rows<T>) {
    return RowsOf<std::decay_t<T>>::view(std::forward<T>(rows));
  } else {
    return StridedView<float>();
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

}  // namespace eigen_rope::detail
