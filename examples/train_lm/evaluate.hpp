// SPDX-License-Identifier: Apache-2.0
//
// What a trained model is worth on a text it has not seen, and what it writes.
//
//   validation_bits    mean over every target of the text but the first, in windows side by side;
//                      the last window overlaps the one
//                      before it and only its new targets count, so the targets are those of the
//       baselines (baselines.hpp)
//   bits_by_position   mean per position in windows of a given length, started every `stride`
//                      characters
//   sample             characters drawn from softmax(logits / temperature), the context sliding
//                      along
//
// All figures are bits per character. Nothing is fine-tuned here: weights are read only. Where
// ranks share the work, each has some of the windows, or its shard of them.
#pragma once

#include <cstdint>
#include <vector>

#include "parameters.hpp"
#include "tensor.hpp"
#include "transformer.hpp"

namespace train_lm {

/// Evaluates float models of one shape.
class Evaluator {
 public:
  Evaluator(const ModelConfig& config, const Device& device, ContextRing* ring = nullptr)
      : config_(config),
        ring_(ring),
        unprofiled_(device.numThreads()),
        model_(config, device, unprofiled_, ring) {}

  /// All ranks call it and get the same. With a ring, `context` is that of the ring.
  double validation_bits(const Parameters<float>& weights, const LayerFrequencies& frequencies,
                         const std::vector<int>& text, Index context, Ranks& ranks);

  /// One mean per position, `length` of them. text.size() > length.
  std::vector<double> bits_by_position(const Parameters<float>& weights,
                                       const LayerFrequencies& frequencies,
                                       const std::vector<int>& text, Index length, Index stride);

  /// `count` codes that follow `prompt` (not empty); the model sees at most `context` of what came
  /// before each.
  std::vector<int> sample(const Parameters<float>& weights, const LayerFrequencies& frequencies,
                          std::vector<int> prompt, Index count, Index context, double temperature,
                          std::uint64_t seed);

 private:
  /// Calls visit(start, position, bits) for every character of every window that this rank has.
  template <class Visit>
  void for_each_character(const Parameters<float>& weights, const LayerFrequencies& frequencies,
                          const std::vector<int>& text, const std::vector<Index>& starts,
                          Index length, const Visit& visit);

  ModelConfig config_;
  ContextRing* ring_;
  Profile unprofiled_;
  Transformer<float> model_;
};

/// The number of windows bits_by_position() averages over.
Index window_count(std::size_t text_size, Index length, Index stride);

}  // namespace train_lm
