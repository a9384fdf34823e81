// SPDX-License-Identifier: Apache-2.0
//
// Which way a rotation is applied.
//
//   forward     y_A = c_A x_a - s_A x_b      y_B = c_B x_b + s_B x_a
//   backward    x_a = c_A y_A + s_B y_B      x_b = c_B y_B - s_A y_A
//   inverse     the transpose of the conjugate divided by c_A c_B + s_A s_B
//
// Backward is the transpose: the gradient with respect to x (vector-Jacobian product). The inverse
// gives the x that gave y. Backward and inverse agree only where the attention factor m is 1:
// backward(forward(x)) = m^2 x, inverse(forward(x)) = x.
#pragma once

namespace eigen_rope {

/// Forward, backward (the gradient) or the inverse.
enum class Direction { forward, backward, inverse };

}  // namespace eigen_rope
