// SPDX-License-Identifier: Apache-2.0
//
// Windows of a text as batches: drawn at random for training, in order for evaluation.
//
// Window b of a batch starts at starts[b]; its inputs are text[start .. start + tokens), its
// targets the same moved on by one. Of a window that ranks share, a rank has the tokens of its
// places, and padding is character 0 without a target.
#pragma once

#include <cstdint>
#include <vector>

#include "cross_entropy.hpp"
#include "random.hpp"
#include "threads.hpp"
#include "transformer.hpp"

namespace train_lm {

/// Which windows of a batch a rank has, and which tokens of each. No places: all tokens.
struct BatchPart {
  Range windows;
  std::vector<Index> places;  ///< the token at each; -1 for padding
};

inline void append_shard(const std::vector<int>& text, Index start,
                         const std::vector<Index>& places, Batch& batch) {
  for (const Index token : places) {
    const auto at = static_cast<std::size_t>(start + token);
    batch.inputs.push_back(token < 0 ? 0 : text[at]);
    batch.targets.push_back(token < 0 ? no_target : text[at + 1]);
  }
  ++batch.windows;
}

inline void append_window(const std::vector<int>& text, Index start, Batch& batch) {
  const auto first = text.begin() + start;
  batch.inputs.insert(batch.inputs.end(), first, first + batch.tokens);
  batch.targets.insert(batch.targets.end(), first + 1, first + batch.tokens + 1);
  ++batch.windows;
}

/// The tokens of `places`, of windows at `starts`.
inline Batch make_batch(const std::vector<int>& text, const std::vector<Index>& starts,
                        const std::vector<Index>& places) {
  Batch batch;
  batch.tokens = static_cast<Index>(places.size());
  for (const Index start : starts) append_shard(text, start, places, batch);
  return batch;
}

inline Batch make_batch(const std::vector<int>& text, const std::vector<Index>& starts,
                        Index tokens) {
  Batch batch;
  batch.tokens = tokens;
  for (const Index start : starts) append_window(text, start, batch);
  return batch;
}

/// Sets `batch` to a part of that of a training step: a function of seed and step alone, so all
/// ranks draw from the same windows. text.size() > tokens. Allocates nothing where the batch held
/// one of these sizes before.
inline void draw_batch(const std::vector<int>& text, Index tokens, const BatchPart& part,
                       std::uint64_t seed, std::int64_t step, Batch& batch) {
  const auto choices = static_cast<std::uint64_t>(text.size()) - static_cast<std::uint64_t>(tokens);
  const bool whole = part.places.empty();
  batch.tokens = whole ? tokens : static_cast<Index>(part.places.size());
  batch.windows = 0;
  batch.inputs.clear();
  batch.targets.clear();
  for (Index b = part.windows.begin; b < part.windows.end; ++b) {
    const std::uint64_t bits = random_bits(seed, Stream::windows, static_cast<std::uint64_t>(step),
                                           static_cast<std::uint64_t>(b));
    const auto start = static_cast<Index>(bits % choices);
    if (whole)
      append_window(text, start, batch);
    else
      append_shard(text, start, part.places, batch);
  }
}

/// The same, all of the batch.
inline void draw_batch(const std::vector<int>& text, Index tokens, Index windows,
                       std::uint64_t seed, std::int64_t step, Batch& batch) {
  draw_batch(text, tokens, BatchPart{{0, windows}, {}}, seed, step, batch);
}

}  // namespace train_lm
