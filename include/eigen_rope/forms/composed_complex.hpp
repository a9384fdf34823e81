// SPDX-License-Identifier: Apache-2.0
//
// Interleaved rotation as a stock product of complex numbers: (a + ib) m e^(it), one element of a
// TensorMap<complex> per pair.
//
//   x [D, ...] of float or double, seen as [D/2, ...] complex;
//                       table [D/2, ...] complex, broadcast;  y = x * table
//
// The one stock form that runs at the speed of a loop (with vector instructions enabled by the
// user). It has no half pairing, no 16-bit types, no window and no full-width tables; the transpose
// is the product with the conjugate. One product, one broadcast; temporary: the complex table.
#pragma once

#include <complex>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::composed {

/// cos + i sin as a tensor of `rank` axes.
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
  (void)eigen_rope::detail::checked_table_size(table);
  Eigen::Tensor<std::complex<Scalar>, rank, layout> result(sizes);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = {table.cos[i], table.sin[i]};
  return result;
}

/// y = x rotated, for dense x and y of the same even feature size: `y` and `x` are Tensors or
/// TensorMaps of float or double.
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

}  // namespace eigen_rope::composed
