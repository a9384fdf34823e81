// SPDX-License-Identifier: Apache-2.0
//
// Context parallelism: which tokens a rank holds, where they stand, and that rotating them rank by
// rank gives the bits of the whole rotation.
#include "eigen_rope/choices/context_shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/bits.hpp"

namespace eigen_rope::context_shard_tests {
namespace {

using Tokens = std::vector<Index>;
using Begins = std::vector<std::int64_t>;

constexpr Index most_ranks = 8;
const Sharding shardings[] = {Sharding::contiguous, Sharding::zigzag};

/// As TransformerEngine and Megatron-LM do it: each sequence is padded, viewed as chunks, and the
/// rank's chunks are selected.
Tokens by_definition(const ContextShard& shard, const Begins& cu_seqlens) {
  const bool zigzag = shard.sharding == Sharding::zigzag && shard.ranks > 1;
  const Index chunks = zigzag ? 2 * shard.ranks : shard.ranks;
  Tokens local;
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    Tokens sequence(static_cast<std::size_t>(cu_seqlens[i] - cu_seqlens[i - 1]));
    std::iota(sequence.begin(), sequence.end(), cu_seqlens[i - 1]);
    while (static_cast<Index>(sequence.size()) % chunks != 0) sequence.push_back(-1);
    const auto chunk = static_cast<Index>(sequence.size()) / chunks;
    const auto select = [&](Index c) {
      local.insert(local.end(), sequence.begin() + c * chunk, sequence.begin() + (c + 1) * chunk);
    };
    select(shard.rank);
    if (zigzag) select(2 * shard.ranks - 1 - shard.rank);
  }
  return local;
}

/// Sequences alone and packed; of no token, of one, of lengths that divide into chunks and not.
std::vector<Begins> sequences() {
  std::vector<Begins> all{{0}, {0, 0, 0}, {0, 16, 48}, {0, 0, 1, 4, 20, 37}, {0, 31, 31, 32}};
  for (const std::int64_t length : {0, 1, 2, 3, 7, 8, 15, 16, 33, 48}) all.push_back({0, length});
  return all;
}

/// Calls of(shard) for every number of ranks up to 8, every rank and both shardings.
template <class Call>
void for_all_ranks(const Call& of) {
  for (const Sharding sharding : shardings)
    for (Index ranks = 1; ranks <= most_ranks; ++ranks)
      for (Index rank = 0; rank < ranks; ++rank) of(ContextShard{rank, ranks, sharding});
}

/// Calls of(shard, cu_seqlens) for all of them and all sequences.
template <class Call>
void for_all_shards(const Call& of) {
  for (const Begins& cu_seqlens : sequences())
    for_all_ranks([&](const ContextShard& shard) { of(shard, cu_seqlens); });
}

/// TransformerEngine's own example: pull request 2129 and issue 1368 of its repository.
TEST(ContextShard, IsThatOfTransformerEngine) {
  const ContextShard first{0, 2, Sharding::zigzag}, second{1, 2, Sharding::zigzag};
  EXPECT_EQ(shard_tokens(first, 8), (Tokens{0, 1, 6, 7}));
  EXPECT_EQ(shard_tokens(second, 8), (Tokens{2, 3, 4, 5}));
  // Lengths 4, 8, 6 and 10 are padded to multiples of 4: 4, 8, 8 and 12.
  EXPECT_EQ(shard_tokens(first, {0, 4, 12, 18, 28}),
            (Tokens{0, 3, 4, 5, 10, 11, 12, 13, -1, -1, 18, 19, 20, 27, -1, -1}));
  EXPECT_EQ(shard_tokens(second, {0, 4, 12, 18, 28}),
            (Tokens{1, 2, 6, 7, 8, 9, 14, 15, 16, 17, 21, 22, 23, 24, 25, 26}));
}

TEST(ContextShard, ContiguousChunksFollowTheRanks) {
  EXPECT_EQ(shard_tokens({0, 3, Sharding::contiguous}, 7), (Tokens{0, 1, 2}));
  EXPECT_EQ(shard_tokens({1, 3, Sharding::contiguous}, 7), (Tokens{3, 4, 5}));
  EXPECT_EQ(shard_tokens({2, 3, Sharding::contiguous}, 7), (Tokens{6, -1, -1}));
}

TEST(ContextShard, HasTheChunksOfTheDefinition) {
  for_all_shards([](const ContextShard& shard, const Begins& cu_seqlens) {
    EXPECT_EQ(shard_tokens(shard, cu_seqlens), by_definition(shard, cu_seqlens))
        << shard.rank << " of " << shard.ranks << ", " << name_of(shard.sharding);
  });
}

TEST(ContextShard, EveryTokenIsOnOneRankAndAllRanksHaveEquallyMany) {
  for (const Begins& cu_seqlens : sequences()) {
    for (const Sharding sharding : shardings) {
      for (Index ranks = 1; ranks <= most_ranks; ++ranks) {
        Tokens found;
        const std::size_t places = shard_tokens({0, ranks, sharding}, cu_seqlens).size();
        for (Index rank = 0; rank < ranks; ++rank) {
          const Tokens local = shard_tokens({rank, ranks, sharding}, cu_seqlens);
          EXPECT_EQ(local.size(), places);
          std::copy_if(local.begin(), local.end(), std::back_inserter(found),
                       [](Index token) { return token >= 0; });
        }
        std::sort(found.begin(), found.end());
        Tokens all(static_cast<std::size_t>(cu_seqlens.back()));
        std::iota(all.begin(), all.end(), Index{0});
        EXPECT_EQ(found, all);
      }
    }
  }
}

TEST(ContextShard, OneRankHasEverythingWithoutPadding) {
  for (const Sharding sharding : shardings) {
    EXPECT_EQ(shard_tokens({0, 1, sharding}, {0, 1, 4}), (Tokens{0, 1, 2, 3}));
    EXPECT_EQ(Positions::range(7, 5).shard({0, 1, sharding}), Positions::range(7, 5));
  }
}

TEST(ContextShard, TheDefaultIsOneRankAndZigzag) {
  const ContextShard shard;
  EXPECT_EQ(shard.rank, 0);
  EXPECT_EQ(shard.ranks, 1);
  EXPECT_EQ(shard.sharding, Sharding::zigzag);
}

TEST(ContextShard, ShardingsHaveNames) {
  EXPECT_STREQ(name_of(Sharding::contiguous), "contiguous");
  EXPECT_STREQ(name_of(Sharding::zigzag), "zigzag");
}

/// Positions of `tokens` tokens, of every kind that there is.
std::vector<Positions> kinds(const Begins& cu_seqlens) {
  const Index tokens = cu_seqlens.back();
  const auto number = [](Index i) { return static_cast<double>((i * 7919) % 5000) - 1000.25; };
  std::vector<double> fractions, batches, axes;
  for (Index i = 0; i < tokens; ++i) fractions.push_back(number(i));
  for (Index i = 0; i < 3 * tokens; ++i) batches.push_back(number(i + 11));
  for (Index i = 0; i < 6 * tokens; ++i) axes.push_back(number(i + 23));
  Begins starts;
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i)
    starts.push_back(100000 * static_cast<std::int64_t>(i) - 200000);
  return {Positions::range(-5, tokens),
          Positions::packed(cu_seqlens),
          Positions::packed(cu_seqlens, starts),
          Positions::ids(fractions),
          Positions::per_batch(batches, Batches{3}),
          Positions::multi_axis(axes, Sections(SectionPattern::contiguous, {2, 1}), Batches{3})};
}

TEST(ContextShard, TokensKeepTheirPositionsAndPaddingStandsAtZero) {
  for_all_shards([](const ContextShard& shard, const Begins& cu_seqlens) {
    const Tokens tokens = shard_tokens(shard, cu_seqlens);
    for (const Positions& whole : kinds(cu_seqlens)) {
      const Positions local = whole.shard(shard, cu_seqlens);
      ASSERT_EQ(local.tokens(), static_cast<Index>(tokens.size()));
      ASSERT_EQ(local.batches(), whole.batches());
      ASSERT_EQ(local.axes(), whole.axes());
      for (Index pair = 0; pair < 6; ++pair) ASSERT_EQ(local.axis(pair), whole.axis(pair));
      for (int axis = 0; axis < whole.axes(); ++axis) {
        for (Index batch = 0; batch < whole.batches(); ++batch) {
          for (std::size_t i = 0; i < tokens.size(); ++i) {
            ASSERT_EQ(local.at(axis, batch, static_cast<Index>(i)),
                      tokens[i] < 0 ? DoubleDouble(0) : whole.at(axis, batch, tokens[i]));
          }
        }
      }
    }
  });
}

TEST(ContextShard, WithoutSequencesAllTokensAreOne) {
  const Positions packed = Positions::packed({0, 3, 8});
  const ContextShard shard{1, 2, Sharding::zigzag};
  EXPECT_EQ(packed.shard(shard), packed.shard(shard, {0, 8}));
  EXPECT_EQ(packed.shard(shard), Positions::ids({2, 0, 1, 2}));
}

TEST(ContextShard, ThereMayBeNoBatches) {
  const Positions none = Positions::per_batch({}, Batches{0});
  EXPECT_EQ(none.shard({1, 2, Sharding::zigzag}), none);
  const Positions no_tokens = Positions::per_batch({}, Batches{Index{1} << 62});
  EXPECT_EQ(no_tokens.shard({1, 2, Sharding::zigzag}), no_tokens);
}

template <class Scalar>
class ContextShardBits : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ContextShardBits, Scalars);

/// Rows [D, heads, tokens, batches], dense.
template <class Scalar>
struct Rows {
  static constexpr Index D = 10, heads = 2;
  Rows(Index tokens, Index batches)
      : shape{D, heads, tokens, batches},
        strides{D, D * heads, D * heads * tokens},
        values(static_cast<std::size_t>(shape.size())) {}
  Scalar* token(Index s, Index b) {
    return values.data() + static_cast<std::size_t>(b * strides[2] + s * strides[1]);
  }
  void rotate(const Positions& positions) {
    const Cache<Scalar> cache(Frequencies::powers({6}), positions);
    rotate_inplace(StridedView<Scalar>{values.data(), shape, strides}, cache,
                   split_half.with_rotary_dims(6).with_offset(2));
  }
  Shape shape;
  Strides strides;
  std::vector<Scalar> values;
};

TYPED_TEST(ContextShardBits, RotatingRankByRankIsTheWholeRotation) {
  using Scalar = TypeParam;
  constexpr Index size = Rows<Scalar>::D * Rows<Scalar>::heads;
  const auto expect_bits_of_whole = [](const ContextShard& shard, const Begins& cu_seqlens,
                                       const Positions& positions, Rows<Scalar>& x,
                                       Rows<Scalar>& y) {
    const Tokens tokens = shard_tokens(shard, cu_seqlens);
    Rows<Scalar> local(static_cast<Index>(tokens.size()), positions.batches());
    const auto for_all_rows = [&](Rows<Scalar>& whole, const auto& of) {
      for (Index b = 0; b < positions.batches(); ++b)
        for (std::size_t i = 0; i < tokens.size(); ++i)
          of(local.token(static_cast<Index>(i), b),
             tokens[i] < 0 ? nullptr : whole.token(tokens[i], b));
    };
    for_all_rows(x, [](Scalar* row, const Scalar* of_x) {
      if (of_x != nullptr) {
        std::copy_n(of_x, size, row);
      } else {
        std::fill_n(row, size, Scalar(3));
      }
    });
    local.rotate(positions.shard(shard, cu_seqlens));
    for_all_rows(y, [](const Scalar* row, const Scalar* of_y) {
      if (of_y != nullptr) {
        ASSERT_EQ(test::bits_of(row, size), test::bits_of(of_y, size));
      } else {
        ASSERT_TRUE(std::all_of(row, row + size, [](Scalar value) { return value == Scalar(3); }))
            << "padding turns";
      }
    });
  };
  for (const Begins& cu_seqlens : sequences()) {
    for (const Positions& positions : kinds(cu_seqlens)) {
      Rows<Scalar> x(cu_seqlens.back(), positions.batches());
      for (std::size_t i = 0; i < x.values.size(); ++i)
        x.values[i] = static_cast<Scalar>(1 + i % 97) / 64;
      Rows<Scalar> y = x;
      y.rotate(positions);
      for_all_ranks([&](const ContextShard& shard) {
        expect_bits_of_whole(shard, cu_seqlens, positions, x, y);
      });
    }
  }
}

}  // namespace
}  // namespace eigen_rope::context_shard_tests
