// SPDX-License-Identifier: Apache-2.0
//
// The tensors of the model and the three contractions a linear layer needs.
//
//   project           y[out, n]  = sum_in  w[in, out] x[in, n]
//   project_back      dx[in, n]  = sum_out w[in, out] dy[out, n]
//   weight_gradient   dw[in, out] = sum_n  x[in, n] dy[out, n]
//
// Every tensor is ColMajor with the feature axis first; n runs over the tokens of all windows of a batch. Not a tensor library: only
// names for Eigen's own types and for contractions over one axis.
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

namespace detail {
inline Eigen::array<Eigen::IndexPair<Index>, 1> over(Index a, Index b) { return {Eigen::IndexPair<Index>(a, b)}; }
}  // namespace detail

/// y = w^T x. W, X, Y are Tensor or TensorMap of rank 2.
template <class W, class X, class Y>
void project(Device& device, const W& w, const X& x, Y& y) {
  y.device(device) = w.contract(x, detail::over(0, 0));
}

/// dx = w dy.
template <class W, class Dy, class Dx>
void project_back(Device& device, const W& w, const Dy& dy, Dx& dx) {
  dx.device(device) = w.contract(dy, detail::over(1, 0));
}

/// dx += w dy.
template <class W, class Dy, class Dx>
void add_project_back(Device& device, const W& w, const Dy& dy, Dx& dx) {
  dx.device(device) += w.contract(dy, detail::over(1, 0));
}

/// dw = x dy^T.
template <class X, class Dy, class Dw>
void weight_gradient(Device& device, const X& x, const Dy& dy, Dw&& dw) {
  dw.device(device) = x.contract(dy, detail::over(1, 1));
}

/// Calls body(i) for 0 <= i < count on the device's threads; every i does about `cycles` of work and writes only what belongs to i, so
/// the result does not depend on the number of threads.
template <class Body>
void parallel_for(Device& device, Index count, double cycles, const Body& body) {
  device.parallelFor(count, Eigen::TensorOpCost(0, 0, cycles), [&body](Index first, Index last) {
    for (Index i = first; i < last; ++i) body(i);
  });
}

}  // namespace train_lm
