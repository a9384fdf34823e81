// SPDX-License-Identifier: Apache-2.0
//
// Transpose is not inverse: with an attention factor m (YaRN has one), transpose(rotate(x)) = m^2 x and inverse(rotate(x)) = x.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

int main() {
  eigen_rope::Powers powers{64};
  powers.linear_scale = 0.25;  // four times the context
  eigen_rope::Yarn yarn;
  yarn.original_context = 4096;
  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::yarn(powers, yarn);
  const double m = static_cast<double>(frequencies.attention_factor());

  const eigen_rope::CosSinCache<double> cache(frequencies, eigen_rope::Positions::range(1000, 8));
  Eigen::Tensor<double, 3> x(64, 2, 8);
  x.setRandom();
  const Eigen::Tensor<double, 3> y = eigen_rope::rotate(x, cache, eigen_rope::half);

  const Eigen::Tensor<double, 3> back = eigen_rope::inverse(y, cache, eigen_rope::half);
  const Eigen::Tensor<double, 3> gradient = eigen_rope::transpose(y, cache, eigen_rope::half);
  const Eigen::Tensor<double, 0> inverse_error = (back - x).abs().maximum();
  const Eigen::Tensor<double, 0> transpose_error = (gradient - x * (m * m)).abs().maximum();
  fmt::print("m = {:.6f}\n|inverse(rotate(x)) - x|       = {:.1e}\n|transpose(rotate(x)) - m^2 x| = {:.1e}\n", m, inverse_error(),
             transpose_error());
  return inverse_error() < 1e-14 && transpose_error() < 1e-14 ? 0 : 1;
}
