// SPDX-License-Identifier: Apache-2.0
//
// Views, tables and rotations whose scalar is known only when the program runs: what the three
// operator families share.
//
// The operators translate their tensors to these; which template of the core runs is decided here
// and nowhere else.
#pragma once

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/operators/scalar_type.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::detail {

/// A StridedView that has forgotten its scalar; `Memory` is void or const void.
template <class Memory>
struct AnyView {
  ScalarType type = ScalarType::f32;
  Memory* data = nullptr;
  Shape shape{};
  Strides strides{};
};

/// A TableView that has forgotten its scalar: that of x, or float (double for f64).
struct AnyTable {
  ScalarType type = ScalarType::f32;
  const void* cos = nullptr;
  const void* sin = nullptr;
  Index width = 0;
  Shape outer{};
};

/// A TableGradient that has forgotten its scalar, which is that of x.
struct AnyTableGradient {
  ScalarType type = ScalarType::f32;
  void* cos = nullptr;
  void* sin = nullptr;
  Index width = 0;
  Shape outer{};
};

/// Throws what rotate_any would throw for this view alone: rows that cannot be counted, strides
/// that do not fit or lead out of the address space. For those who have work to do before they
/// rotate, or rotate later.
void check_view(const AnyView<const void>& view, SharedElements shared);

/// eigen_rope::rotate_to; y has x's type.
void rotate_any(const AnyView<void>& y, const AnyView<const void>& x, const AnyTable& table,
                Pairing pairing, Direction direction, const Device& device);

/// eigen_rope::table_gradient; g has x's type, and the gradient that type too or f64.
void table_gradient_any(const AnyTableGradient& gradient, const AnyView<const void>& x,
                        const AnyView<const void>& g, Pairing pairing, const Device& device);

}  // namespace eigen_rope::detail
