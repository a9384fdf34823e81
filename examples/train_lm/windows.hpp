// SPDX-License-Identifier: Apache-2.0
//
// Windows of a text as batches: drawn at random for training, in order for evaluation.
//
// Window b of a batch starts at starts[b]; its inputs are text[start .. start + tokens), its
// targets the same moved on by one.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"
#include "transformer.hpp"

namespace train_lm {

inline Batch make_batch(const std::vector<int>& text, const std::vector<Index>& starts,
                        Index tokens) {
  Batch batch;
  batch.tokens = tokens;
  batch.windows = static_cast<Index>(starts.size());
  for (const Index start : starts) {
    const auto first = text.begin() + start;
    batch.inputs.insert(batch.inputs.end(), first, first + tokens);
    batch.targets.insert(batch.targets.end(), first + 1, first + tokens + 1);
  }
  return batch;
}

/// The batch of a training step: a function of seed and step alone. text.size() > tokens.
inline Batch random_batch(const std::vector<int>& text, Index tokens, Index windows,
                          std::uint64_t seed, std::int64_t step) {
  const auto choices = static_cast<std::uint64_t>(text.size()) - static_cast<std::uint64_t>(tokens);
  std::vector<Index> starts;
  for (Index b = 0; b < windows; ++b) {
    const std::uint64_t bits = random_bits(seed, Stream::windows, static_cast<std::uint64_t>(step),
                                           static_cast<std::uint64_t>(b));
    starts.push_back(static_cast<Index>(bits % choices));
  }
  return make_batch(text, starts, tokens);
}

}  // namespace train_lm
