// SPDX-License-Identifier: Apache-2.0
//
// Learned rates stretched to longer windows: each by the ratio the scaling gives the rate it
// started from.
#include "frequencies.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace train_lm {
namespace {

/// Twice the rounding of a float logarithm, whose size is below 10: the rates are relative to this.
constexpr double rounding = 10 * 0x1p-23;

RunConfig learned_run(const char* rope_kind) {
  RunConfig config;
  config.model.vocabulary = 5;
  config.model.layers = 2;
  config.model.heads = 2;
  config.model.dim = 32;
  config.model.rates = Rates::learned;
  config.rope.kind = rope_kind;
  config.rope.factor = 4.0;
  return config;
}

TEST(RunFrequencies, UntrainedRatesStretchAsTheFixedOnes) {
  for (const char* kind : {"default", "linear", "ntk", "yarn"}) {
    const RunConfig learned = learned_run(kind);
    RunConfig fixed = learned;
    fixed.model.rates = Rates::fixed;
    const RunState a(learned);
    const RunState b(fixed);
    for (const Scaling scaling : {Scaling::none, Scaling::linear, Scaling::ntk, Scaling::yarn}) {
      const LayerFrequencies layers = run_frequencies(learned, a.weights, scaling, 2.0);
      const LayerFrequencies shared = run_frequencies(fixed, b.weights, scaling, 2.0);
      ASSERT_EQ(layers.size(), 2U);
      ASSERT_EQ(shared.size(), 1U);
      for (const eigen_rope::Frequencies& layer : layers) {
        EXPECT_DOUBLE_EQ(static_cast<double>(layer.attention_factor()),
                         static_cast<double>(shared[0].attention_factor()));
        for (std::size_t k = 0; k < shared[0].rates().size(); ++k) {
          const auto expected = static_cast<double>(shared[0].rates()[k]);
          EXPECT_NEAR(static_cast<double>(layer.rates()[k]), expected, expected * rounding)
              << kind << ", " << name(scaling) << ", pair " << k;
        }
      }
    }
  }
}

TEST(RunFrequencies, LinearDividesWhatEachLayerLearned) {
  const RunConfig config = learned_run("default");
  RunState state(config);
  state.weights.set_rates(1, {1.5, 0.5, 0.25, 0.125, 0.1, 0.03, 0.02, 0.01});
  const LayerFrequencies trained = run_frequencies(config, state.weights);
  const LayerFrequencies half = run_frequencies(config, state.weights, Scaling::linear, 2.0);
  EXPECT_NEAR(static_cast<double>(trained[1].rates()[0]), 1.5, 1.5 * rounding);
  EXPECT_NEAR(static_cast<double>(trained[0].rates()[0]), 1.0, rounding);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_DOUBLE_EQ(static_cast<double>(half[layer].rates()[k]),
                       static_cast<double>(trained[layer].rates()[k]) / 2);
    }
  }
}

TEST(RunFrequencies, NoneWithoutRope) {
  RunConfig config = learned_run("none");
  config.model.rates = Rates::fixed;
  EXPECT_TRUE(run_frequencies(config, RunState(config).weights).empty());
}

}  // namespace
}  // namespace train_lm
