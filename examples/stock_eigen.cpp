// SPDX-License-Identifier: Apache-2.0
//
// Rotary position embedding in stock Eigen operations: the table is the outer product of positions and powers of theta_scale, the rotation
// four products of slices. Then the library's line, that both agree, and the way back: the same with the sine negated.
#include <cmath>
#include <cstdio>

#include "eigen_rope/eigen_rope.hpp"

namespace er = eigen_rope;
using Matrix = Eigen::Tensor<double, 2>;
using At = Eigen::DSizes<Eigen::Index, 2>;

double largest(const Matrix& difference) { return Eigen::Tensor<double, 0>(difference.abs().maximum())(); }

int main() {
  constexpr Eigen::Index D = 64, P = D / 2, S = 512;  // elements of a row, pairs, tokens
  Matrix pair(P, 1), token(1, S), x(D, S), y(D, S), back(D, S);
  for (Eigen::Index k = 0; k < P; ++k) pair(k, 0) = static_cast<double>(k);
  for (Eigen::Index n = 0; n < S; ++n) token(0, n) = static_cast<double>(n);
  x.setRandom();
  const Matrix rates = (pair * (-2.0 / D * std::log(10000.0))).exp();
  const Matrix angles = rates.broadcast(At(1, S)) * token.broadcast(At(P, 1));
  const Matrix cos = angles.unaryExpr([](double t) { return std::cos(t); });
  const Matrix sin = angles.unaryExpr([](double t) { return std::sin(t); });
  const er::Cache<double> cache(er::Frequencies::powers({D}), er::Positions::range(0, S));
  const auto table = er::table_of(cos, sin);

  // Split halves, as in Hugging Face's models: pair k is elements k and k + P.
  const auto turn = [&](const Matrix& from, double sign) -> Matrix {
    const auto a = from.slice(At(0, 0), At(P, S)), b = from.slice(At(P, 0), At(P, S));
    return (a * cos - b * sin * sign).concatenate(b * cos + a * sin * sign, 0);
  };
  y = turn(x, 1);
  std::printf("split halves, stock - library:  %.1e\n", largest(y - Matrix(er::rotate(x, table, er::split_half))));
  // Interleaved, as Llama was published: pair k is elements 2k and 2k + 1.
  y.stride(At(2, 1)) = x.stride(At(2, 1)) * cos - x.slice(At(1, 0), At(D - 1, S)).stride(At(2, 1)) * sin;
