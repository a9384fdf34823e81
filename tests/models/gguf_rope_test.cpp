// SPDX-License-Identifier: Apache-2.0
//
// What the keys and tensors of GGUF files mean, for one family of models after another. Expected
// rates and magnitudes are formed here from the published formulas, in plain double.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "eigen_rope/models/gguf.hpp"
#include "support/gguf_writer.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::test::gguf_rope_tests {
namespace {

using models::LayerRope;
using models::ModelRope;
using models::Strictness;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// pow, exp and log, and their few products, each good to an ulp or so.
constexpr double kTolerance = 64 * 2.220446049250313e-16;

ModelRope read(const GgufWriter& writer, Strictness strictness = Strictness::strict) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "model.gguf";
  writer.save(path);
  return models::read_gguf(path, strictness);
}

/// The keys every model has: 4 layers, 8 heads, 2 key heads, 1024 wide, context 4096.
GgufWriter model(const std::string& architecture, std::uint32_t rotary_dims, float base) {
  GgufWriter w;
  w.text("general.architecture", architecture)
      .uint32(architecture + ".context_length", 4096)
      .uint32(architecture + ".block_count", 4);
  w.uint32(architecture + ".embedding_length", 1024)
      .uint32(architecture + ".attention.head_count", 8);
  w.uint32(architecture + ".attention.head_count_kv", 2);
  w.uint32(architecture + ".rope.dimension_count", rotary_dims)
      .float32(architecture + ".rope.freq_base", base);
  return w;
}

std::vector<double> rates(const Frequencies& frequencies) {
  std::vector<double> result;
  for (const DoubleDouble& rate : frequencies.rates()) result.push_back(rate.high);
  return result;
}

double power(double base, Index pair, Index dims) {
  return std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(dims));
}

/// Asserts rate_k = formula(k).
template <class Formula>
void expect_rates(const Frequencies& frequencies, Formula formula) {
  const std::vector<double> got = rates(frequencies);
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double expected = formula(static_cast<Index>(k));
    EXPECT_NEAR(got[k], expected, kTolerance * std::abs(expected)) << "pair " << k;
  }
}

void expect_pairing(const LayerRope& layer, PairKind kind, Index rotary_dims, Index offset) {
  ASSERT_TRUE(layer.pairing);
  EXPECT_EQ(layer.pairing->kind(), kind);
  EXPECT_EQ(layer.pairing->rotary_dims(layer.head_dims), rotary_dims);
  EXPECT_EQ(layer.pairing->offset(), offset);
}

TEST(GgufRope, LlamaRotatesAdjacentPairsByPowers) {
  const ModelRope got = read(model("llama", 128, 500000.0F));
  EXPECT_EQ(got.architecture, "llama");
  EXPECT_EQ(got.context, 4096);
  EXPECT_EQ(got.layer_count, 4);
  EXPECT_EQ(got.heads, 8);
  EXPECT_EQ(got.key_heads, 2);
  EXPECT_THAT(got.warnings, IsEmpty());
  ASSERT_THAT(got.layers, SizeIs(1));
  const LayerRope& layer = got.layers[0];
  EXPECT_EQ(layer.layer_type, "");
  EXPECT_THAT(layer.layers, IsEmpty());
  EXPECT_EQ(layer.head_dims, 128);
  EXPECT_EQ(layer.softmax_multiplier, 1.0);
  EXPECT_FALSE(layer.sections);
  expect_pairing(layer, PairKind::interleaved, 128, 0);
  expect_rates(layer.frequencies(), [](Index k) { return power(500000.0, k, 128); });
  EXPECT_EQ(layer.frequencies().attention_factor().high, 1.0);
}

TEST(GgufRope, WhatLlamaCppFillsInIsAWarning) {
  GgufWriter w;
  w.text("general.architecture", "llama")
      .uint32("llama.context_length", 2048)
      .uint32("llama.embedding_length", 256);
  w.uint32("llama.attention.head_count", 4);
  const ModelRope got = read(w);
  EXPECT_EQ(got.key_heads, 4);
  EXPECT_EQ(got.layers[0].powers.rotary_dims, 64);
  EXPECT_EQ(got.layers[0].powers.base, 10000.0);
  EXPECT_THAT(
      got.warnings,
      ElementsAre(
          "metadata key \"llama.rope.dimension_count\" is missing: all 64 elements of a row are "
          "taken to rotate",
          "metadata key \"llama.rope.freq_base\" is missing: the base is taken to be 10000"));
}

TEST(GgufRope, FrequencyFactorsDivide) {
  GgufWriter w = model("llama", 8, 10000.0F);
  w.uint32("llama.attention.key_length", 8)
      .tensor("rope_freqs.weight", {4}, 0, w.floats({1.0F, 2.5F, 8.0F, 32.0F}));
  const ModelRope single = read(w);
  const double factors[] = {1.0, 2.5, 8.0, 32.0};
  expect_rates(single.layers[0].frequencies(),
               [&](Index k) { return power(10000.0, k, 8) / factors[k]; });

  GgufWriter half_floats = model("llama", 8, 10000.0F);
  half_floats.uint32("llama.attention.key_length", 8);
  half_floats.tensor("rope_freqs.weight", {4}, 1,
                     half_floats.halves({0x3C00, 0x4100, 0x4800, 0x5000}));
  EXPECT_EQ(rates(read(half_floats).layers[0].frequencies()),
            rates(single.layers[0].frequencies()));
}

TEST(GgufRope, LinearScalingUnderBothNames) {
  GgufWriter w = model("llama", 128, 10000.0F);
  w.text("llama.rope.scaling.type", "linear").float32("llama.rope.scaling.factor", 4.0F);
  const ModelRope got = read(w);
  EXPECT_STREQ(scaling_name(got.layers[0].scaling), "linear");
  EXPECT_THAT(got.warnings, IsEmpty());
  expect_rates(got.layers[0].frequencies(), [](Index k) { return power(10000.0, k, 128) / 4; });

  GgufWriter older = model("llama", 128, 10000.0F);
  older.float32("llama.rope.scale_linear", 4.0F);
  const ModelRope same = read(older);
  EXPECT_EQ(rates(same.layers[0].frequencies()), rates(got.layers[0].frequencies()));
  EXPECT_THAT(same.warnings, ElementsAre(HasSubstr("older name")));

  GgufWriter none = model("llama", 128, 10000.0F);
  none.text("llama.rope.scaling.type", "none").float32("llama.rope.scaling.factor", 4.0F);
  const ModelRope unscaled = read(none);
  EXPECT_STREQ(scaling_name(unscaled.layers[0].scaling), "default");
  EXPECT_THAT(unscaled.warnings, ElementsAre(HasSubstr("it is not applied")));
}

TEST(GgufRope, Phi3HasLongRope) {
  GgufWriter w = model("phi3", 6, 10000.0F);
  w.uint32("phi3.attention.key_length", 8)
      .uint32("phi3.rope.scaling.original_context_length", 1024);
  w.float32("phi3.rope.scaling.attn_factor", 1.25F);
  w.tensor("rope_factors_long.weight", {3}, 0, w.floats({1.0F, 4.0F, 16.0F}));
  w.tensor("rope_factors_short.weight", {3}, 0, w.floats({1.0F, 1.5F, 2.0F}));
  const ModelRope got = read(w);
  EXPECT_THAT(got.warnings, IsEmpty());
  const LayerRope& layer = got.layers[0];
  expect_pairing(layer, PairKind::split_half, 6, 0);
  EXPECT_STREQ(scaling_name(layer.scaling), "longrope");
  const double long_factors[] = {1.0, 4.0, 16.0};
  const double short_factors[] = {1.0, 1.5, 2.0};
  expect_rates(layer.frequencies(1024),
               [&](Index k) { return power(10000.0, k, 6) / short_factors[k]; });
  expect_rates(layer.frequencies(1025),
               [&](Index k) { return power(10000.0, k, 6) / long_factors[k]; });
  EXPECT_EQ(layer.frequencies(1025).attention_factor().high, 1.25);
}

/// ggml's YaRN from its definition, with rounded ends.
double yarn_rate(double base, Index pair, Index dims, double factor, double original,
                 double beta_fast = 32, double beta_slow = 1) {
  const auto width = static_cast<double>(dims);
  const auto correction = [&](double beta) {
    return width * std::log(original / (2 * M_PI * beta)) / (2 * std::log(base));
  };
  const double low = std::max(0.0, std::floor(correction(beta_fast)));
  const double high = std::min(width - 1, std::ceil(correction(beta_slow)));
  const double ramp =
      1 - std::clamp((static_cast<double>(pair) - low) / std::max(0.001, high - low), 0.0, 1.0);
  return power(base, pair, dims) * ((1 - ramp) / factor + ramp);
}

TEST(GgufRope, Qwen2HasYarnWithItsMagnitude) {
  GgufWriter w = model("qwen2", 128, 1000000.0F);
  w.text("qwen2.rope.scaling.type", "yarn").float32("qwen2.rope.scaling.factor", 4.0F);
  w.uint32("qwen2.rope.scaling.original_context_length", 1024);
  const ModelRope got = read(w);
  EXPECT_THAT(got.warnings, IsEmpty());
  const LayerRope& layer = got.layers[0];
  expect_pairing(layer, PairKind::split_half, 128, 0);
  EXPECT_EQ(layer.powers.linear_scale, 0.25);
  expect_rates(layer.frequencies(), [](Index k) { return yarn_rate(1e6, k, 128, 4, 1024); });
  const double magnitude = 1 + std::log(4.0) / 10;
  EXPECT_NEAR(layer.frequencies().attention_factor().high, magnitude, kTolerance);
  EXPECT_EQ(layer.powers.attention_factor, 1.0);
}

TEST(GgufRope, YarnsOtherKeys) {
  GgufWriter w = model("grok", 128, 10000.0F);
  w.text("grok.rope.scaling.type", "yarn").float32("grok.rope.scaling.factor", 16.0F);
  w.uint32("grok.rope.scaling.original_context_length", 1024)
      .float32("grok.rope.scaling.yarn_beta_fast", 8.0F);
  w.float32("grok.rope.scaling.yarn_beta_slow", 2.0F)
      .float32("grok.rope.scaling.attn_factor", 0.5F);
  w.float32("grok.rope.scaling.yarn_attn_factor", 3.0F)
      .boolean("grok.rope.scaling.finetuned", true);
  const ModelRope got = read(w);
  expect_rates(got.layers[0].frequencies(),
               [](Index k) { return yarn_rate(1e4, k, 128, 16, 1024, 8, 2); });
  EXPECT_NEAR(got.layers[0].frequencies().attention_factor().high, 0.5 * (1 + std::log(16.0) / 10),
              kTolerance);
  EXPECT_THAT(got.warnings,
              ElementsAre(HasSubstr("yarn_attn_factor\" is not applied"),
                          "the factor is 16, and the context length over the original one is 4"));
}

TEST(GgufRope, Qwen2VlHasSectionsOneAfterTheOther) {
  GgufWriter w = model("qwen2vl", 128, 1000000.0F);
  w.int32s("qwen2vl.rope.dimension_sections", {16, 24, 24, 0});
  const ModelRope got = read(w);
  EXPECT_THAT(got.warnings, IsEmpty());
  const LayerRope& layer = got.layers[0];
  ASSERT_TRUE(layer.sections);
  EXPECT_EQ(layer.sections->pattern(), SectionPattern::contiguous);
  EXPECT_THAT(layer.sections->lengths(), ElementsAre(16, 24, 24, 0));
  expect_pairing(layer, PairKind::split_half, 128, 0);
}

TEST(GgufRope, Qwen3VlTakesSectionsInTurn) {
  GgufWriter w = model("qwen3vl", 128, 5000000.0F);
  w.int32s("qwen3vl.rope.dimension_sections", {24, 20, 20, 0});
  EXPECT_EQ(read(w).layers[0].sections->pattern(), SectionPattern::interleaved_ggml);
}

TEST(GgufRope, SectionsDecideGlm4sPairs) {
  GgufWriter text_only = model("glm4", 64, 10000.0F);
  expect_pairing(read(text_only).layers[0], PairKind::interleaved, 64, 0);
  GgufWriter vision = model("glm4", 64, 10000.0F);
  vision.int32s("glm4.rope.dimension_sections", {8, 12, 12, 0});
  const ModelRope got = read(vision);
  expect_pairing(got.layers[0], PairKind::split_half, 64, 0);
  EXPECT_TRUE(got.layers[0].sections);
}

TEST(GgufRope, SectionsThatLeavePairsOverAreAWarning) {
  GgufWriter w = model("qwen2vl", 128, 1000000.0F);
  w.int32s("qwen2vl.rope.dimension_sections", {16, 16, 16, 0});
  EXPECT_THAT(read(w).warnings,
              ElementsAre("the sections 16, 16, 16, 0 have 48 pairs, and 64 rotate"));
}

TEST(GgufRope, Gemma3sSlidingLayersHaveTheirOwnBase) {
  GgufWriter w;
  w.text("general.architecture", "gemma3")
      .uint32("gemma3.context_length", 131072)
      .uint32("gemma3.block_count", 8);
  w.uint32("gemma3.attention.head_count", 8)
      .uint32("gemma3.attention.key_length", 256)
      .uint32("gemma3.attention.sliding_window", 1024);
  w.uint32("gemma3.rope.dimension_count", 256).float32("gemma3.rope.freq_base", 1000000.0F);
  w.text("gemma3.rope.scaling.type", "linear").float32("gemma3.rope.scaling.factor", 8.0F);
  const ModelRope got = read(w);
  EXPECT_THAT(got.warnings, IsEmpty());
  ASSERT_THAT(got.layers, SizeIs(2));
  EXPECT_EQ(got.layers[0].layer_type, "full_attention");
  EXPECT_THAT(got.layers[0].layers, ElementsAre(5));
  expect_rates(got.layers[0].frequencies(), [](Index k) { return power(1e6, k, 256) / 8; });
  EXPECT_EQ(got.layers[1].layer_type, "sliding_attention");
  EXPECT_THAT(got.layers[1].layers, ElementsAre(0, 1, 2, 3, 4, 6, 7));
  expect_rates(got.layers[1].frequencies(), [](Index k) { return power(1e4, k, 256); });
  expect_pairing(got.layers[1], PairKind::split_half, 256, 0);
}

TEST(GgufRope, Gemma4sSlidingLayersHaveTheirOwnRowsAndNoFactors) {
  GgufWriter w;
  w.text("general.architecture", "gemma4")
      .uint32("gemma4.context_length", 131072)
      .uint32("gemma4.block_count", 3);
  w.uint32("gemma4.attention.head_count", 8).int32s("gemma4.attention.head_count_kv", {2, 1, 2});
  w.uint32("gemma4.attention.key_length", 8).uint32("gemma4.attention.key_length_swa", 4);
  w.uint32("gemma4.attention.sliding_window", 512)
      .booleans("gemma4.attention.sliding_window_pattern", {1, 0, 1});
  w.uint32("gemma4.rope.dimension_count", 8).uint32("gemma4.rope.dimension_count_swa", 4);
  w.float32("gemma4.rope.freq_base", 1000000.0F).float32("gemma4.rope.freq_base_swa", 20000.0F);
  w.tensor("rope_freqs.weight", {4}, 0, w.floats({1.0F, 1e30F, 1e30F, 1e30F}));
  const ModelRope got = read(w);
  ASSERT_THAT(got.layers, SizeIs(2));
  EXPECT_THAT(got.layers[0].layers, ElementsAre(1));
  EXPECT_THAT(got.layers[1].layers, ElementsAre(0, 2));
  EXPECT_EQ(got.layers[1].head_dims, 4);
  EXPECT_EQ(got.key_heads, 2);
  expect_rates(got.layers[1].frequencies(), [](Index k) { return power(20000.0, k, 4); });
  EXPECT_LT(rates(got.layers[0].frequencies())[1], 1e-20);
  EXPECT_THAT(got.warnings, ElementsAre(HasSubstr("differs by layer, from 1 to 2"),
                                        HasSubstr("3 of the 4 divisors")));
}

TEST(GgufRope, GptOssSlidesWithoutAnotherRotation) {
  GgufWriter w = model("gpt-oss", 64, 150000.0F);
  w.uint32("gpt-oss.attention.key_length", 64).uint32("gpt-oss.attention.sliding_window", 128);
  w.text("gpt-oss.rope.scaling.type", "yarn").float32("gpt-oss.rope.scaling.factor", 4.0F);
  w.uint32("gpt-oss.rope.scaling.original_context_length", 1024);
  const ModelRope got = read(w);
  ASSERT_THAT(got.layers, SizeIs(1));
  EXPECT_THAT(got.layers[0].layers, IsEmpty());
  expect_rates(got.layers[0].frequencies(),
               [](Index k) { return yarn_rate(150000.0, k, 64, 4, 1024); });
  EXPECT_THAT(got.warnings, ElementsAre(HasSubstr("exact ends")));
}

TEST(GgufRope, Olmo2sSlidingLayersLeaveYarnOut) {
  GgufWriter w = model("olmo2", 128, 500000.0F);
  w.uint32("olmo2.attention.sliding_window", 512)
      .text("olmo2.rope.scaling.type", "yarn")
      .float32("olmo2.rope.scaling.factor", 4.0F);
  w.uint32("olmo2.rope.scaling.original_context_length", 1024);
  const ModelRope got = read(w);
  ASSERT_THAT(got.layers, SizeIs(2));
  EXPECT_THAT(got.layers[0].layers, ElementsAre(3));
  EXPECT_STREQ(scaling_name(got.layers[0].scaling), "yarn");
  EXPECT_STREQ(scaling_name(got.layers[1].scaling), "default");
  EXPECT_EQ(got.layers[1].frequencies().attention_factor().high, 1.0);
  EXPECT_EQ(got.layers[1].powers.base, 500000.0);
  EXPECT_EQ(got.layers[1].powers.linear_scale, 1.0);
}

TEST(GgufRope, DeepSeek2RotatesTheEndOfARowAndMultipliesTheLogits) {
  GgufWriter w;
  w.text("general.architecture", "deepseek2")
      .uint32("deepseek2.context_length", 163840)
      .uint32("deepseek2.block_count", 61);
  w.uint32("deepseek2.attention.head_count", 128).uint32("deepseek2.attention.head_count_kv", 1);
  w.uint32("deepseek2.attention.key_length", 576).uint32("deepseek2.attention.key_length_mla", 192);
  w.uint32("deepseek2.rope.dimension_count", 64).float32("deepseek2.rope.freq_base", 10000.0F);
  w.text("deepseek2.rope.scaling.type", "yarn").float32("deepseek2.rope.scaling.factor", 40.0F);
  w.uint32("deepseek2.rope.scaling.original_context_length", 4096);
  w.float32("deepseek2.rope.scaling.yarn_log_multiplier", 0.1F);
  const ModelRope got = read(w);
  EXPECT_THAT(got.warnings, IsEmpty());
  const LayerRope& layer = got.layers[0];
  EXPECT_EQ(layer.head_dims, 192);
  expect_pairing(layer, PairKind::interleaved, 64, 128);
  expect_rates(layer.frequencies(), [](Index k) { return yarn_rate(1e4, k, 64, 40, 4096); });
  EXPECT_NEAR(layer.frequencies().attention_factor().high, 1.0, kTolerance);
  // DeepSeek-V3: mscale_all_dim 1, which the file has as a tenth in float32.
  const double mscale_all_dim = static_cast<double>(0.1F) / 0.1;
  const double once = 1 + 0.1 * mscale_all_dim * std::log(40.0);
  EXPECT_NEAR(layer.softmax_multiplier, once * once, 4 * kTolerance);
}

TEST(GgufRope, OtherArchitecturesTakeTheLogMultiplierAsItIs) {
  GgufWriter w = model("mistral3", 128, 1000000.0F);
  w.text("mistral3.rope.scaling.type", "yarn").float32("mistral3.rope.scaling.factor", 4.0F);
  w.uint32("mistral3.rope.scaling.original_context_length", 1024)
      .float32("mistral3.rope.scaling.yarn_log_multiplier", 1.0F);
  const ModelRope got = read(w);
  EXPECT_NEAR(got.layers[0].frequencies().attention_factor().high, 1.0, kTolerance);
  EXPECT_EQ(got.layers[0].softmax_multiplier, 1.0);
}

TEST(GgufRope, LayersThatDoNotRotateAreLeftOut) {
  GgufWriter w = model("cohere2", 128, 50000.0F);
  w.uint32("cohere2.attention.sliding_window", 4096);
  const ModelRope got = read(w);
  ASSERT_THAT(got.layers, SizeIs(1));
  EXPECT_THAT(got.layers[0].layers, ElementsAre(0, 1, 2));
  EXPECT_THAT(got.warnings, ElementsAre("layers 3 do not rotate"));
  EXPECT_THAT(read(model("smollm3", 128, 5000000.0F)).layers[0].layers, ElementsAre(0, 1, 2));
  GgufWriter leading = model("cohere2moe", 128, 50000.0F);
  leading.uint32("cohere2moe.attention.sliding_window", 4096);
  EXPECT_THAT(read(leading).layers[0].layers, ElementsAre(1, 2, 3));
  leading.uint32("cohere2moe.leading_dense_block_count", 1);
  EXPECT_THAT(read(leading).layers[0].layers, IsEmpty());
}

TEST(GgufRope, LayersWithoutKeysHaveNoAttention) {
  GgufWriter w;
  w.text("general.architecture", "lfm2")
      .uint32("lfm2.context_length", 4096)
      .uint32("lfm2.block_count", 4);
  w.uint32("lfm2.attention.head_count", 8)
      .int32s("lfm2.attention.head_count_kv", {0, 2, 0, 2})
      .uint32("lfm2.attention.key_length", 64);
  w.uint32("lfm2.rope.dimension_count", 64).float32("lfm2.rope.freq_base", 1000000.0F);
  const ModelRope got = read(w);
  EXPECT_THAT(got.layers[0].layers, ElementsAre(1, 3));
  EXPECT_THAT(got.warnings, ElementsAre(HasSubstr("from 0 to 2"), "layers 0, 2 do not rotate"));
}

TEST(GgufRope, APeriodOfTheFileWins) {
  GgufWriter w = model("gemma3", 128, 1000000.0F);
  w.uint32("gemma3.attention.sliding_window", 512)
      .uint32("gemma3.attention.sliding_window_pattern", 2);
  const ModelRope got = read(w);
  EXPECT_THAT(got.layers[0].layers, ElementsAre(1, 3));
  EXPECT_THAT(got.layers[1].layers, ElementsAre(0, 2));
}

TEST(GgufRope, AnUnknownArchitectureHasNoPairing) {
  const ModelRope got = read(model("tomorrow", 128, 10000.0F), Strictness::lenient);
  EXPECT_FALSE(got.layers[0].pairing);
  EXPECT_THAT(
      got.warnings,
      ElementsAre(HasSubstr("must be an architecture whose rotation is known, got \"tomorrow\"")));
}

TEST(GgufRope, NothingIsSaidOfLlamaCppAboutAnUnknownArchitecture) {
  GgufWriter w = model("tomorrow", 128, 10000.0F);
  w.text("tomorrow.rope.scaling.type", "yarn").float32("tomorrow.rope.scaling.factor", 4.0F);
  w.uint32("tomorrow.rope.scaling.original_context_length", 1024)
      .float32("tomorrow.rope.scaling.yarn_beta_fast", 16.0F);
  w.float32("tomorrow.rope.freq_base_swa", 20000.0F);
  const ModelRope got = read(w, Strictness::lenient);
  for (const std::string& warning : got.warnings)
    EXPECT_THAT(warning, ::testing::Not(HasSubstr("llama.cpp"))) << warning;
  EXPECT_THAT(got.warnings, SizeIs(3));
}

TEST(GgufRope, LenientDoesWhatLlamaCppDoes) {
  GgufWriter w;
  w.text("general.architecture", "llama")
      .uint32("llama.attention.key_length", 64)
      .uint32("llama.rope.dimension_count", 64);
  w.float32("llama.rope.freq_base", 10000.0F)
      .text("llama.rope.scaling.type", "linear")
      .float32("llama.rope.scaling.factor", 0.0F);
  const ModelRope got = read(w, Strictness::lenient);
  EXPECT_EQ(got.context, 0);
  EXPECT_STREQ(scaling_name(got.layers[0].scaling), "default");
  EXPECT_THAT(got.warnings, Contains(HasSubstr("llama.cpp takes 1")));

  GgufWriter yarn = model("llama", 128, 10000.0F);
  yarn.text("llama.rope.scaling.type", "yarn").float32("llama.rope.scaling.factor", 2.0F);
  const ModelRope filled = read(yarn, Strictness::lenient);
  EXPECT_EQ(original_context(filled.layers[0].scaling), 4096);

  GgufWriter growing = model("llama", 128, 10000.0F);
  growing.text("llama.rope.scaling.type", "linear").float32("llama.rope.scaling.factor", 0.5F);
  expect_rates(read(growing, Strictness::lenient).layers[0].frequencies(),
               [](Index k) { return 2 * power(1e4, k, 128); });
}

}  // namespace
}  // namespace eigen_rope::test::gguf_rope_tests
