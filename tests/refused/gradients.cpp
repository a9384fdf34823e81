// SPDX-License-Identifier: Apache-2.0
//
// What has no rows in memory, or none that may be written, is refused by every function of the
// backward pass in one sentence.
#include <utility>

#include <eigen_rope/eigen_rope.hpp>

#include "refused/refused.hpp"

namespace {

using Rows = Eigen::Tensor<float, 3>;

[[maybe_unused]] void goes_back(const eigen_rope::Cache<float>& cache,
                                const eigen_rope::TangentTable<float>& tangent) {
  Rows y(8, 2, 3), g(8, 2, 3), dx(8, 2, 3);
  const eigen_rope::Pairing pairing = eigen_rope::split_half;
  float* memory = y.data();
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients(WRONG(y + y, y), g, cache, pairing);
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients(y, WRONG(memory, g), cache, pairing);
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients_to(WRONG(cache, dx), y, g, cache, pairing);
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients_to(dx, WRONG(y * 2.0F, y), g, cache, pairing);
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients_to(dx, y, WRONG(g.abs(), g), cache, pairing);
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients_inplace(y, WRONG(g - y, g), cache, pairing);
  // refused: rows that are written must not be const
  (void)eigen_rope::gradients_to(WRONG(std::as_const(dx), dx), y, g, cache, pairing);
  // refused: rows that are written must not be const
  (void)eigen_rope::gradients_inplace(y, WRONG(Rows(g), g), cache, pairing);

  const Eigen::TensorMap<WRONG(const Rows, Rows)> map(dx.data(), 8, 2, 3);
  // refused: rows that are written must not be const
  (void)eigen_rope::gradients_to(map, y, g, cache, pairing);
  const eigen_rope::StridedView<WRONG(const float, float)> view{dx.data(), {8, 2, 3}, {8, 16}};
  // refused: rows that are written must not be const
  (void)eigen_rope::gradients_inplace(y, view, cache, pairing);
  Eigen::Tensor<WRONG(double, float), 3> other(8, 2, 3);
  // refused: dx must have g's scalar
  (void)eigen_rope::gradients_to(other, y, g, cache, pairing);

  eigen_rope::TableGradient<float> gradient;
  // refused: rows must be a Tensor
  eigen_rope::table_gradient(gradient, WRONG(-y, y), g, pairing);
  // refused: rows must be a Tensor
  eigen_rope::jvp_to(dx, y, WRONG(g.square(), g), cache, tangent, pairing);
  // refused: rows must be a Tensor
  eigen_rope::rotate_tangent_to(WRONG(dx / y, dx), y, tangent, pairing);
}

/// The right scalars of sums, named.
[[maybe_unused]] void keeps_memory(const eigen_rope::Cache<float>& cache, const Rows& y,
                                   const Rows& g) {
  eigen_rope::Gradients<double> d = eigen_rope::gradients(y, g, cache, eigen_rope::split_half);
  d = eigen_rope::gradients(y, g, cache, eigen_rope::split_half, {eigen_rope::Wanted::table},
                            std::move(d));
}

}  // namespace
