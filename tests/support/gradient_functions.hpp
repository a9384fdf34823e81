// SPDX-License-Identifier: Apache-2.0
//
// Functions of tensors and their gradients, for the tests of the gradient checker: right ones, from
// the textbook, on plain Eigen.
#pragma once

#include <array>
#include <random>
#include <tuple>

#include "eigen_rope/rotation/detail/tensor.hpp"

namespace eigen_rope::test {

template <class Scalar, int rank, int layout = Eigen::ColMajor>
Eigen::Tensor<Scalar, rank, layout> normal_tensor(
    const std::array<Eigen::Index, static_cast<std::size_t>(rank)>& extents, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> value;
  Eigen::Tensor<Scalar, rank, layout> tensor(extents);
  for (Eigen::Index i = 0; i < tensor.size(); ++i)
    tensor.data()[i] = static_cast<Scalar>(value(random));
  return tensor;
}

/// A function that takes any scalar, and the same with its arguments' own scalar only.
template <class Function, class... Tensors>
auto typed(const Function& function, const Tensors&...) {
  return [function](const Tensors&... x) { return function(x...); };
}

// y = x^3 - 2 x
inline const auto cubic = [](const auto& x) {
  using Scalar = typename std::decay_t<decltype(x)>::Scalar;
  return x * x * x - x * Scalar(2);
};
inline const auto cubic_vjp = [](const auto& x, const auto& g) {
  using Scalar = typename std::decay_t<decltype(x)>::Scalar;
  std::decay_t<decltype(x)> dx = g * (x * x * Scalar(3) - x.constant(Scalar(2)));
  return dx;
};

inline const auto hyperbolic = [](const auto& x) { return x.tanh(); };
inline const auto hyperbolic_vjp = [](const auto& x, const auto& g) {
  std::decay_t<decltype(x)> y = x.tanh();
  std::decay_t<decltype(x)> dx = g * (y.constant(1) - y * y);
  return dx;
};

/// Along the first index of a matrix, without the usual subtraction of the maximum, which no
/// complex number has.
template <class Matrix>
Matrix softmax(const Matrix& x) {
  const Eigen::array<Eigen::Index, 1> first{0};
  const Eigen::array<Eigen::Index, 2> one_row{1, x.dimension(1)};
  const Eigen::array<Eigen::Index, 2> times{x.dimension(0), 1};
  const Matrix e = x.exp();
  return e / e.sum(first).reshape(one_row).broadcast(times);
}
template <class Matrix>
Matrix softmax_vjp(const Matrix& x, const Matrix& g) {
  const Eigen::array<Eigen::Index, 1> first{0};
  const Eigen::array<Eigen::Index, 2> one_row{1, x.dimension(1)};
  const Eigen::array<Eigen::Index, 2> times{x.dimension(0), 1};
  const Matrix y = softmax(x);
  return y * (g - (y * g).sum(first).reshape(one_row).broadcast(times));
}
inline const auto soft = [](const auto& x) { return softmax(x); };
inline const auto soft_vjp = [](const auto& x, const auto& g) { return softmax_vjp(x, g); };

/// sum of a b over one axis of each: a contraction by its definition, as the tests take small ones
/// thousands of times.
template <class Matrix>
Matrix contracted(const Matrix& a, int axis_of_a, const Matrix& b, int axis_of_b) {
  Matrix y(a.dimension(1 - axis_of_a), b.dimension(1 - axis_of_b));
  y.setZero();
  for (Eigen::Index column = 0; column < y.dimension(1); ++column) {
    for (Eigen::Index k = 0; k < a.dimension(axis_of_a); ++k) {
      const auto of_b = axis_of_b == 0 ? b(k, column) : b(column, k);
      for (Eigen::Index row = 0; row < y.dimension(0); ++row)
        y(row, column) += (axis_of_a == 0 ? a(k, row) : a(row, k)) * of_b;
    }
  }
  return y;
}

/// y = w x + bias, with w [out, in], x [in, batch], bias [out, 1] for every column.
inline const auto layer = [](const auto& w, const auto& x, const auto& bias) {
  const Eigen::array<Eigen::Index, 2> times{1, x.dimension(1)};
  std::decay_t<decltype(x)> y = contracted(w, 1, x, 0) + bias.broadcast(times);
  return y;
};
inline const auto layer_vjp = [](const auto& w, const auto& x, const auto& bias, const auto& g) {
  using Matrix = std::decay_t<decltype(x)>;
  const Matrix dbias = g.sum(Eigen::array<Eigen::Index, 1>{1}).reshape(bias.dimensions());
  return std::make_tuple(contracted(g, 1, x, 1), contracted(w, 0, g, 0), dbias);
};

}  // namespace eigen_rope::test
