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
    const eigen_rope::any::Tensor from = c::tensor_of(x, "x");
    eigen_rope::any::TableMemory table = c::table_of(cos, sin, "cos", "sin");
    table.feature_axis = how.table_axis();
    eigen_rope::any::rotate_to(y == x ? from : c::tensor_of(y, "y"), from, table, how.pairing(),
                               how.direction(), how.device());
  });
}

eigen_rope_status eigen_rope_table_gradient(const eigen_rope_tensor* dcos,
                                            const eigen_rope_tensor* dsin,
                                            const eigen_rope_tensor* x, const eigen_rope_tensor* g,
                                            const eigen_rope_rotation* rotation) noexcept {
  return c::status_of([&] {
    const c::Rotation how(rotation);
    eigen_rope::any::TableMemory gradient = c::table_of(dcos, dsin, "dcos", "dsin");
    gradient.feature_axis = how.table_axis();
    eigen_rope::any::table_gradient(gradient, c::tensor_of(x, "x"), c::tensor_of(g, "g"),
                                    how.pairing(), how.device());
  });
}
