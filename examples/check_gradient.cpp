// SPDX-License-Identifier: Apache-2.0
//
// Is this gradient right? Attention scores of rotated queries and keys, s_ij = <R_i q_i, R_j k_j>,
// and three gradients of it that somebody might have written.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

using Matrix = Eigen::Tensor<double, 2>;  // [D, tokens]
using Contraction = Eigen::array<Eigen::IndexPair<int>, 1>;

int main() {
  er::Powers powers{8};
  powers.attention_factor = 1.2;
  const er::Cache<double> cache(er::Frequencies::powers(powers), er::Positions::range(0, 5),
                                er::Layout::sd());
  Matrix q(8, 5), k(8, 5);
  q.setRandom();
  k.setRandom();

  const Contraction features{Eigen::IndexPair<int>(0, 0)};
  const Contraction queries{Eigen::IndexPair<int>(1, 0)};
  const Contraction keys{Eigen::IndexPair<int>(1, 1)};
  const auto rotated = [&](const auto& x) {
    std::decay_t<decltype(x)> y = er::rotate(x, cache, er::split_half);
    return y;
  };
  // f takes any scalar, so the check can use complex numbers: no step to choose, no digits lost.
  const auto scores = [&](const auto& a, const auto& b) {
    std::decay_t<decltype(a)> s = rotated(a).contract(rotated(b), features);
    return s;
  };
  const auto gradient = [&](const Matrix& a, const Matrix& b,
                            const Matrix& g) {  // g: [queries, keys]
    const Matrix dq = rotated(b).contract(g, keys);
    const Matrix dk = rotated(a).contract(g, queries);
    return std::make_tuple(Matrix(er::rotate_backward(dq, cache, er::split_half)),
                           Matrix(er::rotate_backward(dk, cache, er::split_half)));
  };
  const auto inverse_for_transpose = [&](const Matrix& a, const Matrix& b, const Matrix& g) {
    const Matrix dq = rotated(b).contract(g, keys);
    return std::make_tuple(Matrix(er::rotate_inverse(dq, cache, er::split_half)),
                           std::get<1>(gradient(a, b, g)));
  };
  const auto one_wrong_sign = [&](const Matrix& a, const Matrix& b, const Matrix& g) {
    auto [dq, dk] = gradient(a, b, g);
    Matrix wrong = dk;
    wrong(3, 2) = -wrong(3, 2);
    return std::make_tuple(Matrix(dq), wrong);
  };

  er::GradientCheckOptions options;
  options.names = {"q", "k"};
  const auto arguments = std::tie(q, k);
  const er::GradientReport right = er::check_gradient(scores, gradient, arguments, options);
  const er::GradientReport inverse =
      er::check_gradient(scores, inverse_for_transpose, arguments, options);
  const er::GradientReport sign = er::check_gradient(scores, one_wrong_sign, arguments, options);
  // The rotation is linear: <R v, w> = <v, R^T w> needs no derivatives at all.
  const er::GradientReport adjoint = er::check_adjoint(
      [&](const Matrix& x) { return er::rotate(x, cache, er::split_half); },
      [&](const Matrix& y) { return er::rotate_backward(y, cache, er::split_half); }, q);
  fmt::print(
      "the gradient\n{}\n\nrotate_inverse() instead of rotate_backward(), with m = 1.2\n{}\n\n",
      right.text(), inverse.text());
  fmt::print("one wrong sign\n{}\n\nrotate() and rotate_backward()\n{}\n", sign.text(),
             adjoint.text());
  return right && adjoint && !inverse && !sign ? 0 : 1;
}
