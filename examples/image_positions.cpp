// SPDX-License-Identifier: Apache-2.0
//
// Tokens with three positions each (time, height, width), as vision-language models have them: sections say which position turns which
// pair.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>
#include <vector>

int main() {
  // One frame of 2 x 3 patches at time 5: all t, then all h, then all w.
  const std::vector<int> ids{5, 5, 5, 5, 5, 5, 0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2};
  const eigen_rope::Sections sections(eigen_rope::SectionPattern::interleaved_hf, {24, 20, 20});
  const eigen_rope::Positions positions = eigen_rope::Positions::multi_axis(ids, sections);
  const eigen_rope::CosSinCache<float> cache(eigen_rope::Frequencies::powers({128, 1e6}), positions);

  fmt::print("the first 12 pairs turn with axis ");
  for (int pair = 0; pair < 12; ++pair) fmt::print("{}", "thw"[sections.axis(pair)]);
  fmt::print("\n");

  Eigen::Tensor<float, 3> q(128, 8, positions.tokens());
  q.setRandom();
  const Eigen::Tensor<float, 3> y = eigen_rope::rotate(q, cache, eigen_rope::half);
  return y.size() == q.size() ? 0 : 1;
}
