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
    scaled_.resize(dim);
  }

  const Matrix<S>& output() const { return output_; }

  void forward(const Matrix<S>& x, const VectorMap<const S>& gain) {
    for (Index n = 0; n < x.cols(); ++n) {
      factor_(n) = S(1) / std::sqrt(x.col(n).squaredNorm() / S(x.rows()) + S(1e-5));
      unit_.col(n) = x.col(n) * factor_(n);
      output_.col(n) = unit_.col(n).cwiseProduct(gain);
    }
  }

  /// Adds to dg and to dx.
  void backward(const Matrix<S>& dy, const VectorMap<const S>& gain, VectorMap<S> dg,
                Matrix<S>& dx) {
    for (Index n = 0; n < dy.cols(); ++n) {
      dg += dy.col(n).cwiseProduct(unit_.col(n));
      scaled_ = dy.col(n).cwiseProduct(gain);
      const S mean = scaled_.dot(unit_.col(n)) / S(dy.rows());
      dx.col(n) += (scaled_ - unit_.col(n) * mean) * factor_(n);
    }
  }

 private:
  Matrix<S> unit_;
  Matrix<S> output_;
  Vector<S> factor_;
  Vector<S> scaled_;
};

}  // namespace train_lm
