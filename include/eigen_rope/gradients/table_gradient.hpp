// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a loss with respect to the entries of a rotation's table. With y = rotate(x), g
// the gradient with respect to y, and a pair (a, b) -> (A, B):
//
//   half width   dcos   = sum of g_A x_a + g_B x_b     dsin   = sum of g_B x_a - g_A x_b
//   full width   dcos_A = sum of g_A x_a               dsin_A = sum of -g_A x_b
//                dcos_B = sum of g_B x_b               dsin_B = sum of g_B x_a
//
// Sums run over every axis along which the table is broadcast. x and g are tensors or views of the
// same shape, and the result has the table's shape. The gradient with respect to x is
// rotate_backward(); parameter_gradients.hpp leads on to the parameters that a table was made from.
#pragma once

#include "eigen_rope/gradients/detail/backward.hpp"
#include "eigen_rope/numbers/detail/rounding.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The caller's arrays that table_gradient() writes to: dense, of the table's shape, entries of a
/// row fastest.
///
/// \code{.cpp}
/// std::vector<float> dcos(D / 2 * tokens), dsin(D / 2 * tokens);
/// er::TableGradient<float> gradient;
/// gradient.cos = dcos.data();
/// gradient.sin = dsin.data();
/// gradient.width = D / 2;
/// gradient.outer = {1, tokens, 1};
/// \endcode
///
/// - Aliasing: the arrays must not overlap each other, x or g.
template <class Scalar>
struct TableGradient {
  Scalar* cos = nullptr;  ///< The array for dL/dcos, of width * outer.size() entries.
  Scalar* sin = nullptr;  ///< The array for dL/dsin, of width * outer.size() entries.
  Index width = 0;        ///< The number of entries in a row: pairs, or rotated elements.
  /// The extents outside the feature axis, fastest first; each is x's or 1.
  Shape outer{};
  /// How many outer axes are faster than the entries of a row, as in TableView.
  int feature_axis = 0;
};

namespace detail {

/// The sum as the gradient's scalar, rounded once.
template <class Scalar, class Sum>
Scalar rounded_sum(const Sum& sum) {
  if constexpr (is_16_bit<Scalar> && std::is_same_v<Sum, double>) {
    return round_once<Scalar>(DoubleDouble(sum));
  } else {
    return static_cast<Scalar>(sum);
  }
}

/// A row's share of dL/dcos and dL/dsin: put(slot or pair, dcos, dsin).
template <class C, class Put>
void for_each_table_entry(const RowPlan& plan, const PairSums<C>& sums, const Put& put) {
  for (Index k = 0; k < plan.rotary_dims / 2; ++k) {
    const PairSlots slots = pair_slots(plan.kind, k, plan.rotary_dims);
    if (plan.full_width) {
      put(slots.A, sums.direct(slots.A), -sums.crossed(slots.A));
      put(slots.B, sums.direct(slots.B), sums.crossed(slots.B));
    } else {
      put(k, sums.dot(slots), sums.cross(slots));
    }
  }
}

/// table_gradient() of rows with their features in front. along_axis(check) calls check() and knows
/// what to say of other axes.
template <class Scalar, class X, class G, class AlongAxis>
void table_gradient_of_rows(const TableGradient<Scalar>& gradient, const StridedView<X>& x_rows,
                            const StridedView<G>& g_rows, const Pairing& pairing,
                            const Device& device, const AlongAxis& along_axis) {
  BackwardPass<std::remove_const_t<X>, std::remove_const_t<G>> pass;
  along_axis([&] {
    pass = make_backward_pass(GradientsFrom::input, x_rows, g_rows, nullptr, gradient.width,
                              gradient.outer, pairing, gradient.feature_axis);
  });
  const Index size =
      checked_product("the number of entries in the table", gradient.width, gradient.outer.size());
  if (size == 0) return;
  if (gradient.cos == nullptr || gradient.sin == nullptr)
    fail("the table's gradient must have data, got a null pointer");
  const Stretch cos_part = stretch_of(gradient.cos, size);
  const Stretch sin_part = stretch_of(gradient.sin, size);
  for (const Stretch& part : {cos_part, sin_part}) {
    if (overlap(part, stretch_of(x_rows)) || overlap(part, stretch_of(g_rows))) {
      fail("the table's gradient must not overlap x or g");
    }
  }
  if (overlap(cos_part, sin_part)) fail("the gradients of cos and sin must not overlap");
  // Without dx no entry is read. Where x holds integers, Compute says so, and nothing else should.
  using XScalar = std::remove_const_t<X>;
  using Compute = ComputeScalar<XScalar, std::remove_const_t<G>>;
  using Entry = std::conditional_t<is_whole<XScalar>, Scalar, Compute>;
  TableView<Entry> shape{nullptr, nullptr, gradient.width, gradient.outer};
  shape.feature_axis = gradient.feature_axis;
  const EntryPlaces entries(shape);
  run_backward(pass, shape, Products::all, true, device, [&](Index row, const auto& sums) {
    for_each_table_entry(pass.plan, sums, [&](Index entry, const auto& dcos, const auto& dsin) {
      const Index at = entries.at(row, entry);
      gradient.cos[at] = rounded_sum<Scalar>(dcos);
      gradient.sin[at] = rounded_sum<Scalar>(dsin);
    });
  });
}

}  // namespace detail

/// Computes the gradient with respect to a rotation's table and overwrites the arrays of `gradient`
/// with it.
///
///     dcos = sum of g_A x_a + g_B x_b     dsin = sum of g_B x_a - g_A x_b     for half width
///
/// \code{.cpp}
/// std::vector<float> dcos(D / 2 * tokens), dsin(D / 2 * tokens);
/// const er::TableGradient<float> gradient{dcos.data(), dsin.data(), D / 2, {1, tokens, 1}};
/// er::table_gradient(gradient, x, dy, er::split_half);
/// \endcode
///
/// gradients() with Wanted::table computes these sums, too, together with others and from y if need
/// be. This function takes the caller's arrays.
///
/// \param gradient  arrays of the table's shape; its scalar is any plain one, or that of x and g
/// \param x, g      the rotation's input and dL/dy: Eigen::Tensor or TensorMap (tensor_view.hpp) or
///                  StridedView, of the same shape; rows may share elements
/// \param pairing   the pairing of the forward rotation, with its window
/// \param device    table rows are split among threads; each is summed by one, in memory order, so
///                  the bits do not depend on the number
///
/// - Errors:   eigen_rope::Error, before anything is written, where rotate() throws it for windows
///             and shapes that do not fit, and for null or overlapping arrays.
/// - Aliasing: the arrays must not overlap each other, x or g.
/// - Error:    float and 16-bit operands at most half an ulp of the result's scalar + n 2^-53 of
///             the sum of the n terms' magnitudes; double operands an ulp + n^2 2^-106 of it and
///             the rounding of each product.
/// - Cost:     one pass over x and g.
///
/// \see gradients(), \ref gradients "Gradients"
template <class Scalar, class X, class G>
void table_gradient(const TableGradient<Scalar>& gradient, const X& x, const G& g, Pairing pairing,
                    const Device& device = Device()) {
  const auto x_rows = detail::rows_of(x, pairing);
  const auto g_rows = detail::rows_of(g, pairing);
  detail::table_gradient_of_rows(gradient, x_rows, g_rows, pairing, device, [&](const auto& check) {
    detail::along_feature_axis(x, gradient.width, gradient.outer, pairing, check);
  });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
