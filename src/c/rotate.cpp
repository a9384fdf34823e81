// SPDX-License-Identifier: Apache-2.0
#include "c/arguments.hpp"
#include "c/status.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_rotate(const eigen_rope_tensor* y, const eigen_rope_tensor* x,
                                    const eigen_rope_tensor* cos, const eigen_rope_tensor* sin,
                                    const eigen_rope_rotation* rotation) noexcept {
  return c::status_of([&] {
    const c::Rotation how(rotation);
    eigen_rope::any::ConstTensor from;
    eigen_rope::any::Tensor to;
    eigen_rope::any::Table table;
    c::tell(from, x, "x");
    c::tell(to, y, "y");
    c::tell(table, {cos, sin});
    table.feature_axis = how.table_axis();
    eigen_rope::any::rotate_to(to, from, table, how.pairing(), how.direction(), how.device());
  });
}

eigen_rope_status eigen_rope_table_gradient(const eigen_rope_tensor* dcos,
                                            const eigen_rope_tensor* dsin,
                                            const eigen_rope_tensor* x, const eigen_rope_tensor* g,
                                            const eigen_rope_rotation* rotation) noexcept {
  return c::status_of([&] {
    const c::Rotation how(rotation);
    eigen_rope::any::TableMemory gradient;
    eigen_rope::any::ConstTensor input, of_output;
    c::tell(gradient, {dcos, dsin, "dcos", "dsin"});
    c::tell(input, x, "x");
    c::tell(of_output, g, "g");
    gradient.feature_axis = how.table_axis();
    eigen_rope::any::table_gradient(gradient, input, of_output, how.pairing(), how.device());
  });
}
