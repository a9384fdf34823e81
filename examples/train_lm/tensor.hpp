// SPDX-License-Identifier: Apache-2.0
//
// The tensors of the model and the three contractions a linear layer needs.
//
//   project           y[out, n]  = sum_in  w[in, out] x[in, n]
//   project_back      dx[in, n]  = sum_out w[in, out] dy[out, n]
//   weight_gradient   dw[in, out] = sum_n  x[in, n] dy[out, n]
//
// Every tensor is ColMajor with the feature axis first; n runs over the tokens of all windows of a
// batch. Not a tensor library: only names for Eigen's own types and for contractions over one axis.
#pragma once

#ifndef EIGEN_USE_THREADS
#define EIGEN_USE_THREADS
#endif

#include <unsupported/Eigen/CXX11/Tensor>

namespace train_lm {

using Eigen::Index;
using Device = Eigen::ThreadPoolDevice;

template <class S>
using Vector = Eigen::Tensor<S, 1>;
template <class S>
using Matrix = Eigen::Tensor<S, 2>;
template <class S>
using VectorMap = Eigen::TensorMap<Eigen::Tensor<S, 1>>;
template <class S>
using MatrixMap = Eigen::TensorMap<Eigen::Tensor<S, 2>>;
/// q, k and v as the rotation wants them: [head dim, heads, tokens, windows].
template <class S>
using HeadsMap = Eigen::TensorMap<Eigen::Tensor<S, 4>>;

template <class S>
MatrixMap<S> map(Matrix<S>& x) {
  return {x.data(), x.dimensions()};
}
template <class S>
MatrixMap<const S> map(const Matrix<S>& x) {
  return {x.data(), x.dimensions()};
}

/// out = sum of a b over one axis of each; compiled once, for float and double, as Eigen's
/// contraction is the most there is to compile here. out must not overlap a or b.
template <class S>
void contract(Device& device, MatrixMap<const S> a, Index axis_of_a, MatrixMap<const S> b,
              Index axis_of_b, MatrixMap<S> out);
/// The same, added to out.
template <class S>
void add_contraction(Device& device, MatrixMap<const S> a, Index axis_of_a, MatrixMap<const S> b,
                     Index axis_of_b, MatrixMap<S> out);

/// y = w^T x.
template <class S>
void project(Device& device, MatrixMap<const S> w, const Matrix<S>& x, Matrix<S>& y) {
  contract<S>(device, w, 0, map(x), 0, map(y));
}

/// dx = w dy.
template <class S>
void project_back(Device& device, MatrixMap<const S> w, const Matrix<S>& dy, Matrix<S>& dx) {
  contract<S>(device, w, 1, map(dy), 0, map(dx));
}

/// dx += w dy.
template <class S>
void add_project_back(Device& device, MatrixMap<const S> w, const Matrix<S>& dy, Matrix<S>& dx) {
  add_contraction<S>(device, w, 1, map(dy), 0, map(dx));
}

/// dw = x dy^T.
template <class S>
void weight_gradient(Device& device, const Matrix<S>& x, const Matrix<S>& dy, MatrixMap<S> dw) {
  contract<S>(device, map(x), 1, map(dy), 1, dw);
}

/// Calls body(i) for 0 <= i < count on the device's threads; every i does about `cycles` of work
/// and writes only what belongs to i, so the result does not depend on the number of threads.
template <class Body>
void parallel_for(Device& device, Index count, double cycles, const Body& body) {
  device.parallelFor(count, Eigen::TensorOpCost(0, 0, cycles), [&body](Index first, Index last) {
    for (Index i = first; i < last; ++i) body(i);
  });
}

}  // namespace train_lm
