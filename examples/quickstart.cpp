// SPDX-License-Identifier: Apache-2.0
//
// The rotation forward and backward, on two threads and inside an expression.
#define EIGEN_USE_THREADS
#include <eigen_rope/eigen_rope.hpp>

namespace er = eigen_rope;

int main() {
  const int D = 128, heads = 32, tokens = 512, batch = 1;
  Eigen::Tensor<float, 4> q(D, heads, tokens, batch), y(D, heads, tokens, batch);
  q.setRandom();

  const er::Frequencies frequencies = er::Frequencies::powers({D});  // base 10000
  const er::Cache<float> cache(frequencies, er::Positions::range(0, tokens));

  Eigen::ThreadPool threads(2);
  Eigen::ThreadPoolDevice pool(&threads, 2);
  y.device(pool) = er::rotate(q, cache, er::split_half);           // forward
  q.device(pool) = er::rotate_backward(y, cache, er::split_half);  // gradient with respect to x
  y = er::rotate(q, cache, er::interleaved) * 0.5f + y;            // inside any expression
}
