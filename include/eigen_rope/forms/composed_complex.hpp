// SPDX-License-Identifier: Apache-2.0
//
// The interleaved rotation as a stock product of complex numbers, one for each pair.
//
//   y_a + i y_b = (x_a + i x_b) m e^(it)
//
// x [D, ...] of float or double is seen through a TensorMap as [D/2, ...] complex numbers, and the
// complex table [D/2, ...] is broadcast over it. This is the one stock form that runs at the speed
// of a loop, provided that the user enables vector instructions. It knows no split-half pairs, no
// 16-bit types, no window and no full-width tables. The product with the conjugate table is the
// transpose. It takes one product and one broadcast; the one temporary is the complex table.
#pragma once

#include <complex>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rows/detail/feature_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::composed {

/// Makes the complex table cos + i sin, a tensor of `rank` axes, from a half-width table.
///
/// \code{.cpp}
/// const auto turns = er::composed::complex_table<4, Eigen::ColMajor>(cache.view());
/// er::composed::rotate_complex(y, x, turns);
/// \endcode
///
/// \param table  the cosines and sines, one entry for each pair; its outer axes from `rank` on must
///               be 1
///
/// - Errors:   eigen_rope::Error if the table has more axes than `rank`, its features on another
///             than the fastest, or no data.
/// - Cost:     one pass over the table.
template <int rank, int layout, class Scalar>
Eigen::Tensor<std::complex<Scalar>, rank, layout> complex_table(const TableView<Scalar>& table) {
  Eigen::DSizes<Eigen::Index, rank> sizes;
  for (int axis = 0; axis < rank; ++axis) {
    const auto i = static_cast<std::size_t>(
        layout == static_cast<int>(Eigen::ColMajor) ? axis : rank - 1 - axis);
    sizes[i] = axis == 0 ? table.width : table.outer[axis - 1];
  }
  if (table.outer.rank() >= rank) {
    for (int axis = rank - 1; axis < table.outer.rank(); ++axis) {
      if (table.outer[axis] != 1)
        eigen_rope::detail::fail("a complex table must fit the tensor's rank", table.outer.text());
    }
  }
  eigen_rope::detail::require_fastest_features("composed::complex_table", table);
  (void)eigen_rope::detail::checked_table_size(table);
  Eigen::Tensor<std::complex<Scalar>, rank, layout> result(sizes);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = {table.cos[i], table.sin[i]};
  return result;
}

/// Rotates `x` into `y` in interleaved pairs by one product of complex numbers.
///
/// \code{.cpp}
/// const auto turns = er::composed::complex_table<4, Eigen::ColMajor>(cache.view());
/// er::composed::rotate_complex(y, x, turns, pool);
/// \endcode
///
/// \param y       a Tensor or TensorMap of float or double, of x's shape
/// \param x       a Tensor or TensorMap of the same scalar, whose feature size is even; an odd one
///                is not detected
/// \param table   complex_table() of a half-width table; each axis is x's, or 1 and broadcast
/// \param device  the Eigen device that evaluates the product
///
/// - Errors:   eigen_rope::Error if the shape of the table or of y does not fit x; nothing is
///             written then.
/// - Cost:     one pass over x.
/// \see composed::rotate(), which knows all pairings
template <class Y, class X, int rank, int layout, class Scalar, class Device = Eigen::DefaultDevice>
void rotate_complex(Y& y, const X& x,
                    const Eigen::Tensor<std::complex<Scalar>, rank, layout>& table,
                    const Device& device = Device()) {
  using Complex = std::complex<Scalar>;
  constexpr std::size_t feature_axis = layout == static_cast<int>(Eigen::ColMajor) ? 0 : rank - 1;
  Eigen::DSizes<Eigen::Index, rank> sizes;
  Eigen::DSizes<Eigen::Index, rank> repeats;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = i == feature_axis ? x.dimension(i) / 2 : x.dimension(i);
    repeats[i] = table.dimension(i) == sizes[i] ? 1 : sizes[i];
    if (table.dimension(i) != sizes[i] && (i == feature_axis || table.dimension(i) != 1)) {
      eigen_rope::detail::fail(
          "a complex table must have half of x's features and equal x or be 1 elsewhere",
          static_cast<std::int64_t>(table.dimension(i)));
    }
    if (y.dimension(i) != x.dimension(i))
      eigen_rope::detail::fail("y must have x's shape", static_cast<std::int64_t>(y.dimension(i)));
  }
  const Eigen::TensorMap<const Eigen::Tensor<Complex, rank, layout>> complex_x(
      reinterpret_cast<const Complex*>(x.data()), sizes);
  Eigen::TensorMap<Eigen::Tensor<Complex, rank, layout>> complex_y(
      reinterpret_cast<Complex*>(y.data()), sizes);
  complex_y.device(device) = complex_x * table.broadcast(repeats);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::composed
