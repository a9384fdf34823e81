// SPDX-License-Identifier: Apache-2.0
// One rotation with everything the library has included: what scripts/compile_time.sh measures.
#include <eigen_rope/eigen_rope.hpp>

void evaluate(Eigen::Tensor<float, 3>& y, const Eigen::Tensor<float, 3>& x,
              const eigen_rope::Cache<float>& cache) {
  y = eigen_rope::rotate(x, cache, eigen_rope::split_half);
}
