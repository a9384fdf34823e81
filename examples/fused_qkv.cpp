// SPDX-License-Identifier: Apache-2.0
//
// Queries and keys rotated where they lie inside one buffer [D, heads of q + k + v, tokens],
// without a copy.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

int main() {
  const er::Index D = 64, q_heads = 8, kv_heads = 2, tokens = 16;
  Eigen::Tensor<float, 3> qkv(D, q_heads + 2 * kv_heads, tokens);
  qkv.setRandom();
  const Eigen::Tensor<float, 3> before = qkv;

  const er::Cache<float> cache(er::Frequencies::powers({D}), er::Positions::range(0, tokens));
  const er::StridedView<float> q = er::strided_view(qkv).slice(1, 0, q_heads);
  const er::StridedView<float> k = er::strided_view(qkv).slice(1, q_heads, kv_heads);
  er::rotate_inplace(q, cache, er::split_half);
  er::rotate_inplace(k, cache, er::split_half);

  // The values are as they were, and both inverses give the queries and keys back.
  er::rotate_inplace(q, cache, er::split_half, er::Direction::inverse);
  er::rotate_inplace(k, cache, er::split_half, er::Direction::inverse);
  const Eigen::Tensor<float, 0> difference = (qkv - before).abs().maximum();
  fmt::print("rotated and back: largest difference {:.1e}\n", difference());
  return difference() < 1e-6f ? 0 : 1;
}
