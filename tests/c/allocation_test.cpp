// SPDX-License-Identifier: Apache-2.0
//
// A rotation of one token through the C interface asks for no memory, wherever its table lies; nor
// does one of a few hundred tokens whose rows and slots are listed.
#include <gtest/gtest.h>

#include <vector>

#include "c/problem.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test::c_allocation_tests {
namespace {

constexpr Index D = 128, heads = 32;

template <class Run>
int allocations_of(const Run& run) {
  run();  // the kernels are chosen once
  const int before = allocations();
  run();
  return allocations() - before;
}

void serial(void* context, std::int64_t count, eigen_rope_work run, void* work) {
  ++*static_cast<int*>(context);
  run(work, 0, count);
}

template <class Scalar>
struct CAllocationTest : testing::Test {
  std::vector<Scalar> memory = std::vector<Scalar>(D * heads, Scalar(0.5F));
  std::vector<Scalar> to = memory;
  std::vector<Scalar> entries = std::vector<Scalar>(D, Scalar(0.25F));
  CTensor x{scalar_type<Scalar>, memory.data(), {1, 1, heads, D}};
  CTensor y{scalar_type<Scalar>, to.data(), {1, 1, heads, D}};
  CTensor cos{scalar_type<Scalar>, entries.data(), {D / 2}};
  CTensor sin{scalar_type<Scalar>, entries.data() + D / 2, {D / 2}};
  eigen_rope_rotation how = c_rotation(EIGEN_ROPE_SPLIT_HALF);

  int rotation() {
    return allocations_of(
        [&] { EXPECT_DONE(eigen_rope_rotate(y.get(), x.get(), cos.get(), sin.get(), &how)); });
  }
};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(CAllocationTest, Scalars);

TYPED_TEST(CAllocationTest, RotationsAskForNone) {
  for (const std::int32_t direction :
       {EIGEN_ROPE_FORWARD, EIGEN_ROPE_BACKWARD, EIGEN_ROPE_INVERSE}) {
    this->how.direction = direction;
    EXPECT_EQ(this->rotation(), 0);
  }
  int calls = 0;
  eigen_rope_device device{};
  device.struct_size = sizeof device;
  device.parallel_for = &serial;
  device.context = &calls;
  device.threads = 8;
  this->how.device = &device;
  EXPECT_EQ(this->rotation(), 0);
  EXPECT_EQ(calls, 0);  // a token is too little for two threads
}

/// Queries in place and keys into slots, by rows that hold cosines and behind them sines.
TYPED_TEST(CAllocationTest, RotationsOfTokensAskForNone) {
  constexpr Index tokens = 200, few = 16;
  std::vector<TypeParam> queries(tokens * few), keys(tokens * few), pages(2 * tokens * few);
  std::vector<TypeParam> rows(300 * few, TypeParam(0.25F));
  std::vector<std::int32_t> ids(tokens, 17);
  std::vector<std::int64_t> slots(tokens);
  for (Index t = 0; t < tokens; ++t) slots[static_cast<std::size_t>(t)] = 2 * (tokens - 1 - t);
  constexpr ScalarType type = scalar_type<TypeParam>;
  const CTensor q(type, queries.data(), {tokens, 2, few / 2}),
      k(type, keys.data(), {tokens, 1, few});
  const CTensor in_pages(type, pages.data(), {2 * tokens / 16, 16, 1, few});
  const CTensor narrow(type, rows.data(), {300, few / 4}, {few, 1});
  const CTensor narrow_sin(type, rows.data() + few / 2, {300, few / 4}, {few, 1});
  const eigen_rope_index_list by = c_list(ids), into = c_list(slots);
  this->how.rotary_dims = few / 2;
  const eigen_rope_token_rows both[] = {c_rows(q), c_rows(in_pages, &k, &into)};
  EXPECT_EQ(allocations_of([&] {
              EXPECT_DONE(eigen_rope_rotate_tokens(both, 2, narrow.get(), narrow_sin.get(), &by,
                                                   &this->how));
            }),
            0);
}

/// The cosines and sines of pairs in turns.
TYPED_TEST(CAllocationTest, TablesWhoseEntriesLieApartAskForNone) {
  const CTensor c(scalar_type<TypeParam>, this->entries.data(), {D / 2}, {2});
  const CTensor s(scalar_type<TypeParam>, this->entries.data() + 1, {D / 2}, {2});
  EXPECT_EQ(
      allocations_of([&] {
        EXPECT_DONE(eigen_rope_rotate(this->y.get(), this->x.get(), c.get(), s.get(), &this->how));
      }),
      0);
}

}  // namespace
}  // namespace eigen_rope::test::c_allocation_tests
