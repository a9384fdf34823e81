// SPDX-License-Identifier: Apache-2.0
//
// A destination of another scalar than the rotation's is refused in one sentence, on every device,
// assigned or constructed.
#define EIGEN_USE_THREADS
#include <eigen_rope/eigen_rope.hpp>

#include "refused/refused.hpp"

namespace {

[[maybe_unused]] void rotates(const eigen_rope::Cache<float>& cache,
                              const Eigen::ThreadPoolDevice& threads) {
  const Eigen::Tensor<float, 3> x(8, 2, 3);
  const Eigen::Tensor<Eigen::half, 3> halves(8, 2, 3);
  const Eigen::Tensor<WRONG(double, float), 3> y =
      // refused: the destination must have
      eigen_rope::rotate(x, cache, eigen_rope::split_half);
  Eigen::Tensor<WRONG(long double, float), 3> z(8, 2, 3);
  // refused: the destination must have
  z = eigen_rope::rotate_backward(x, cache, eigen_rope::split_half);
  Eigen::Tensor<WRONG(float, Eigen::half), 3> w(8, 2, 3);
  // refused: the destination must have
  w.device(threads) = eigen_rope::rotate(halves, cache, eigen_rope::split_half);
  const Eigen::Tensor<double, 3> cast =
      eigen_rope::rotate(x, cache, eigen_rope::split_half).cast<double>();
}

}  // namespace
