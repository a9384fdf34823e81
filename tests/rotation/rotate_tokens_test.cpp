// SPDX-License-Identifier: Apache-2.0
//
// Rotation of tokens whose places are listed: the definition's bits in the slot of each token, and
// nothing changed anywhere else.
#define EIGEN_USE_THREADS

#include "eigen_rope/rotation/rotate_tokens.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"
#include "support/scalar_and_entry.hpp"

namespace eigen_rope::test::rotate_tokens_tests {
namespace {

using Random = std::mt19937;

Index drawn(Random& random, Index least, Index most) {
  return std::uniform_int_distribution<Index>(least, most)(random);
}

template <class Scalar>
std::vector<Scalar> drawn_values(Random& random, Index count) {
  std::uniform_real_distribution<float> values(-2, 2);
  std::vector<Scalar> result(static_cast<std::size_t>(count));
  for (Scalar& value : result) value = static_cast<Scalar>(values(random));
  return result;
}

/// Memory of tokens or slots, [D, heads, tokens] in one of the orders that caches have.
template <class Scalar>
struct Tokens {
  std::vector<Scalar> memory;
  StridedView<Scalar> view;

  Tokens(Random& random, Index D, Index heads, Index page, Index pages) {
    const Index gap = drawn(random, 0, 3);
    const Index row = D + gap;
    const bool heads_outside = drawn(random, 0, 1) == 1;
    const Index head = heads_outside ? row * page : row;
    const Index token = heads_outside ? row : row * heads;
    const Index page_step = row * heads * page + gap;
    memory = drawn_values<Scalar>(random, page_step * std::max<Index>(pages, 1) + 8);
    view.data = memory.data() + drawn(random, 0, 8);
    if (pages == 1 && drawn(random, 0, 1) == 1) {
      view.shape = {D, heads, page};
      view.strides = {head, token};
    } else {
      view.shape = {D, heads, page, pages};
      view.strides = {head, token, page_step};
    }
  }

  Scalar* token(Index number, Index head) const {
    const Index page = view.shape[2];
    const Index in_page = number % page * view.strides[1];
    const Index of_page = view.shape.rank() == 4 ? number / page * view.strides[2] : 0;
    return view.data + head * view.strides[0] + in_page + of_page;
  }
};

struct Problem {
  Index D = 0, heads = 0, tokens = 0;
  Pairing pairing = split_half;
  Direction direction = Direction::forward;
};

/// What the definition makes of one row.
template <class Scalar, class Entry>
std::vector<Scalar> rotated(const Scalar* x, const TableView<Entry>& table, Index row,
                            const Problem& problem) {
  TableView<Entry> one = table;
  one.cos += row * table.width;
  one.sin += row * table.width;
  one.outer = Shape{};
  std::vector<Scalar> y(static_cast<std::size_t>(problem.D));
  reference::rotate(x, y.data(), Shape{problem.D}, one, problem.pairing, problem.direction);
  return y;
}

template <class Scalar, class Entry>
void expect_the_definition(unsigned seed, const Device& device) {
  Random random(seed);
  const PairKind kinds[] = {PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                            PairKind::interleaved_to_split_half};
  const Direction directions[] = {Direction::forward, Direction::backward, Direction::inverse};
  Problem problem{};
  const PairKind kind = kinds[drawn(random, 0, 3)];
  const Index dims = 4 * drawn(random, 1, 9);
  problem.D = dims + drawn(random, 0, 3);
  problem.heads = drawn(random, 1, 3);
  problem.tokens = drawn(random, 1, 20);
  problem.pairing =
      Pairing(kind).with_rotary_dims(dims).with_offset(drawn(random, 0, problem.D - dims));
  problem.direction = directions[drawn(random, 0, 2)];
  const Cache<Entry> cache(Frequencies::powers({dims}), Positions::range(3, 50));

  const auto ids = [&] {
    std::vector<std::int32_t> result(static_cast<std::size_t>(problem.tokens));
    const bool follow = drawn(random, 0, 2) == 0;
    for (std::size_t t = 0; t < result.size(); ++t)
      result[t] = static_cast<std::int32_t>(follow ? t + 5 : drawn(random, 0, 49));
    return result;
  }();
  const Index page = drawn(random, 1, 6);
  const Index pages = (problem.tokens + page - 1) / page + drawn(random, 0, 3);
  std::vector<std::int64_t> slots(static_cast<std::size_t>(page * pages));
  std::iota(slots.begin(), slots.end(), 0);
  if (drawn(random, 0, 2) != 0) std::shuffle(slots.begin(), slots.end(), random);
  slots.resize(static_cast<std::size_t>(problem.tokens));
  for (std::int64_t& slot : slots)
    if (drawn(random, 0, 5) == 0) slot = -1;

  Tokens<Scalar> q(random, problem.D, problem.heads + 2, problem.tokens, 1);
  const Tokens<Scalar> k(random, problem.D, problem.heads, problem.tokens, 1);
  Tokens<Scalar> k_pages(random, problem.D, problem.heads, page, pages);
  std::vector<Scalar> expected_q = q.memory;
  std::vector<Scalar> expected_pages = k_pages.memory;
  const auto put = [&](const Tokens<Scalar>& from, Index token, const Tokens<Scalar>& to,
                       Index slot, std::vector<Scalar>& expected) {
    for (Index head = 0; head < from.view.shape[1]; ++head) {
      const auto row = rotated(from.token(token, head), cache.view(),
                               ids[static_cast<std::size_t>(token)], problem);
      std::copy(row.begin(), row.end(),
                expected.begin() + (to.token(slot, head) - to.memory.data()));
    }
  };
  for (Index t = 0; t < problem.tokens; ++t) {
    put(q, t, q, t, expected_q);
    if (slots[static_cast<std::size_t>(t)] >= 0)
      put(k, t, k_pages, slots[static_cast<std::size_t>(t)], expected_pages);
  }

  rotate_tokens({TokenRows{q.view}, TokenRows{k_pages.view, k.view, slots}}, cache, ids,
                problem.pairing, problem.direction, device);
  EXPECT_EQ(bits_of(q.memory.data(), static_cast<Index>(q.memory.size())),
            bits_of(expected_q.data(), static_cast<Index>(expected_q.size())))
      << "q, seed " << seed;
  EXPECT_EQ(bits_of(k_pages.memory.data(), static_cast<Index>(k_pages.memory.size())),
            bits_of(expected_pages.data(), static_cast<Index>(expected_pages.size())))
      << "k, seed " << seed;
}

template <class Types>
class RotateTokens : public testing::Test {};
using AllTypes = testing::Types<ScalarAndEntry<float, float>, ScalarAndEntry<double, double>,
                                ScalarAndEntry<Eigen::half, Eigen::half>,
                                ScalarAndEntry<Eigen::bfloat16, float>>;
TYPED_TEST_SUITE(RotateTokens, AllTypes);

TYPED_TEST(RotateTokens, HasTheBitsOfTheDefinition) {
  for (unsigned seed = 0; seed < 300; ++seed)
    expect_the_definition<typename TypeParam::Scalar, typename TypeParam::Entry>(seed, Device());
}

TYPED_TEST(RotateTokens, HasThemPastTheCaches) {
  set_streaming_threshold(0);
  for (unsigned seed = 330; seed < 530; ++seed)
    expect_the_definition<typename TypeParam::Scalar, typename TypeParam::Entry>(seed, Device());
  reset_streaming_threshold();
}

TYPED_TEST(RotateTokens, HasThemOnAnyNumberOfThreads) {
  for (const int threads : {2, 5}) {
    Eigen::ThreadPool pool(threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    for (unsigned seed = 300; seed < 330; ++seed)
      expect_the_definition<typename TypeParam::Scalar, typename TypeParam::Entry>(seed, device);
  }
}

constexpr Index D = 8, heads = 2, tokens = 5;

/// Tokens of [D, heads, tokens], one behind the other, and as many slots again.
struct OfFloats {
  std::vector<float> x = std::vector<float>(D * heads * tokens, 0.25F);
  std::vector<float> y = std::vector<float>(2 * x.size(), 77);
  StridedView<float> from{x.data(), {D, heads, tokens}, {D, D* heads}};
  StridedView<float> to{y.data(), {D, heads, 2 * tokens}, {D, D* heads}};
  Cache<float> cache{Frequencies::powers({D}), Positions::range(0, 16)};
  std::vector<int> ids = std::vector<int>(tokens, 3);
};

TEST(RotateTokens, FeaturesMayLieApart) {
  OfFloats of;
  std::vector<float> apart(of.x.size());
  const StridedView<float> to{apart.data(), {D, heads, tokens}, {D * tokens, 1}, tokens};
  std::iota(of.x.begin(), of.x.end(), 1.0F);
  const std::vector<int> slots{4, 2, 0, 1, 3};
  of.ids = {9, 4, 4, 0, 15};
  rotate_tokens({TokenRows{to, of.from, slots}}, of.cache, of.ids, interleaved);
  for (std::size_t t = 0; t < tokens; ++t) {
    for (Index h = 0; h < heads; ++h) {
      const auto row =
          rotated(of.x.data() + (static_cast<Index>(t) * heads + h) * D, of.cache.view(), of.ids[t],
                  {D, heads, tokens, interleaved, Direction::forward});
      for (Index d = 0; d < D; ++d) {
        EXPECT_EQ(apart[static_cast<std::size_t>((h * D + d) * tokens + slots[t])],
                  row[static_cast<std::size_t>(d)]);
      }
    }
  }
}

TEST(RotateTokens, ReadsOneRowForAllAndRowByRowWithoutAList) {
  OfFloats of;
  std::vector<float> by_list = of.x;
  std::vector<float> without = of.x;
  const auto in_place = [&](std::vector<float>& x) {
    return TokenRows{StridedView<float>{x.data(), of.from.shape, of.from.strides}};
  };
  const Cache<float> five(Frequencies::powers({D}), Positions::range(2, tokens));
  rotate_tokens({in_place(by_list)}, of.cache, std::vector<int>{2, 3, 4, 5, 6}, split_half);
  rotate_tokens({in_place(without)}, five, {}, split_half);
  EXPECT_EQ(by_list, without);

  by_list = without = of.x;
  const Cache<float> one(Frequencies::powers({D}), Positions::range(3, 1));
  rotate_tokens({in_place(by_list)}, of.cache, of.ids, split_half);
  rotate_tokens({in_place(without)}, one, {}, split_half);
  EXPECT_EQ(by_list, without);
}

// The tokens that have slots lie evenly, forwards or backwards, as those of one run do.
TEST(RotateTokens, TokensWithoutSlotsMayStandBetweenOthers) {
  const std::vector<int> ids{9, 1, 7, 0, 5};
  for (const std::vector<int>& slots :
       {std::vector<int>{2, -1, 5, -1, 8}, std::vector<int>{9, -1, 5, -1, 1},
        std::vector<int>{-1, 4, -1, 3, -1}, std::vector<int>{-1, -1, -1, -1, -1}}) {
    OfFloats of;
    for (std::size_t i = 0; i < of.x.size(); ++i) of.x[i] = static_cast<float>(i % 23) / 4;
    std::vector<float> expected = of.y;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      if (slots[t] < 0) continue;
      TableView<float> row = of.cache.view();
      row.cos += ids[t] * row.width;
      row.sin += ids[t] * row.width;
      row.outer = Shape{};
      reference::rotate(of.x.data() + static_cast<Index>(t) * heads * D,
                        expected.data() + slots[t] * heads * D, Shape{D, heads}, row, split_half);
    }
    rotate_tokens({TokenRows{of.to, of.from, slots}}, of.cache, ids, split_half);
    EXPECT_EQ(of.y, expected);
  }
}

// q, k and v side by side in each token's row: no destination overlaps another tensor.
TEST(RotateTokens, RotatesPartsOfAFusedBufferInPlace) {
  OfFloats of;
  constexpr Index all_heads = 4 + heads + heads;
  std::vector<float> fused(D * all_heads * tokens);
  std::iota(fused.begin(), fused.end(), 1.0F);
  const StridedView<float> q{fused.data(), {D, 4, tokens}, {D, D * all_heads}};
  const StridedView<float> k{fused.data() + 4 * D, {D, heads, tokens}, {D, D * all_heads}};
  std::vector<float> expected = fused;
  for (Index t = 0; t < tokens; ++t) {
    for (Index h = 0; h < 4 + heads; ++h) {
      float* const row = expected.data() + (t * all_heads + h) * D;
      const auto y =
          rotated(row, of.cache.view(), 3, {D, heads, tokens, split_half, Direction::forward});
      std::copy(y.begin(), y.end(), row);
    }
  }
  rotate_tokens({TokenRows{q}, TokenRows{k}}, of.cache, of.ids, split_half);
  EXPECT_EQ(fused, expected);
}

TEST(RotateTokens, DoesNothingWithoutTensorsOrTokens) {
  OfFloats of;
  rotate_tokens(std::initializer_list<TokenRows<float>>{}, of.cache, of.ids, split_half);
  of.from.shape = of.to.shape = {D, heads, 0};
  rotate_tokens({TokenRows{of.to, of.from}}, of.cache, {}, split_half);
  rotate_tokens({TokenRows{of.to, of.from}}, of.cache, std::vector<int>{}, split_half);
  EXPECT_EQ(of.y, std::vector<float>(of.y.size(), 77));
}

}  // namespace
}  // namespace eigen_rope::test::rotate_tokens_tests
