// SPDX-License-Identifier: Apache-2.0
//
// A TensorRef to an expression that cannot be assigned to, as this version of Eigen writes it.
#pragma once

#include "eigen_rope/rotation/detail/tensor.hpp"

namespace eigen_rope::test {

#if EIGEN_VERSION_AT_LEAST(5, 0, 0)
template <class Plain>
using ReadOnlyRef = Eigen::TensorRef<const Plain>;
#else
template <class Plain>
using ReadOnlyRef = Eigen::TensorRef<Plain>;
#endif

}  // namespace eigen_rope::test
