// SPDX-License-Identifier: Apache-2.0
//
// Queries and keys rotated where they lie inside one buffer [D, heads of q + k + v, tokens], without a copy.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

int main() {
  const eigen_rope::Index D = 64, q_heads = 8, kv_heads = 2, tokens = 16;
  const eigen_rope::Index all_heads = q_heads + 2 * kv_heads;
  Eigen::Tensor<float, 3> qkv(D, all_heads, tokens);
  qkv.setRandom();
  const Eigen::Tensor<float, 3> before = qkv;

  const eigen_rope::CosSinCache<float> cache(eigen_rope::Frequencies::powers({D}), eigen_rope::Positions::range(0, tokens));
  const eigen_rope::StridedView<float> q{qkv.data(), {D, q_heads, tokens}, {D, all_heads * D}};
  const eigen_rope::StridedView<float> k{qkv.data() + q_heads * D, {D, kv_heads, tokens}, {D, all_heads * D}};
  eigen_rope::rotate_inplace(q, cache, eigen_rope::half);
  eigen_rope::rotate_inplace(k, cache, eigen_rope::half);

  // The values are as they were, and both inverses give the queries and keys back.
  eigen_rope::rotate_inplace(q, cache, eigen_rope::half, eigen_rope::Direction::inverse);
  eigen_rope::rotate_inplace(k, cache, eigen_rope::half, eigen_rope::Direction::inverse);
  const Eigen::Tensor<float, 0> difference = (qkv - before).abs().maximum();
  fmt::print("rotated and back: largest difference {:.1e}\n", difference());
  return difference() < 1e-6f ? 0 : 1;
}
