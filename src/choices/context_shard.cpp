// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/context_shard.hpp"

#include <fmt/core.h>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

/// How many chunks of a sequence each rank has.
Index chunks_of_a_rank(const ContextShard& shard) {
  return shard.sharding == Sharding::zigzag && shard.ranks > 1 ? 2 : 1;
}

void require_shard(const ContextShard& shard) {
  if (shard.ranks < 1)
    detail::fail("ranks must be at least 1", static_cast<std::int64_t>(shard.ranks));
  if (shard.rank < 0 || shard.rank >= shard.ranks) {
    detail::fail(
        fmt::format("rank must be 0 or more and less than the number of ranks ({})", shard.ranks),
        static_cast<std::int64_t>(shard.rank));
  }
  if (shard.sharding != Sharding::contiguous && shard.sharding != Sharding::zigzag) {
    detail::fail("sharding must be contiguous or zigzag",
                 static_cast<std::int64_t>(shard.sharding));
  }
}

}  // namespace

void detail::require_cu_seqlens(const std::vector<std::int64_t>& cu_seqlens) {
  if (cu_seqlens.empty()) fail("cu_seqlens must begin with 0", "an empty list");
  if (cu_seqlens.front() != 0) fail("cu_seqlens must begin with 0", cu_seqlens.front());
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    if (cu_seqlens[i] < cu_seqlens[i - 1]) {
      fail("cu_seqlens must not decrease",
           fmt::format("{} behind {}", cu_seqlens[i], cu_seqlens[i - 1]));
    }
  }
}

const char* name_of(Sharding sharding) {
  return sharding == Sharding::contiguous ? "contiguous" : "zigzag";
}

std::vector<Index> shard_tokens(const ContextShard& shard,
                                const NumberList<std::int64_t>& cu_seqlens) {
  require_shard(shard);
  const std::vector<std::int64_t>& begins = cu_seqlens.values();
  detail::require_cu_seqlens(begins);
  const Index of_a_rank = chunks_of_a_rank(shard);
  const Index chunks = detail::checked_product("the number of chunks", shard.ranks, of_a_rank);
  // Twice as many, so that no sum of padded lengths passes 64 bits.
  detail::checked_product("twice the number of bytes of all tokens", begins.back(),
                          2 * sizeof(Index));
  const auto chunk_of = [&](std::size_t i) {
    const Index length = begins[i + 1] - begins[i];
    return length / chunks + (length % chunks != 0 ? 1 : 0);
  };
  Index places = 0;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) places += of_a_rank * chunk_of(i);
  std::vector<Index> tokens;
  tokens.reserve(static_cast<std::size_t>(places));
  const Index dealt[] = {shard.rank, chunks - 1 - shard.rank};
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const Index chunk = chunk_of(i);
    for (Index k = 0; k < of_a_rank; ++k) {
      const Index first = begins[i] + dealt[k] * chunk;
      for (Index token = first; token < first + chunk; ++token)
        tokens.push_back(token < begins[i + 1] ? token : -1);
    }
  }
  return tokens;
}

std::vector<Index> shard_tokens(const ContextShard& shard, Index tokens) {
  if (tokens < 0) detail::fail("tokens must not be negative", static_cast<std::int64_t>(tokens));
  return shard_tokens(shard, {Index{0}, tokens});
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
