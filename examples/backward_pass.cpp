// SPDX-License-Identifier: Apache-2.0
//
// One step of training as a layer sees it: q is rotated where it lies, and dL/dq on the way back, which also tells how to move rates and
// positions. Checked by an identity: rates and positions only matter as products, so rates * dL/drates = positions * dL/dpositions.
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/eigen_rope.hpp>

int main() {
  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::powers({64});
  const eigen_rope::Positions positions = eigen_rope::Positions::range(0, 10);
  const eigen_rope::CosSinCache<float> cache(frequencies, positions);
  Eigen::Tensor<float, 4> q(64, 4, 10, 2), dq(64, 4, 10, 2);
  q.setRandom();

  eigen_rope::rotate_inplace(q, cache, eigen_rope::half);  // the forward pass keeps q's output only
  dq.setRandom();                              // what comes back from attention
  auto d = eigen_rope::gradients(eigen_rope::output(eigen_rope::view(q)), eigen_rope::view(dq), cache, eigen_rope::half, eigen_rope::Wanted::angle, eigen_rope::view(dq));
  std::vector<double> drates = eigen_rope::rate_gradients(d, positions);
  std::vector<double> dpositions = eigen_rope::position_gradients(d, frequencies, positions);

  double by_rates = 0;
  for (std::size_t k = 0; k < drates.size(); ++k) by_rates += static_cast<double>(frequencies.rates()[k]) * drates[k];
  double by_positions = 0;
  for (std::size_t s = 0; s < dpositions.size(); ++s) by_positions += static_cast<double>(s) * dpositions[s];
  fmt::print("rates * dL/drates         = {:.12f}\npositions * dL/dpositions = {:.12f}\n", by_rates, by_positions);
  return std::abs(by_rates - by_positions) < 1e-12 * std::abs(by_rates) ? 0 : 1;
}
