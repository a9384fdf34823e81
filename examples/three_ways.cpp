// SPDX-License-Identifier: Apache-2.0
//
// The same rotation as plain loops, as stock Eigen operations and as our expression: equal to the bit.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

int main() {
  const eigen_rope::Index D = 80, heads = 3, tokens = 5;
  const eigen_rope::Pairing pairing = eigen_rope::interleaved.with_rotary_dims(32).with_offset(16);
  const eigen_rope::CosSinCache<float> cache(eigen_rope::Frequencies::powers({32}), eigen_rope::Positions::range(7, tokens));
  Eigen::Tensor<float, 3> x(D, heads, tokens);
  x.setRandom();

  Eigen::Tensor<float, 3> by_loops(D, heads, tokens);
  eigen_rope::reference::rotate(x.data(), by_loops.data(), eigen_rope::Shape{D, heads, tokens}, cache.view(), pairing);
  const Eigen::Tensor<float, 3> by_stock_operations = eigen_rope::composed::rotate(x, cache, pairing);
  Eigen::Tensor<float, 3> by_node(D, heads, tokens);
  eigen_rope::rotate_to(by_node, x, cache, pairing);

  const Eigen::Tensor<float, 0> stock = (by_stock_operations - by_loops).abs().maximum();
  const Eigen::Tensor<float, 0> node = (by_node - by_loops).abs().maximum();
  fmt::print("loops against stock operations {}, against the expression {}\n", stock(), node());

  // Interleaved pairs over the whole row are complex numbers.
  const eigen_rope::CosSinCache<float> whole(eigen_rope::Frequencies::powers({D}), eigen_rope::Positions::range(7, tokens));
  Eigen::Tensor<float, 3> by_complex(D, heads, tokens);
  eigen_rope::composed::rotate_complex(by_complex, x, eigen_rope::composed::complex_table<3, Eigen::ColMajor>(whole.view()));
  by_node = eigen_rope::rotate(x, whole, eigen_rope::interleaved);
  const Eigen::Tensor<float, 0> complex = (by_complex - by_node).abs().maximum();
  fmt::print("expression against the product of complex numbers {}\n", complex());

  // And the table itself, formed in the steps of a compiler for neural processors.
  const eigen_rope::composed::TableSteps steps =
      eigen_rope::composed::table_steps(eigen_rope::Powers{32}, std::nullopt, {7, 8, 9, 10, 11}, eigen_rope::PairKind::half);
  fmt::print("rates {} -> angles [{}, {}] -> full width [{}, {}]\n", steps.rates.size(), steps.angles.dimension(0),
             steps.angles.dimension(1), steps.cos.dimension(0), steps.cos.dimension(1));
  const bool close = stock() <= 1e-6f && node() <= 1e-6f && complex() <= 1e-6f;
  return close ? 0 : 1;
}
