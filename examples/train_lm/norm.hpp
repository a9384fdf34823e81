// SPDX-License-Identifier: Apache-2.0
//
// Root-mean-square normalisation of every token (Zhang and Sennrich 2019), forward and backward.
//
//   r = 1 / sqrt(mean(x^2) + 1e-5)   u = r x   y = g u   x, u, y [dim, n]; r [n]; g [dim]
//   dg = sum_n dy u
//   dx = r (g dy - u mean(g dy u))
//
// No mean is subtracted and no bias added. The unit vectors u and the factors r are kept for the
// backward pass.
#pragma once

#include <cmath>

#include "tensor.hpp"

namespace train_lm {

template <class S>
class RmsNorm {
 public:
  void resize(Index dim, Index n) {
    unit_.resize(dim, n);
    output_.resize(dim, n);
    factor_.resize(n);
  }

  const Matrix<S>& output() const { return output_; }

  void forward(Device& device, const Matrix<S>& x, const S* gain) {
    const Index dim = x.dimension(0);
    parallel_for(device, x.dimension(1), 4.0 * static_cast<double>(dim), [&](Index n) {
      const VectorMap<const S> g(gain, dim);
      const VectorMap<const S> in(x.data() + n * dim, dim);
      VectorMap<S> u(unit_.data() + n * dim, dim);
      VectorMap<S> y(output_.data() + n * dim, dim);
      factor_(n) = S(1) / std::sqrt(total(in * in) / S(dim) + S(1e-5));
      u = in * factor_(n);
      y = u * g;
    });
  }

  /// Sets dg and adds to dx.
  void backward(Device& device, const Matrix<S>& dy, const S* gain, VectorMap<S> dg,
                Matrix<S>& dx) {
    const Index dim = dy.dimension(0);
    dg.device(device) = (dy * unit_).sum(Eigen::array<Index, 1>{1});
    parallel_for(device, dy.dimension(1), 6.0 * static_cast<double>(dim), [&](Index n) {
      const VectorMap<const S> g(gain, dim);
      const VectorMap<const S> d(dy.data() + n * dim, dim);
      const VectorMap<const S> u(unit_.data() + n * dim, dim);
      VectorMap<S> out(dx.data() + n * dim, dim);
      const S mean = total(g * d * u) / S(dim);
      out += (g * d - u * mean) * factor_(n);
    });
  }

 private:
  template <class Expression>
  static S total(const Expression& expression) {
    const Eigen::TensorFixedSize<S, Eigen::Sizes<>> sum = expression.sum();
    return sum();
  }

  Matrix<S> unit_;
  Matrix<S> output_;
  Vector<S> factor_;
};

}  // namespace train_lm
