// SPDX-License-Identifier: Apache-2.0
//
// A rotation asks for no memory: neither of one token nor of many, wherever the features lie and
// whatever it is written as. On a pool only Eigen's own tasks do.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "eigen_rope/eigen_rope.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test {
namespace {

constexpr Index D = 64, heads = 4, tokens = 33;

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

template <class Scalar>
class AllocationTest : public testing::Test {};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
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

/// Rotations of every kind between these views, which may be the same, ask for no memory.
template <class Scalar, class TableScalar>
void expect_none(const StridedView<Scalar>& y, const StridedView<Scalar>& x,
                 const Cache<TableScalar>& cache, int axis) {
  for (const Pairing& kind : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    for (const Direction direction :
         {Direction::forward, Direction::backward, Direction::inverse}) {
      const Pairing pairing = axis == 0 ? kind : kind.along(axis);
      EXPECT_EQ(allocations_of([&] { rotate_to(y, x, cache, pairing, direction); }), 0)
          << pairing.text() << " from " << x.shape.text() << " to " << y.shape.text();
    }
  }
}

template <class Scalar, class TableScalar>
void expect_none_anywhere() {
  using Role = AxisRole;
  const Frequencies frequencies = Frequencies::powers({D});
  const Positions positions = Positions::range(3, tokens);
  const Cache<TableScalar> in_rows(frequencies, positions);
  const Cache<TableScalar> behind(frequencies, positions,
                                  Layout{Role::token, Role::other, Role::feature});
  std::vector<Scalar> memory(D * heads * tokens, Scalar(0.5F)), to = memory;
  const auto x = strided_view(memory.data(), {D, heads, tokens});
  const auto y = strided_view(to.data(), {D, heads, tokens});
  expect_none(x, x, in_rows, 0);
  expect_none(y, x, in_rows, 0);
  const auto x_behind = strided_view(memory.data(), {tokens, heads, D});
  const auto y_behind = strided_view(to.data(), {tokens, heads, D});
  expect_none(x_behind, x_behind, behind, 2);
  expect_none(y_behind, x_behind, behind, 2);
  // From one order into the other.
  expect_none(y_behind.swap_axes(0, 2), x, in_rows, 0);
  expect_none(y, x_behind.swap_axes(0, 2), in_rows, 0);
}

TYPED_TEST(AllocationTest, FeaturesOnAnyAxisAskForNone) {
  expect_none_anywhere<TypeParam, TypeParam>();
  expect_none_anywhere<TypeParam, float>();
}

TYPED_TEST(AllocationTest, LongRowsAskForNone) {
  constexpr Index length = 4096;
  const Cache<TypeParam> cache(Frequencies::powers({length}), Positions::range(3, 2));
  std::vector<TypeParam> memory(length * 2, TypeParam(0.5F));
  expect_none(strided_view(memory.data(), {length, 1, 2}),
              strided_view(memory.data(), {length, 1, 2}), cache, 0);
}

TYPED_TEST(AllocationTest, SlicesAndChipsAskForNone) {
  OneToken<TypeParam> one;
  Eigen::Tensor<TypeParam, 4> x(D, heads, 5, 2);
  x.setConstant(TypeParam(0.5F));
  const Eigen::array<Index, 4> first{0, 1, 3, 0}, size{D, 2, 1, 2};
  EXPECT_EQ(allocations_of([&] { rotate_inplace(x.slice(first, size), one.cache, split_half); }),
            0);
  EXPECT_EQ(allocations_of([&] { rotate_inplace(x.chip(2, 2), one.cache, split_half); }), 0);
  EXPECT_EQ(allocations_of([&] {
              rotate_inplace(strided_view(x).slice(2, 4, 1).chip(3, 0), one.cache, split_half);
            }),
            0);
}

/// The table of a move is memory of its own, made before it; the move asks for none.
TYPED_TEST(AllocationTest, MovesAskForTheirTableAlone) {
  const Frequencies frequencies = Frequencies::powers({D});
  const Placement from{frequencies, Positions::range(3, tokens)};
  const Placement to{frequencies, Positions::range(0, tokens)};
  Eigen::Tensor<TypeParam, 3> keys(D, heads, tokens);
  keys.setConstant(TypeParam(0.5F));
  using TableScalar = detail::Widened<TypeParam>;
  const int of_table = allocations_of([&] { (void)rerotation_cache<TableScalar>(from, to); });
  EXPECT_EQ(allocations_of([&] { rerotate(keys, from, to, split_half); }), of_table);
  EXPECT_EQ(allocations_of([&] { rerotate(strided_view(keys), from, to, split_half); }), of_table);
  const Cache<TableScalar> move = rerotation_cache<TableScalar>(from, to);
  EXPECT_EQ(allocations_of([&] { rotate_inplace(keys, move, split_half); }), 0);
}

/// What Eigen asks for to run an empty loop on its threads. Of many runs the least: threads wake
/// up when they like.
template <class Run>
int least_allocations_of(const Run& run) {
  int least = allocations_of(run);
  for (int i = 0; i < 100; ++i) least = std::min(least, allocations_of(run));
  return least;
}

TYPED_TEST(AllocationTest, OnAPoolEigensTasksAskForAll) {
  Eigen::ThreadPool pool(3);
  const Eigen::ThreadPoolDevice threads(&pool, 3);
  const Device device(threads);
  constexpr Index many = 5000;
  std::vector<TypeParam> memory(D * heads * many, TypeParam(0.5F));
  const auto x = strided_view(memory.data(), {D, heads, many});
  const Cache<float> cache(Frequencies::powers({D}), Positions::range(3, many));
  const int of_eigen = least_allocations_of(
      [&] { device.for_range(heads * many, 2 * D * sizeof(TypeParam), [](Index, Index) {}); });
  EXPECT_GT(of_eigen, 0);
  EXPECT_EQ(least_allocations_of([&] {
              rotate_inplace(x, cache, interleaved_to_split_half, Direction::forward, device);
            }),
            of_eigen);
}

}  // namespace
}  // namespace eigen_rope::test
