// SPDX-License-Identifier: Apache-2.0
//
// Small runs that tests train on several ranks, and on one beside it: models with and without RoPE,
// with fixed and learned rates; windows that are multiples of no number of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "training_step.hpp"

namespace train_lm {

/// A model, and how its windows lie.
struct Case {
  std::string rope = "default";
  Rates rates = Rates::fixed;
  Index context = 37;  // a multiple of no number of chunks
  Index batch = 5;
};

inline const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {},
      {"default", Rates::fixed, 48, 4},
      {"none", Rates::fixed, 37, 5},
      {"yarn", Rates::learned, 37, 5},
      {"default", Rates::learned, 5, 4},  // some ranks have nothing but padding
  };
  return all;
}

inline RunConfig config_of(const Case& c) {
  RunConfig config;
  config.model = {7, 2, 2, 8, c.rates};
  config.rope.kind = c.rope;
  config.rope.factor = 4.0;
  config.rope.base = 100.0;
  config.context = c.context;
  config.batch = c.batch;
  config.steps = 8;
  config.seed = 11;
  return config;
}

inline std::vector<int> text() {
  std::vector<int> codes;
  for (std::uint64_t i = 0; i < 300; ++i)
    codes.push_back(static_cast<int>(random_bits(5, Stream::windows, i) % 7));
  return codes;
}

/// A run of the training step on some ranks.
template <class S>
struct Curve {
  Curve(const RunConfig& c, const std::vector<int>& codes, Ranks& ranks)
      : config(c),
        pool(1),
        device(&pool, 1),
        profile(1),
        weights(config.model),
        moments(config.model),
        step(config, codes, device, profile, ranks) {
    set_start(weights, config);
  }

  double take(std::int64_t number) { return step.take(number, weights, moments); }

  RunConfig config;
  Eigen::ThreadPool pool;
  const Device device;
  Profile profile;
  Parameters<S> weights;
  AdamMoments<S> moments;
  TrainingStep<S> step;
};

template <class S>
std::string bytes_of(const Parameters<S>& parameters) {
  return {reinterpret_cast<const char*>(parameters.flat().data()),
          static_cast<std::size_t>(parameters.flat().size()) * sizeof(S)};
}

}  // namespace train_lm
