// SPDX-License-Identifier: Apache-2.0
//
// Transpose is not inverse: with an attention factor m (YaRN has one), rotate_backward(rotate(x)) =
// m^2 x and rotate_inverse(rotate(x)) = x.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

int main() {
  er::Powers powers{64};
  powers.linear_scale = 0.25;  // four times the context
  er::GgmlYarn yarn;
  yarn.original_context = 4096;
  const er::Frequencies frequencies = er::Frequencies(powers, yarn);
  const double m = static_cast<double>(frequencies.attention_factor());

  const er::Cache<double> cache(frequencies, er::Positions::range(1000, 8));
  Eigen::Tensor<double, 3> x(64, 2, 8);
  x.setRandom();
  const Eigen::Tensor<double, 3> y = er::rotate(x, cache, er::split_half);

  const Eigen::Tensor<double, 3> back = er::rotate_inverse(y, cache, er::split_half);
  const Eigen::Tensor<double, 3> gradient = er::rotate_backward(y, cache, er::split_half);
  const Eigen::Tensor<double, 0> inverse_error = (back - x).abs().maximum();
  const Eigen::Tensor<double, 0> transpose_error = (gradient - x * (m * m)).abs().maximum();
  fmt::print(
      "m = {:.6f}\n|rotate_inverse(rotate(x)) - x|       = {:.1e}\n|rotate_backward(rotate(x)) - "
      "m^2 x| = {:.1e}\n",
      m, inverse_error(), transpose_error());
  return inverse_error() < 1e-14 && transpose_error() < 1e-14 ? 0 : 1;
}
