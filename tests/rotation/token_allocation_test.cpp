// SPDX-License-Identifier: Apache-2.0
//
// A rotation of tokens whose places are listed asks for no memory, typed or not.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/rotation/rotate_tokens.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test::token_allocation_tests {
namespace {

constexpr Index D = 16, heads = 2, tokens = 200;

/// Keys of 200 tokens, whose slots are in no order.
struct Keys {
  std::vector<float> k = std::vector<float>(D * heads * tokens, 0.5F);
  std::vector<float> pages = k;
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(tokens, 3);
  std::vector<std::int64_t> slots;
  Cache<float> cache{Frequencies::powers({D}), Positions::range(0, 8)};

  Keys() {
    for (std::int64_t t = 0; t < tokens; ++t) slots.push_back(t * 77 % tokens);
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

TEST(TokenAllocation, ViewsAskForNone) {
  Keys keys;
  const StridedView<const float> from{keys.k.data(), {D, heads, tokens}, {D, D * heads}};
  const StridedView<float> to{keys.pages.data(), from.shape, from.strides};
  EXPECT_EQ(allocations_of([&] {
              rotate_tokens({TokenRows{to, from, keys.slots}}, keys.cache, keys.ids, split_half);
            }),
            0);
}

TEST(TokenAllocation, TypesKnownAtRunTimeAskForNone) {
  Keys keys;
  const any::ConstTensor from{ScalarType::f32, keys.k.data(), {tokens, heads, D}};
  const any::Tensor to{ScalarType::f32, keys.pages.data(), {tokens, heads, D}};
  const any::Table table = any::table_of(keys.cache);
  EXPECT_EQ(allocations_of([&] {
              any::rotate_tokens({{to, from, keys.slots}}, table, keys.ids, split_half);
            }),
            0);
}

}  // namespace
}  // namespace eigen_rope::test::token_allocation_tests
