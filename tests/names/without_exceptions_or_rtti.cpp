// SPDX-License-Identifier: Apache-2.0
//
// A program compiled without exceptions, without RTTI, or without both, which includes every
// header: none may throw or catch, or ask for the type of an object, not even in a template. The
// library does; where nothing can catch what it throws, the program ends with the sentence.
//
// usage: without_exceptions_or_rtti [refuse]    refuse: asks for what the library refuses
#include <all_headers.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#if defined(__cpp_exceptions) && defined(__cpp_rtti)
#error "this file must be compiled with -fno-exceptions or -fno-rtti"
#endif

namespace {

/// The largest difference between x and what a rotation, evaluated whole and nested, and its
/// inverse leave of it.
template <class Scalar>
double there_and_back(eigen_rope::Index tokens) {
  const eigen_rope::Index D = 64;
  // Small tables and large ones are allocated in different ways.
  const eigen_rope::Cache<Scalar> cache(eigen_rope::Frequencies::powers({D}),
                                        eigen_rope::Positions::range(0, tokens));
  const eigen_rope::GrowingCache<Scalar> growing(eigen_rope::Frequencies::powers({D}));
  Eigen::Tensor<Scalar, 3> x(D, 2, tokens);
  x.setRandom();
  const Eigen::Tensor<Scalar, 3> y = -eigen_rope::rotate(x, cache, eigen_rope::split_half);
  Eigen::Tensor<Scalar, 3> back =
      eigen_rope::rotate_inverse(y, growing.rows(0, tokens), eigen_rope::split_half);
  const Eigen::Tensor<Scalar, 0> worst = (back + x).abs().maximum();
  const auto d = eigen_rope::gradients(y, x, cache, eigen_rope::split_half);
  return static_cast<double>(worst()) +
         (d.angle.size() == static_cast<std::size_t>(D / 2 * tokens) ? 0 : 1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "refuse") == 0) {
    (void)eigen_rope::Frequencies::powers({7});
    return 0;
  }
  const double worst = there_and_back<float>(3) + there_and_back<double>(2000);
  if (worst < 1e-5) return 0;
  std::fprintf(stderr, "the inverse is off by %g\n", worst);
  return 1;
}
