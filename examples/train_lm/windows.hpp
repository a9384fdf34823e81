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

inline void append_window(const std::vector<int>& text, Index start, Batch& batch) {
  const auto first = text.begin() + start;
  batch.inputs.insert(batch.inputs.end(), first, first + batch.tokens);
  batch.targets.insert(batch.targets.end(), first + 1, first + batch.tokens + 1);
  ++batch.windows;
}

inline Batch make_batch(const std::vector<int>& text, const std::vector<Index>& starts,
                        Index tokens) {
  Batch batch;
  batch.tokens = tokens;
  for (const Index start : starts) append_window(text, start, batch);
  return batch;
}

/// Sets `batch` to that of a training step: a function of seed and step alone. text.size() >
/// tokens. Allocates nothing where the batch held one of these sizes before.
inline void draw_batch(const std::vector<int>& text, Index tokens, Index windows,
                       std::uint64_t seed, std::int64_t step, Batch& batch) {
  const auto choices = static_cast<std::uint64_t>(text.size()) - static_cast<std::uint64_t>(tokens);
  batch.tokens = tokens;
  batch.windows = 0;
  batch.inputs.clear();
  batch.targets.clear();
  for (Index b = 0; b < windows; ++b) {
    const std::uint64_t bits = random_bits(seed, Stream::windows, static_cast<std::uint64_t>(step),
                                           static_cast<std::uint64_t>(b));
    append_window(text, static_cast<Index>(bits % choices), batch);
  }
}

}  // namespace train_lm
