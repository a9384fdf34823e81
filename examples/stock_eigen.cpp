// SPDX-License-Identifier: Apache-2.0
//
// Rotary position embedding in stock Eigen operations beside the library's line: table, forward,
// backward.
#include <cmath>
#include <cstdio>
#include <eigen_rope/eigen_rope.hpp>
#include <numeric>

namespace er = eigen_rope;
using Matrix = Eigen::Tensor<double, 2>;
using At = Eigen::DSizes<Eigen::Index, 2>;

double largest(const Matrix& d) { return Eigen::Tensor<double, 0>(d.abs().maximum())(); }

int main() {
  const Eigen::Index D = 64, P = D / 2, S = 512;  // elements of a row, pairs, tokens
  Matrix k(P, 1), n(1, S), x(D, S), y(D, S);
  std::iota(k.data(), k.data() + P, 0.0);
  std::iota(n.data(), n.data() + S, 0.0);
  x.setRandom();
  const Matrix rates = (k * (-2.0 / D * std::log(10000.0))).exp();  // powers of theta_scale
  const Matrix angles =
      rates.broadcast(At(1, S)) * n.broadcast(At(P, 1));  // their outer product with the positions
  const Matrix c = angles.unaryExpr([](double t) { return std::cos(t); });
  const Matrix s = angles.unaryExpr([](double t) { return std::sin(t); });
  const auto turned = [&](const Matrix& v, const Matrix& sine) -> Matrix {  // split halves
    const auto a = v.slice(At(0, 0), At(P, S)), b = v.slice(At(P, 0), At(P, S));
    return (a * c - b * sine).concatenate(b * c + a * sine, 0);
  };
  const Matrix even = x.stride(At(2, 1)),
               odd = x.slice(At(1, 0), At(D - 1, S)).stride(At(2, 1));  // interleaved
  y.stride(At(2, 1)) = even * c - odd * s;
  y.slice(At(1, 0), At(D - 1, S)).stride(At(2, 1)) = odd * c + even * s;
  const auto table = er::table_of(c, s);
  const Matrix by_halves = er::rotate(x, table, er::split_half),
               by_neighbours = er::rotate(x, table, er::interleaved);
  const Matrix back =
      er::rotate_backward(er::rotate(x, table, er::split_half), table, er::split_half);
  std::printf("stock - library: split halves %.1e, interleaved %.1e\n",
              largest(turned(x, s) - by_halves), largest(y - by_neighbours));
  std::printf("backward(forward(x)) - x: stock %.1e, library %.1e\n",
              largest(turned(turned(x, s), -s) - x), largest(back - x));
  return largest(turned(x, s) - by_halves) + largest(y - by_neighbours) + largest(back - x) < 1e-14
             ? 0
             : 1;
}
