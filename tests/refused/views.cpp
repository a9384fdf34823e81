// SPDX-License-Identifier: Apache-2.0
//
// What has no elements in memory, or none that outlive the statement, is refused by the functions
// that view it in one sentence; so is writing to what may only be read.
#include <utility>

#include <eigen_rope/eigen_rope.hpp>

#include "refused/refused.hpp"

namespace {

using Rows = Eigen::Tensor<float, 3>;
using Indices = Eigen::array<Eigen::Index, 3>;

[[maybe_unused]] void views(const eigen_rope::Cache<float>& cache) {
  Rows x(8, 2, 3), y(8, 2, 3);
  const Indices first{0, 1, 0}, size{8, 1, 3};
  const eigen_rope::Pairing pairing = eigen_rope::split_half;
  // refused: a view must be of elements in memory
  (void)eigen_rope::strided_view(WRONG(x + y, x));
  // refused: a view must be of elements in memory
  (void)eigen_rope::strided_view(WRONG(x.shuffle(first), x));
  // refused: rows must be a Tensor
  (void)eigen_rope::strided_view(WRONG((x + y), x).slice(first, size));
  // refused: rows must be a Tensor
  (void)eigen_rope::strided_view(WRONG((x * 2.0F), x).chip(0, 2).chip(0, 0));
  // refused: rows must be a Tensor
  (void)eigen_rope::gradients(WRONG((x + y), x).slice(first, size), y.slice(first, size), cache,
                              pairing);
  // refused: a slice that is rotated in place must be of a tensor in memory
  eigen_rope::rotate_inplace(WRONG((x + y), x).slice(first, size), cache, pairing);
  // refused: rows that are written must not be const
  eigen_rope::rotate_inplace(WRONG(std::as_const(x), x).slice(first, size), cache, pairing);
  // refused: rows that are written must not be const
  eigen_rope::rotate_to(WRONG(std::as_const(y), y).chip(0, 2), x.chip(0, 2), cache, pairing);
  // refused: the destination cannot hold the result's scalar
  eigen_rope::rotate_to(
      y.chip(0, 2),
      Eigen::Tensor<WRONG(double, float), 3>(x.cast<WRONG(double, float)>()).chip(0, 2), cache,
      pairing);
}

}  // namespace
