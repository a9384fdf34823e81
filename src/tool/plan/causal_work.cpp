// SPDX-License-Identifier: Apache-2.0
#include "tool/plan/causal_work.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::tool {
namespace {

void require_from_to(const char* name, Index value, Index least, Index most) {
  if (value < least || value > most)
    eigen_rope::detail::fail(
        fmt::format("{} must be a whole number from {} to {}", name, least, most), value);
}

/// Pairs j <= i with i < queries and j < keys.
Index pairs_below(Index queries, Index keys) {
  const Index corner = std::min(queries, keys);
  return corner * (corner + 1) / 2 + (queries - corner) * keys;
}

/// The same with i - window < j.
Index seen_below(Index queries, Index keys, Index window) {
  if (queries <= 0 || keys <= 0) return 0;
  const Index all = pairs_below(queries, keys);
  return window == 0 || queries <= window ? all : all - pairs_below(queries - window, keys);
}

/// Pairs of a chunk of queries and the chunk of keys that begins `distance` chunks before it.
Index chunk_pairs(Index chunk, Index distance, Index window) {
  const Index first = distance * chunk, last = first + chunk;
  return seen_below(last, chunk, window) - seen_below(first, chunk, window);
}

}  // namespace

CausalWork causal_work(Index tokens, Index ranks, Sharding sharding, Index window) {
  require_from_to("the context", tokens, 1, most_context);
  require_from_to("ranks", ranks, 1, most_ranks);
  require_from_to("the window", window, 0, most_context);
  const bool two_chunks = sharding == Sharding::zigzag && ranks > 1;
  const Index chunks = two_chunks ? 2 * ranks : ranks;
  const Index chunk = (tokens + chunks - 1) / chunks;
  // Chunks lie alike, so what two of them have in common depends on their distance alone.
  std::vector<double> at_distance;
  at_distance.reserve(static_cast<std::size_t>(chunks));
  for (Index distance = 0; distance < chunks; ++distance)
    at_distance.push_back(static_cast<double>(chunk_pairs(chunk, distance, window)));
  const auto pairs = [&](Index query_chunk, Index key_chunk) {
    return key_chunk > query_chunk ? 0.0
                                   : at_distance[static_cast<std::size_t>(query_chunk - key_chunk)];
  };
  const auto block_pairs = [&](Index rank, Index of_keys) {
    const double first = pairs(rank, of_keys);
    if (!two_chunks) return first;
    const Index mirror = chunks - 1 - rank, mirror_of_keys = chunks - 1 - of_keys;
    return first + pairs(rank, mirror_of_keys) + pairs(mirror, of_keys) +
           pairs(mirror, mirror_of_keys);
  };
  CausalWork work;
  work.places = two_chunks ? 2 * chunk : chunk;
  std::vector<double> of_rank(static_cast<std::size_t>(ranks), 0.0);
  for (Index step = 0; step < ranks; ++step) {
    double most = 0;
    for (Index rank = 0; rank < ranks; ++rank) {
      const double here = block_pairs(rank, (rank - step + ranks) % ranks);
      of_rank[static_cast<std::size_t>(rank)] += here;
      most = std::max(most, here);
    }
    work.step_pairs.push_back(most);
  }
  for (const double own : of_rank) work.mean_pairs += own / static_cast<double>(ranks);
  work.busiest_pairs = *std::max_element(of_rank.begin(), of_rank.end());
  return work;
}

}  // namespace eigen_rope::tool
