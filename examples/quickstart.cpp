#define EIGEN_USE_THREADS
#include <eigen_rope/eigen_rope.hpp>

int main() {
  const int D = 128, heads = 32, tokens = 512, batch = 1;
  Eigen::Tensor<float, 4> q(D, heads, tokens, batch), y(D, heads, tokens, batch);
  q.setRandom();

  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::powers({D});  // base 10000
  const eigen_rope::CosSinCache<float> cache(frequencies, eigen_rope::Positions::range(0, tokens));

  Eigen::ThreadPool threads(2);
  Eigen::ThreadPoolDevice pool(&threads, 2);
  y.device(pool) = eigen_rope::rotate(q, cache, eigen_rope::half);       // forward
  q.device(pool) = eigen_rope::transpose(y, cache, eigen_rope::half);    // gradient with respect to x
  y = eigen_rope::rotate(q, cache, eigen_rope::interleaved) * 0.5f + y;  // inside any expression
}
