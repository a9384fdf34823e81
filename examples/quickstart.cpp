#define EIGEN_USE_THREADS
#include <rope/rope.hpp>

int main() {
  const int D = 128, heads = 32, tokens = 512, batch = 1;
  Eigen::Tensor<float, 4> q(D, heads, tokens, batch), y(D, heads, tokens, batch);
  q.setRandom();

  const rope::Frequencies frequencies = rope::Frequencies::powers({D});  // base 10000
  const rope::CosSinCache<float> cache(frequencies, rope::Positions::range(0, tokens));

  Eigen::ThreadPool threads(2);
  Eigen::ThreadPoolDevice pool(&threads, 2);
  y.device(pool) = rope::rotate(q, cache, rope::half);       // forward
  q.device(pool) = rope::transpose(y, cache, rope::half);    // gradient with respect to x
  y = rope::rotate(q, cache, rope::interleaved) * 0.5f + y;  // inside any expression
}
