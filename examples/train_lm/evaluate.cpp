// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windows.hpp"

namespace train_lm {
namespace {

/// Characters evaluated at a time, about.
constexpr Index tokens_per_batch = 2048;

}  // namespace

template <class Visit>
void Evaluator::for_each_character(const Parameters<float>& weights,
                                   const LayerFrequencies& frequencies,
                                   const std::vector<int>& text, const std::vector<Index>& starts,
                                   Index length, const Visit& visit) {
  std::vector<Index> whole;
  if (ring_ == nullptr) {
    whole.resize(static_cast<std::size_t>(length));
    std::iota(whole.begin(), whole.end(), Index{0});
  }
  const std::vector<Index>& tokens = ring_ == nullptr ? whole : ring_->tokens();
  const Rotations<float> rotations(
      frequencies, ring_ == nullptr ? eigen_rope::Positions::range(0, length) : ring_->positions());
  const std::size_t windows =
      static_cast<std::size_t>(std::max<Index>(1, tokens_per_batch / length));
  for (std::size_t first = 0; first < starts.size(); first += windows) {
    const std::vector<Index> some(
        starts.begin() + static_cast<Index>(first),
        starts.begin() + static_cast<Index>(std::min(starts.size(), first + windows)));
    const Batch batch = make_batch(text, some, tokens);
    const std::vector<double>& losses = model_.losses(weights, batch, rotations);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const Index token = tokens[i % tokens.size()];
      if (token >= 0) visit(some[i / tokens.size()], token, losses[i] / nats_per_bit);
    }
  }
}

double Evaluator::validation_bits(const Parameters<float>& weights,
                                  const LayerFrequencies& frequencies, const std::vector<int>& text,
                                  Index context, Ranks& ranks) {
  const auto targets = static_cast<Index>(text.size()) - 1;
  std::vector<Index> starts;
  for (Index start = 0; start + context <= targets; start += context) starts.push_back(start);
  const Index counted = static_cast<Index>(starts.size()) * context;
  if (counted < targets) starts.push_back(targets - context);
  const Range share =
      share_of(static_cast<Index>(starts.size()), ranks.data_rank(), ranks.grid().data);
  starts = {starts.begin() + share.begin, starts.begin() + share.end};
  double sum = 0;
  for_each_character(weights, frequencies, text, starts, context,
                     [&](Index start, Index position, double bits) {
                       if (start % context == 0 || start + position >= counted) sum += bits;
                     });
  return ranks.sum(sum) / static_cast<double>(targets);
}

std::vector<double> Evaluator::bits_by_position(const Parameters<float>& weights,
                                                const LayerFrequencies& frequencies,
                                                const std::vector<int>& text, Index length,
                                                Index stride) {
  std::vector<Index> starts;
  for (Index i = 0; i < window_count(text.size(), length, stride); ++i)
    starts.push_back(i * stride);
  std::vector<double> sums(static_cast<std::size_t>(length), 0.0);
  for_each_character(weights, frequencies, text, starts, length,
                     [&](Index, Index position, double bits) {
                       sums[static_cast<std::size_t>(position)] += bits;
                     });
  for (double& sum : sums) sum /= static_cast<double>(starts.size());
  return sums;
}

std::vector<int> Evaluator::sample(const Parameters<float>& weights,
                                   const LayerFrequencies& frequencies, std::vector<int> prompt,
                                   Index count, Index context, double temperature,
                                   std::uint64_t seed) {
  const std::size_t prompt_size = prompt.size();
  for (Index i = 0; i < count; ++i) {
    const Index tokens = std::min<Index>(context, static_cast<Index>(prompt.size()));
    Batch batch;
    batch.tokens = tokens;
    batch.windows = 1;
    batch.inputs.assign(prompt.end() - tokens, prompt.end());
    const Rotations<float> rotations(frequencies, eigen_rope::Positions::range(0, tokens));
    const Eigen::ArrayXf logits = model_.next_logits(weights, batch, rotations);
    const Eigen::ArrayXd odds = ((logits - logits.maxCoeff()).cast<double>() / temperature).exp();
    double left =
        to_uniform(random_bits(seed, Stream::sampling, static_cast<std::uint64_t>(i))) * odds.sum();
    int code = 0;
    while (code + 1 < config_.vocabulary && left >= odds(code)) left -= odds(code++);
    prompt.push_back(code);
  }
  return {prompt.begin() + static_cast<Index>(prompt_size), prompt.end()};
}

Index window_count(std::size_t text_size, Index length, Index stride) {
  const Index room = static_cast<Index>(text_size) - 1 - length;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace train_lm
