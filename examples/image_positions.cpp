// SPDX-License-Identifier: Apache-2.0
//
// Tokens with three positions each (time, height, width), as vision-language models have them:
// sections say which position turns which pair.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>
#include <vector>

namespace er = eigen_rope;

int main() {
  // One frame of 2 x 3 patches at time 5: all t, then all h, then all w.
  const std::vector<int> ids{5, 5, 5, 5, 5, 5, 0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2};
  const er::Sections sections(er::SectionPattern::interleaved_hf, {24, 20, 20});
  const er::Positions positions = er::Positions::multi_axis(ids, sections);
  const er::Cache<float> cache(er::Frequencies::powers({128, 1e6}), positions);

  fmt::print("the first 12 pairs turn with axis ");
  for (int pair = 0; pair < 12; ++pair) fmt::print("{}", "thw"[sections.axis(pair)]);
  fmt::print("\n");

  Eigen::Tensor<float, 3> q(128, 8, positions.tokens());
  q.setRandom();
  const Eigen::Tensor<float, 3> y = er::rotate(q, cache, er::split_half);
  return y.size() == q.size() ? 0 : 1;
}
