// SPDX-License-Identifier: Apache-2.0
//
// Decoding: the prompt is rotated once, each new token at its own position; sequences of a batch may stand at different ones.
#include <fmt/core.h>

#include <rope/rope.hpp>
#include <vector>

int main() {
  const int D = 64, heads = 4;
  const rope::Frequencies frequencies = rope::Frequencies::powers({D, 500000.0});

  // A prompt of 10 tokens and the token after it, against all 11 at once.
  Eigen::Tensor<float, 3> keys(D, heads, 11);
  keys.setRandom();
  const Eigen::Tensor<float, 3> all = rope::rotate(keys, rope::CosSinCache<float>(frequencies, rope::Positions::range(0, 11)), rope::half);
  const rope::CosSinCache<float> prompt(frequencies, rope::Positions::range(0, 10));
  const rope::CosSinCache<float> step(frequencies, rope::Positions::range(10, 1));
  using Sizes = Eigen::DSizes<Eigen::Index, 3>;
  Eigen::Tensor<float, 3> pieces(D, heads, 11);
  pieces.slice(Sizes(0, 0, 0), Sizes(D, heads, 10)) = rope::rotate(keys.slice(Sizes(0, 0, 0), Sizes(D, heads, 10)), prompt, rope::half);
  pieces.slice(Sizes(0, 0, 10), Sizes(D, heads, 1)) = rope::rotate(keys.slice(Sizes(0, 0, 10), Sizes(D, heads, 1)), step, rope::half);
  const Eigen::Tensor<float, 0> difference = (all - pieces).abs().maximum();
  fmt::print("prompt and step apart, against together: {}\n", difference());

  // Two sequences, one token each, at positions 7 and 130000.
  const rope::Positions apart = rope::Positions::per_batch(std::vector<std::int64_t>{7, 130000}, rope::Batches{2});
  const rope::CosSinCache<float> both(frequencies, apart);
  Eigen::Tensor<float, 4> q(D, heads, 1, 2);
  q.setRandom();
  rope::rotate_inplace(q, both, rope::half);
  fmt::print("a table for two sequences has outer extents {}\n", both.outer().text());
  return difference() == 0 ? 0 : 1;
}
