// SPDX-License-Identifier: Apache-2.0
//
// One step of training as a layer sees it: q is rotated where it lies, and dL/dq on the way back,
// which also tells how to move rates and positions. Checked by an identity: rates and positions
// only matter as products, so rates * dL/drates = positions * dL/dpositions.
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

int main() {
  const er::Frequencies frequencies = er::Frequencies::powers({64});
  const er::Positions positions = er::Positions::range(0, 10);
  const er::Cache<float> cache(frequencies, positions);
  Eigen::Tensor<float, 4> q(64, 4, 10, 2), dq(64, 4, 10, 2);
  q.setRandom();

  er::rotate_inplace(q, cache, er::split_half);  // the forward pass keeps q's output only
  dq.setRandom();                                // what comes back from attention
  auto d = er::gradients_inplace(q, dq, cache, er::split_half);  // dq becomes dL/dx
  std::vector<double> drates = er::rate_gradients(d, positions);
  std::vector<double> dpositions = er::position_gradients(d, frequencies, positions);

  double by_rates = 0;
  for (std::size_t k = 0; k < drates.size(); ++k)
    by_rates += static_cast<double>(frequencies.rates()[k]) * drates[k];
  double by_positions = 0;
  for (std::size_t s = 0; s < dpositions.size(); ++s)
    by_positions += static_cast<double>(s) * dpositions[s];
  fmt::print("rates * dL/drates         = {:.12f}\npositions * dL/dpositions = {:.12f}\n", by_rates,
             by_positions);
  return std::abs(by_rates - by_positions) < 1e-12 * std::abs(by_rates) ? 0 : 1;
}
