// SPDX-License-Identifier: Apache-2.0
// One rotation with everything the library has included: what scripts/compile_time.sh measures.
#include <rope/rope.hpp>

void evaluate(Eigen::Tensor<float, 3>& y, const Eigen::Tensor<float, 3>& x, const rope::CosSinCache<float>& cache) {
  y = rope::rotate(x, cache, rope::half);
}
