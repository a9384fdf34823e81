// SPDX-License-Identifier: Apache-2.0
//
// A rotation of one token asks for no memory, whatever it is written as.
#include <gtest/gtest.h>

#include "eigen_rope/eigen_rope.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test {
namespace {

constexpr Index D = 64, heads = 4;

template <class Scalar>
struct OneToken {
  Eigen::Tensor<Scalar, 3> x{D, heads, 1};
  Eigen::Tensor<Scalar, 3> y{D, heads, 1};
  Cache<float> cache{Frequencies::powers({D}), Positions::range(7, 1), Layout::tnd()};

  OneToken() {
    x.setConstant(Scalar(0.5F));
    y.setZero();
  }
};

/// What `run` asks for, after once, when the kernels have been chosen.
template <class Run>
int allocations_of(const Run& run) {
  run();
  const int before = allocations();
  run();
  return allocations() - before;
}

template <class Scalar>
class AllocationTest : public testing::Test {};
using Scalars = testing::Types<float, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(AllocationTest, Scalars);

TYPED_TEST(AllocationTest, Counts) {
  OneToken<TypeParam> one;
  EXPECT_GT(allocations_of([&] { one.y.resize(D, heads, one.y.dimension(2) + 1); }), 0);
}

TYPED_TEST(AllocationTest, TheExpressionAsksForNone) {
  OneToken<TypeParam> one;
  EXPECT_EQ(allocations_of([&] { one.y = rotate(one.x, one.cache, split_half); }), 0);
  EXPECT_EQ(allocations_of([&] { one.x = rotate(one.x, one.cache, interleaved); }), 0);
}

TYPED_TEST(AllocationTest, ViewsAskForNone) {
  OneToken<TypeParam> one;
  EXPECT_EQ(allocations_of([&] { rotate_inplace(strided_view(one.x), one.cache, split_half); }), 0);
  EXPECT_EQ(allocations_of([&] {
              const StridedView<const TypeParam> from{one.x.data(), {D, heads, 1}, {D, D * heads}};
              rotate_to(StridedView<TypeParam>{one.y.data(), from.shape, from.strides}, from,
                        one.cache, split_half);
            }),
            0);
}

}  // namespace
}  // namespace eigen_rope::test
