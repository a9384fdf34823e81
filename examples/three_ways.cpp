// SPDX-License-Identifier: Apache-2.0
//
// The same rotation as plain loops, as stock Eigen operations and as our expression: equal to the
// bit.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

int main() {
  const er::Index D = 80, heads = 3, tokens = 5;
  const er::Pairing pairing = er::interleaved.with_rotary_dims(32).with_offset(16);
  const er::Cache<float> cache(er::Frequencies::powers({32}), er::Positions::range(7, tokens));
  Eigen::Tensor<float, 3> x(D, heads, tokens);
  x.setRandom();

  Eigen::Tensor<float, 3> by_loops(D, heads, tokens);
  er::reference::rotate(x.data(), by_loops.data(), er::Shape{D, heads, tokens}, cache.view(),
                        pairing);
  const Eigen::Tensor<float, 3> by_stock_operations = er::composed::rotate(x, cache, pairing);
  Eigen::Tensor<float, 3> by_node(D, heads, tokens);
  er::rotate_to(by_node, x, cache, pairing);

  const Eigen::Tensor<float, 0> stock = (by_stock_operations - by_loops).abs().maximum();
  const Eigen::Tensor<float, 0> node = (by_node - by_loops).abs().maximum();
  fmt::print("loops against stock operations {}, against the expression {}\n", stock(), node());

  // Interleaved pairs over the whole row are complex numbers.
  const er::Cache<float> whole(er::Frequencies::powers({D}), er::Positions::range(7, tokens));
  Eigen::Tensor<float, 3> by_complex(D, heads, tokens);
  er::composed::rotate_complex(by_complex, x,
                               er::composed::complex_table<3, Eigen::ColMajor>(whole.view()));
  by_node = er::rotate(x, whole, er::interleaved);
  const Eigen::Tensor<float, 0> complex = (by_complex - by_node).abs().maximum();
  fmt::print("expression against the product of complex numbers {}\n", complex());

  // And the table itself, formed in the steps of a compiler for neural processors.
  const er::composed::TableSteps steps = er::composed::table_steps(
      er::Powers{32}, std::nullopt, {7, 8, 9, 10, 11}, er::PairKind::split_half);
  fmt::print("rates {} -> angles [{}, {}] -> full width [{}, {}]\n", steps.rates.size(),
             steps.angles.dimension(0), steps.angles.dimension(1), steps.cos.dimension(0),
             steps.cos.dimension(1));
  const bool close = stock() <= 1e-6f && node() <= 1e-6f && complex() <= 1e-6f;
  return close ? 0 : 1;
}
