// SPDX-License-Identifier: Apache-2.0
//
// The types of the model's numbers. A matrix is ColMajor [features, tokens], and the three products
// of a linear layer are products of such matrices:
//
//   y  = w^T x        y.noalias() = w.transpose() * x          w [in, out], x [in, n], y [out, n]
//   dx = w dy         dx.noalias() = w * dy
//   dw += x dy^T      dw.noalias() += x * dy.transpose()
//
// The rotation sees the same memory as a tensor [head dim, heads, tokens] (HeadsMap). Products are
// of Eigen's matrices rather than contractions of its tensors: they run on the calling thread,
// take blocks of other matrices and need no memory of the heap. Not a tensor library: only names
// for Eigen's own types.
#pragma once

#ifndef EIGEN_USE_THREADS
#define EIGEN_USE_THREADS
#endif

#include <Eigen/Core>
#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>

namespace train_lm {

using Eigen::Index;
using Device = Eigen::ThreadPoolDevice;

template <class S>
using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <class S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

/// `Type` with the constness of S.
template <class S, class Type>
using LikeConst = std::conditional_t<std::is_const_v<S>, const Type, Type>;
template <class S>
using VectorMap = Eigen::Map<LikeConst<S, Vector<std::remove_const_t<S>>>>;
template <class S>
using MatrixMap = Eigen::Map<LikeConst<S, Matrix<std::remove_const_t<S>>>>;
/// Queries and keys of a window as the rotation wants them: [head dim, heads, tokens].
template <class S>
using HeadsMap = Eigen::TensorMap<Eigen::Tensor<S, 3>>;

}  // namespace train_lm
