// SPDX-License-Identifier: Apache-2.0
//
// A call of one token that is typed at run time asks for no memory, wherever its table lies.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "eigen_rope/any/any.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test::any_allocation_tests {
namespace {

constexpr Index D = 128, heads = 32;

template <class Scalar>
struct AnyAllocationTest : testing::Test {
  std::vector<Scalar> memory = std::vector<Scalar>(D * heads, Scalar(0.5F));
  std::vector<Scalar> to = memory;
  std::vector<Scalar> entries = std::vector<Scalar>(D, Scalar(0.25F));
  any::ConstTensor x{scalar_type<Scalar>, memory.data(), {1, 1, heads, D}};
  any::Tensor y{scalar_type<Scalar>, to.data(), {1, 1, heads, D}};
  any::Table table{scalar_type<Scalar>, entries.data(), entries.data() + D / 2, {D / 2}};
};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(AnyAllocationTest, Scalars);

TYPED_TEST(AnyAllocationTest, RotationsAskForNone) {
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    EXPECT_EQ(allocations_of([&] {
                any::rotate_to(this->y, this->x, this->table, any::pairing_of("split_half"),
                               direction);
              }),
              0);
  }
  EXPECT_EQ(allocations_of([&] { any::rotate_inplace(this->y, this->table, interleaved); }), 0);
}

TYPED_TEST(AnyAllocationTest, StridesAskForNone) {
  this->x.strides = {0, 0, D, 1};
  this->y.strides = {7, 5 * D * heads, D, 1};
  this->table.shape = {1, 1, heads, D / 2};
  this->table.strides = {1, 1, 0, 1};
  EXPECT_EQ(
      allocations_of([&] { any::rotate_to(this->y, this->x, this->table, split_half.along(3)); }),
      0);
}

/// Into the memory of the last result, of x of the same type.
TYPED_TEST(AnyAllocationTest, GradientsIntoReusedMemoryAskForNone) {
  Gradients<double> d;
  GradientOptions all;
  all.wanted = Wanted::angle | Wanted::log_magnitude | Wanted::table;
  EXPECT_EQ(allocations_of([&] {
              d = any::gradients(this->x, this->y, this->table, split_half, all, std::move(d));
            }),
            0);
  EXPECT_EQ(allocations_of([&] {
              d = any::gradients_to(this->y, this->x, this->y, this->table, interleaved, all,
                                    std::move(d));
            }),
            0);
  std::vector<TypeParam> dcos(D / 2), dsin(D / 2);
  const any::TableMemory of_table{scalar_type<TypeParam>, dcos.data(), dsin.data(), {D / 2}};
  EXPECT_EQ(allocations_of([&] { any::table_gradient(of_table, this->x, this->y, split_half); }),
            0);
}

/// The cosines and sines of pairs in turns.
TYPED_TEST(AnyAllocationTest, TablesWhoseEntriesLieApartAskForNone) {
  this->table.sin = this->entries.data() + 1;
  this->table.strides = {2};
  EXPECT_EQ(allocations_of([&] { any::rotate_to(this->y, this->x, this->table, split_half); }), 0);
}

/// Nor does a device, whether its parallel_for is called or not.
TEST(AnyAllocation, DevicesAskForNone) {
  constexpr Index tokens = 200;
  std::vector<float> x(D * heads * tokens, 0.5F), entries(D, 0.25F);
  const any::Table table{ScalarType::f32, entries.data(), entries.data() + D / 2, {D / 2}};
  int calls = 0;
  const auto parallel_for = [&](Index count, const std::function<void(Index, Index)>& work) {
    ++calls;
    work(0, count);
  };
  const Device device(parallel_for, 4);
  for (const Index rows : {Index{1}, tokens}) {
    const any::Tensor some{ScalarType::f32, x.data(), {rows, heads, D}};
    EXPECT_EQ(allocations_of([&] {
                any::rotate_inplace(some, table, split_half, Direction::forward, device);
              }),
              0);
  }
  EXPECT_EQ(calls, 2);  // of the large tensor
}

}  // namespace
}  // namespace eigen_rope::test::any_allocation_tests
