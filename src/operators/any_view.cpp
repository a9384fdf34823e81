// SPDX-License-Identifier: Apache-2.0
#include "operators/any_view.hpp"

#include <string>
#include <type_traits>

#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"

namespace eigen_rope::detail {
namespace {

template <class Scalar, class Memory>
auto view_of(const AnyView<Memory>& view) {
  using Element = std::conditional_t<std::is_const_v<Memory>, const Scalar, Scalar>;
  return StridedView<Element>{static_cast<Element*>(view.data), view.shape, view.strides};
}

template <class Scalar, class Entry>
void rotate_with(const AnyView<void>& y, const AnyView<const void>& x, const AnyTable& table,
                 Pairing pairing, Direction direction, const Device& device) {
  const TableView<Entry> entries{static_cast<const Entry*>(table.cos),
                                 static_cast<const Entry*>(table.sin), table.width, table.outer};
  rotate_to(view_of<Scalar>(y), view_of<Scalar>(x), entries, pairing, direction, device);
}

template <class Scalar, class Sum>
void gradient_with(const AnyTableGradient& gradient, const AnyView<const void>& x,
                   const AnyView<const void>& g, Pairing pairing, const Device& device) {
  const TableGradient<Sum> sums{static_cast<Sum*>(gradient.cos), static_cast<Sum*>(gradient.sin),
                                gradient.width, gradient.outer};
  table_gradient(sums, view_of<Scalar>(x), view_of<Scalar>(g), pairing, device);
}

}  // namespace

void check_view(const AnyView<const void>& view, SharedElements shared) {
  (void)view.shape.outer();
  check_strides(view.shape, view.strides, shared);
  if (view.shape.size() == 0 || view.data == nullptr) return;
  (void)stretch_of(view.data, size_of(view.type), span_of(view.shape, view.strides));
}

void rotate_any(const AnyView<void>& y, const AnyView<const void>& x, const AnyTable& table,
                Pairing pairing, Direction direction, const Device& device) {
  if (y.type != x.type)
    fail(std::string("the destination must have x's type ") + name_of(x.type), name_of(y.type));
  with_scalar(x.type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    if (table.type == x.type)
      return rotate_with<Scalar, Scalar>(y, x, table, pairing, direction, device);
    if constexpr (is_16_bit<Scalar>) {
      if (table.type == ScalarType::f32)
        return rotate_with<Scalar, float>(y, x, table, pairing, direction, device);
    }
    fail(std::string("the table must have x's type ") + name_of(x.type), name_of(table.type));
  });
}

void table_gradient_any(const AnyTableGradient& gradient, const AnyView<const void>& x,
                        const AnyView<const void>& g, Pairing pairing, const Device& device) {
  if (g.type != x.type)
    fail(std::string("g must have x's type ") + name_of(x.type), name_of(g.type));
  with_scalar(x.type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    if (gradient.type == x.type)
      return gradient_with<Scalar, Scalar>(gradient, x, g, pairing, device);
    if (gradient.type == ScalarType::f64)
      return gradient_with<Scalar, double>(gradient, x, g, pairing, device);
    fail(std::string("the table's gradient must have x's type ") + name_of(x.type) + " or f64",
         name_of(gradient.type));
  });
}

}  // namespace eigen_rope::detail
