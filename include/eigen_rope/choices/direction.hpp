// SPDX-License-Identifier: Apache-2.0
//
// The direction of a rotation: forward, backward (the gradient) or inverse.
//
// A pair takes its members from the slots (a, b) of a row of x and puts them into the slots (A, B)
// of y (pairing.hpp). With c and s the entries of the table that belong to slots A and B:
//
//   forward     y_A  = c_A x_a - s_A x_b       y_B  = c_B x_b + s_B x_a
//   backward    dx_a = c_A dy_A + s_B dy_B     dx_b = c_B dy_B - s_A dy_A
//   inverse     x_a  = (c_B y_A + s_A y_B) / q   x_b = (c_A y_B - s_B y_A) / q
//                                              q    = c_A c_B + s_A s_B
//
// Backward is the transpose of forward. It turns dy, the gradient of a loss with respect to y, into
// dx, its gradient with respect to x (the vector-Jacobian product). The inverse returns the x that
// gave y. For the tables of Cache the divisor q is m^2, with the attention factor m, so that
// backward(forward(x)) = m^2 x and inverse(forward(x)) = x. The two agree only where m^2 is 1.
#pragma once

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The direction in which a rotation is applied.
///
/// rotate_to() and rotate_inplace() take it as an argument. rotate(), rotate_backward() and
/// rotate_inverse() each have one direction.
///
/// \code{.cpp}
/// er::rotate_inplace(q, cache, er::split_half);
/// er::rotate_inplace(q, cache, er::split_half, er::Direction::inverse);  // undoes the first
/// \endcode
///
/// \see \ref gradients "Gradients", \ref pitfalls "Pitfalls"
enum class Direction {
  forward,   ///< Computes y from x, as a model does.
  backward,  ///< Computes dL/dx from dL/dy; this is the transpose of forward.
  inverse    ///< Recovers x from y.
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
