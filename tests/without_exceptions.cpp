// SPDX-License-Identifier: Apache-2.0
//
// A program compiled without exceptions: no public header may throw or catch, not even in a template. The library does, and whoever
// compiles so cannot catch what it throws.
#include <cmath>
#include <cstdio>
#include <rope/composed.hpp>
#include <rope/models/gguf.hpp>
#include <rope/models/hugging_face.hpp>
#include <rope/operators/aclnn.hpp>
#include <rope/operators/aclnn_calls.hpp>
#include <rope/operators/ggml.hpp>
#include <rope/operators/onnx.hpp>
#include <rope/operators/onnx_node.hpp>
#include <rope/reference.hpp>
#include <rope/rope.hpp>
#include <rope/xpos.hpp>
#include <vector>

#ifdef __cpp_exceptions
#error "this file must be compiled with -fno-exceptions"
#endif

namespace {

/// The largest difference between x and what a rotation, evaluated whole and nested, and its inverse leave of it.
template <class Scalar>
double there_and_back(rope::Index tokens) {
  const rope::Index D = 64;
  // Small tables and large ones are allocated in different ways.
  const rope::CosSinCache<Scalar> cache(rope::Frequencies::powers({D}), rope::Positions::range(0, tokens));
  const rope::GrowingCache<Scalar> growing(rope::Frequencies::powers({D}));
  Eigen::Tensor<Scalar, 3> x(D, 2, tokens);
  x.setRandom();
  const Eigen::Tensor<Scalar, 3> y = -rope::rotate(x, cache, rope::half);
  Eigen::Tensor<Scalar, 3> back = rope::inverse(y, growing.rows(0, tokens), rope::half);
  const Eigen::Tensor<Scalar, 0> worst = (back + x).abs().maximum();
  const auto d = rope::gradients(rope::output(rope::view(y)), rope::view(x), cache, rope::half, rope::Wanted::angle);
  return static_cast<double>(worst()) + (d.angle.size() == static_cast<std::size_t>(D / 2 * tokens) ? 0 : 1);
}

}  // namespace

int main() {
  const double worst = there_and_back<float>(3) + there_and_back<double>(2000);
  if (worst < 1e-5) return 0;
  std::fprintf(stderr, "the inverse is off by %g\n", worst);
  return 1;
}
