// SPDX-License-Identifier: Apache-2.0
//
// Lists of slots and rows, and whether two views may share memory: against an inspection of every
// element.
#include "eigen_rope/rows/detail/token_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "support/error_of.hpp"

namespace eigen_rope::test::token_places_tests {
namespace {

using Random = std::mt19937;
using View = StridedView<const float>;

Index drawn(Random& random, Index least, Index most) {
  return std::uniform_int_distribution<Index>(least, most)(random);
}

/// The places of all elements of a view.
std::vector<const float*> elements_of(const View& view) {
  std::vector<const float*> places{view.data};
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    const Index stride =
        axis == 0 ? view.feature_stride : view.strides[static_cast<std::size_t>(axis - 1)];
    std::vector<const float*> more;
    for (const float* place : places)
      for (Index i = 0; i < view.shape[axis]; ++i) more.push_back(place + i * stride);
    places = more;
  }
  std::sort(places.begin(), places.end());
  return places;
}

bool share(const View& a, const View& b) {
  std::vector<const float*> both;
  const auto of_a = elements_of(a);
  const auto of_b = elements_of(b);
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                        std::back_inserter(both));
  return !both.empty();
}

View drawn_view(Random& random, const std::vector<float>& memory) {
  const Index signs[] = {1, 1, 1, -1};
  View view;
  view.shape = {drawn(random, 1, 4), drawn(random, 1, 3), drawn(random, 1, 4)};
  view.feature_stride = signs[drawn(random, 0, 3)] * drawn(random, 1, 3);
  view.strides = {
      signs[drawn(random, 0, 3)] * drawn(random, 0, 20),
      signs[drawn(random, 0, 3)] * (drawn(random, 0, 1) == 0 ? 24 : drawn(random, 0, 60))};
  view.data = memory.data() + drawn(random, 200, 260);
  return view;
}

TEST(MayShare, NeverDeniesASharedElement) {
  const std::vector<float> memory(600);
  Random random(1);
  int apart = 0;
  for (int round = 0; round < 20000; ++round) {
    const View a = drawn_view(random, memory);
    const View b = drawn_view(random, memory);
    const bool said = may_share(detail::footprint_of(a), detail::footprint_of(b));
    EXPECT_EQ(said, may_share(detail::footprint_of(b), detail::footprint_of(a)));
    if (share(a, b)) {
      ASSERT_TRUE(said) << "round " << round;
    } else if (!said) {
      ++apart;
    }
  }
  EXPECT_GT(apart, 5000);
}

TEST(MayShare, TellsPartsOfARowApart) {
  const std::vector<float> memory(1024);
  constexpr Index D = 4, all = 8, tokens = 5;
  for (Index q_heads = 1; q_heads < all; ++q_heads) {
    const View q{memory.data(), {D, q_heads, tokens}, {D, D * all}};
    const View k{memory.data() + q_heads * D, {D, all - q_heads, tokens}, {D, D * all}};
    EXPECT_FALSE(may_share(detail::footprint_of(q), detail::footprint_of(k)));
    View wider = q;
    wider.shape = {D, q_heads + 1, tokens};
    EXPECT_TRUE(may_share(detail::footprint_of(wider), detail::footprint_of(k)));
    // Heads outside tokens: [D, tokens, heads, batch].
    const View batched{memory.data(), {D, q_heads, tokens, 2}, {D * tokens, D, D * tokens * all}};
    const View beside{memory.data() + q_heads * D * tokens,
                      {D, all - q_heads, tokens, 2},
                      {D * tokens, D, D * tokens * all}};
    EXPECT_FALSE(may_share(detail::footprint_of(batched), detail::footprint_of(beside)));
  }
}

TEST(CheckSlots, TakesWhatDiffers) {
  Random random(2);
  for (const std::size_t count : {1U, 2U, 9U, 255U, 257U, 5000U}) {
    std::vector<std::int32_t> slots(2 * count);
    std::iota(slots.begin(), slots.end(), 0);
    std::shuffle(slots.begin(), slots.end(), random);
    slots.resize(count);
    const auto number = static_cast<Index>(count);
    detail::check_slots(slots, number, 2 * number);
    if (count < 3) continue;
    slots[1] = slots[count / 2] = -1;
    detail::check_slots(slots, number, 2 * number);
    slots[count - 1] = slots[0];
    EXPECT_EQ(test::error_of([&] { detail::check_slots(slots, number, 2 * number); }),
              "[rope] slots must differ: slots[" + std::to_string(count - 1) +
                  "] must not repeat slots[0], got " + std::to_string(slots[0]));
  }
}

// Slots of one hash: they differ all the same.
TEST(CheckSlots, TakesWhatIsFarApart) {
  std::vector<std::int64_t> slots;
  for (std::int64_t i = 0; i < 300; ++i) slots.push_back((300 - i) << 40);
  detail::check_slots(slots, 300, Index{1} << 50);
}

}  // namespace
}  // namespace eigen_rope::test::token_places_tests
