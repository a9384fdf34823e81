// SPDX-License-Identifier: Apache-2.0
//
// Published configurations (data/models/hugging_face; sources in data/models/README.md) give the
// numbers other people published for them.
//
// Rates come from data/golden/scaling/inv_freq.json where a set has the same parameters. The
// others, and m of LongRoPE and YaRN, were computed with mpmath from the formulas of
// eigen_rope/choices at 50 digits. The widths, pairings and layers are those of
// transformers 5.23.0's code for these families; m of Phi-3, 1.1902380714238083, and DeepSeek's
// softmax multipliers are published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/models/hugging_face.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

// Four units in the last place of double, where the rates are good to far less than one.
constexpr double allowed_error = 4 * std::numeric_limits<double>::epsilon();

struct Rate {
  std::size_t pair;
  double value;
};

struct Layer {
  std::string type;
  std::size_t count;
  Index head_dims;
  Index rotary_dims;
  double base;
  std::string scaling;
  /// Empty where transformers does not know the family.
  std::optional<PairKind> pairs;
  /// Of a set in inv_freq.json, all rates; empty for none.
  std::string golden{};
  std::vector<Rate> rates{};
  double magnitude = 1;
  double softmax_multiplier = 1;
};

struct Fixture {
  std::string name;
  std::string architecture;
  Index context;
  Index layer_count;
  Index heads;
  Index key_heads;
  /// Rates are those at this length.
  Index length;
  std::vector<Layer> layers;
  std::size_t warnings = 0;
};

std::string title(const Fixture& fixture) {
  return fixture.name + (fixture.length == 0 ? "" : "_at_" + std::to_string(fixture.length));
}

void PrintTo(const Fixture& fixture, std::ostream* out) { *out << title(fixture); }

const double yarn_4 = 1.1386294361119890619;    // 1 + ln(4) / 10
const double yarn_32 = 1.3465735902799726547;   // 1 + ln(32) / 10
const double phi_3 = 1.190238071423808333;      // sqrt(1 + ln(32) / ln(4096))
const double softmax_707 = 1.5896261651208735;  // (1 + 0.707 ln(40) / 10)^2
const double softmax_1 = 1.8738542070926266;    // (1 + ln(40) / 10)^2

const std::vector<Rate> base_1e6{
    {1, 0.805842187761481817}, {32, 0.001}, {63, 1.2409377607517195661e-6}};

std::vector<Fixture> fixtures() {
  const std::string full = "full_attention";
  const std::string sliding = "sliding_attention";
  constexpr auto split_half = PairKind::split_half;
  constexpr auto interleaved = PairKind::interleaved;
  return {
      {"llama_2",
       "llama",
       4096,
       32,
       32,
       32,
       0,
       {{"", 0, 128, 128, 1e4, "default", split_half, "default_d128_b1e4"}}},
      {"llama_2_longlora",
       "llama",
       2048,
       32,
       32,
       32,
       0,
       {{"",
         0,
         128,
         128,
         1e4,
         "linear",
         split_half,
         "",
         {{0, 0.125}, {1, 0.10824554042000816904}, {63, 1.4434774808618227246e-5}}}},
       1},
      {"llama_3_1",
       "llama",
       131072,
       32,
       32,
       8,
       0,
       {{"", 0, 128, 128, 5e5, "llama3", split_half, "llama3_d128_b5e5_f8_o8192"}},
       1},
      {"llama_3_2",
       "llama",
       131072,
       16,
       32,
       8,
       0,
       {{"", 0, 64, 64, 5e5, "llama3", split_half, "llama32_1b_d64_b5e5_f32_o8192"}},
       1},
      {"mistral",
       "mistral",
       32768,
       32,
       32,
       8,
       0,
       {{"", 0, 128, 128, 1e4, "default", split_half, "default_d128_b1e4"}}},
      {"mixtral",
       "mixtral",
       32768,
       32,
       32,
       8,
       0,
       {{"", 0, 128, 128, 1e6, "default", split_half, "", base_1e6}}},
      {"qwen2_5",
       "qwen2",
       32768,
       28,
       28,
       4,
       0,
       {{"", 0, 128, 128, 1e6, "default", split_half, "", base_1e6}}},
      {"qwen2_5_yarn",
       "qwen2",
       32768,
       28,
       28,
       4,
       0,
       {{"",
         0,
         128,
         128,
         1e6,
         "yarn",
         split_half,
         "",
         {{1, 0.805842187761481817},
          {20, 0.013335214321633240257},
          {30, 0.0010643609812470018163},
          {40, 4.4456985250973070031e-5},
          {63, 3.1023444018792989152e-7}},
         yarn_4}},
       1},
      {"qwen2_vl",
       "qwen2_vl",
       32768,
       28,
       28,
       4,
       0,
       {{"", 0, 128, 128, 1e6, "default", split_half, "", base_1e6}}},
      {"qwen3",
       "qwen3",
       40960,
       36,
       32,
       8,
       0,
       {{"", 0, 128, 128, 1e6, "default", split_half, "", base_1e6}}},
      {"qwen3_next",
       "qwen3_next",
       262144,
       48,
       16,
       2,
       0,
       {{"",
         12,
         256,
         64,
         1e7,
         "default",
         split_half,
         "",
         {{1, 0.60429639023813281904},
          {16, 3.162277660168379332e-4},
          {31, 1.6548170999431814229e-7}}}},
       1},
      {"qwen3_vl",
       "qwen3_vl_text",
       262144,
       36,
       32,
       8,
       0,
       {{"",
         0,
         128,
         128,
         5e6,
         "default",
         split_half,
         "",
         {{1, 0.78582998041963461097},
          {32, 4.4721359549995793928e-4},
          {63, 2.5450797880376063449e-7}}}}},
      {"phi_3_128k",
       "phi3",
       131072,
       32,
       32,
       32,
       4096,
       {{"",
         0,
         96,
         96,
         1e4,
         "longrope",
         split_half,
         "",
         {{0, 0.95238095238095234067},
          {1, 0.78609922406477941978},
          {20, 0.010772173450159413825},
          {47, 4.1068734190799642973e-5}},
         phi_3}},
       0},
      {"phi_3_128k",
       "phi3",
       131072,
       32,
       32,
       32,
       4097,
       {{"",
         0,
         96,
         96,
         1e4,
         "longrope",
         split_half,
         "",
         {{0, 0.97087381337565301809},
          {1, 0.78609925976395441412},
          {20, 0.0013644298259890883142},
          {47, 1.8693525984053537931e-6}},
         phi_3}},
       0},
      {"gpt_oss",
       "gpt_oss",
       131072,
       24,
       64,
       8,
       0,
       {{"",
         0,
         64,
         64,
         150000,
         "yarn",
         split_half,
         "yarn_gptoss_d64_b150000_f32_o4096_notrunc",
         {},
         yarn_32}}},
      {"deepseek_v2_lite",
       "deepseek_v2",
       163840,
       27,
       16,
       16,
       0,
       {{"",
         0,
         64,
         64,
         1e4,
         "yarn",
         interleaved,
         "yarn_deepseek_v3_d64_f40_o4096_m1_a1",
         {},
         1,
         softmax_707}}},
      {"deepseek_v3",
       "deepseek_v3",
       163840,
       61,
       128,
       128,
       0,
       {{"",
         0,
         64,
         64,
         1e4,
         "yarn",
         PairKind::interleaved_to_split_half,
         "yarn_deepseek_v3_d64_f40_o4096_m1_a1",
         {},
         1,
         softmax_1}}},
      {"gemma_3",
       "gemma3_text",
       131072,
       34,
       8,
       4,
       0,
       {{full,
         5,
         256,
         256,
         1e6,
         "linear",
         split_half,
         "",
         {{0, 0.125}, {64, 0.000125}, {127, 1.3924673249935029704e-7}}},
        {sliding,
         29,
         256,
         256,
         1e4,
         "default",
         split_half,
         "",
         {{1, 0.93057204092969897929}, {127, 1.0746078283213174972e-4}}}}},
      {"gemma_4",
       "gemma4_text",
       262144,
       30,
       16,
       8,
       0,
       {{full, 5, 512, 512, 1e6, "proportional", split_half, "proportional_gemma4_d512_b1e6_p.25"},
        {sliding,
         25,
         256,
         256,
         1e4,
         "default",
         split_half,
         "",
         {{1, 0.93057204092969897929}, {127, 1.0746078283213174972e-4}}}}},
      {"glm_4",
       "glm4",
       32768,
       61,
       48,
       2,
       0,
       {{"",
         0,
         128,
         64,
         1e4,
         "default",
         interleaved,
         "",
         {{1, 0.7498942093324558273}, {16, 0.01}, {31, 1.3335214321633240257e-4}}}}},
      {"cohere",
       "cohere",
       131072,
       40,
       64,
       8,
       0,
       {{"",
         0,
         128,
         128,
         4e6,
         "default",
         interleaved,
         "",
         {{1, 0.7885746513950168941}, {32, 0.0005}, {63, 3.1702768984235166166e-7}}}}},
      {"internlm2",
       "internlm2",
       32768,
       32,
       32,
       8,
       65536,
       {{"",
         0,
         128,
         128,
         1e6,
         "dynamic",
         {},
         "",
         {{1, 0.79191149451291844722},
          {32, 0.00057233815083812374785},
          {63, 4.136459202505731887e-7}}}},
       1},
      {"gpt_neox",
       "gpt_neox",
       2048,
       44,
       64,
       0,
       0,
       {{"",
         0,
         96,
         24,
         1e4,
         "default",
         split_half,
         "",
         {{1, 0.46415888336127788924}, {6, 0.01}, {11, 2.1544346900318837218e-4}}}}},
      {"gpt_j",
       "gptj",
       2048,
       28,
       16,
       0,
       0,
       {{"",
         0,
         256,
         64,
         1e4,
         "default",
         interleaved,
         "",
         {{1, 0.7498942093324558273}, {31, 1.3335214321633240257e-4}}}}},
      {"stablelm",
       "stablelm",
       4096,
       32,
       32,
       0,
       0,
       {{"",
         0,
         80,
         20,
         1e4,
         "default",
         split_half,
         "",
         {{1, 0.39810717055349725077}, {9, 2.5118864315095801111e-4}}}}},
      {"olmo_3",
       "olmo3",
       8192,
       32,
       32,
       32,
       0,
       {{full,
         8,
         128,
         128,
         5e5,
         "default",
         split_half,
         "",
         {{1, 0.8146172338565447041}, {63, 2.4551407911316088712e-6}}},
        {sliding,
         24,
         128,
         128,
         5e5,
         "default",
         split_half,
         "",
         {{1, 0.8146172338565447041}, {63, 2.4551407911316088712e-6}}}}},
  };
}

void expect_near(double actual, double expected, const std::string& what) {
  EXPECT_LE(std::abs(actual - expected), allowed_error * std::abs(expected))
      << what << ": " << actual << " for " << expected;
}

void expect_golden(const Frequencies& frequencies, const std::string& name) {
  std::ifstream file(EIGEN_ROPE_TEST_DATA "/golden/scaling/inv_freq.json");
  const nlohmann::json set = nlohmann::json::parse(file).at(name);
  ASSERT_EQ(static_cast<std::size_t>(frequencies.pairs()), set.at("inv_freq").size());
  for (std::size_t k = 0; k < set.at("inv_freq").size(); ++k) {
    expect_near(static_cast<double>(frequencies.rates()[k]),
                std::stod(set.at("inv_freq")[k].get<std::string>()),
                name + " " + std::to_string(k));
  }
}

class HuggingFaceFixture : public testing::TestWithParam<Fixture> {};

TEST_P(HuggingFaceFixture, GivesThePublishedNumbers) {
  const Fixture& expected = GetParam();
  // transformers does not know internlm2, so that the strict reader refuses it.
  const Strictness strictness =
      expected.name == "internlm2" ? Strictness::lenient : Strictness::strict;
  const ModelRope model = read_hugging_face(
      EIGEN_ROPE_TEST_DATA "/models/hugging_face/" + expected.name + ".json", strictness);
  EXPECT_EQ(model.architecture, expected.architecture);
  EXPECT_EQ(model.context, expected.context);
  EXPECT_EQ(model.layer_count, expected.layer_count);
  EXPECT_EQ(model.heads, expected.heads);
  EXPECT_EQ(model.key_heads, expected.key_heads);
  EXPECT_THAT(model.warnings, testing::SizeIs(expected.warnings));
  ASSERT_EQ(model.layers.size(), expected.layers.size());
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerRope& layer = model.layers[i];
    const Layer& wanted = expected.layers[i];
    SCOPED_TRACE(expected.name + " " + wanted.type);
    EXPECT_EQ(layer.layer_type, wanted.type);
    EXPECT_EQ(layer.layers.size(), wanted.count);
    EXPECT_EQ(layer.head_dims, wanted.head_dims);
    EXPECT_EQ(layer.powers.rotary_dims, wanted.rotary_dims);
    EXPECT_EQ(layer.powers.base, wanted.base);
    EXPECT_EQ(scaling_name(layer.scaling), wanted.scaling);
    ASSERT_EQ(layer.pairing.has_value(), wanted.pairs.has_value());
    if (wanted.pairs) {
      EXPECT_EQ(layer.pairing->kind(), *wanted.pairs);
      EXPECT_EQ(layer.pairing->offset(), 0);
      EXPECT_EQ(layer.pairing->rotary_dims(layer.head_dims), wanted.rotary_dims);
    }
    expect_near(layer.softmax_multiplier, wanted.softmax_multiplier, "softmax multiplier");
    const Frequencies frequencies = layer.frequencies(expected.length);
    expect_near(static_cast<double>(frequencies.attention_factor()), wanted.magnitude, "m");
    if (!wanted.golden.empty()) expect_golden(frequencies, wanted.golden);
    for (const Rate& rate : wanted.rates) {
      expect_near(static_cast<double>(frequencies.rates()[rate.pair]), rate.value,
                  "rate " + std::to_string(rate.pair));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Published, HuggingFaceFixture, testing::ValuesIn(fixtures()),
                         [](const auto& instance) { return title(instance.param); });

ModelRope fixture(const std::string& name) {
  return read_hugging_face(EIGEN_ROPE_TEST_DATA "/models/hugging_face/" + name + ".json");
}

TEST(HuggingFaceFixtures, QwenSectionsAreContiguousThenInterleaved) {
  const ModelRope qwen2 = fixture("qwen2_vl");
  ASSERT_TRUE(qwen2.layers.front().sections.has_value());
  EXPECT_EQ(qwen2.layers.front().sections->pattern(), SectionPattern::contiguous);
  EXPECT_THAT(qwen2.layers.front().sections->lengths(), testing::ElementsAre(16, 24, 24));
  const ModelRope qwen3 = fixture("qwen3_vl");
  ASSERT_TRUE(qwen3.layers.front().sections.has_value());
  EXPECT_EQ(qwen3.layers.front().sections->pattern(), SectionPattern::interleaved_hf);
  EXPECT_THAT(qwen3.layers.front().sections->lengths(), testing::ElementsAre(24, 20, 20));
}

TEST(HuggingFaceFixtures, EverySixthLayerOfGemmaHasFullAttention) {
  for (const char* name : {"gemma_3", "gemma_4"}) {
    const ModelRope model = fixture(name);
    EXPECT_EQ(model.layers[0].layers.front(), 5) << name;
    EXPECT_EQ(model.layers[0].layers.back(), 29) << name;
    EXPECT_THAT(model.layers[1].layers, testing::Contains(0)) << name;
    EXPECT_THAT(model.layers[1].layers, testing::Not(testing::Contains(11))) << name;
  }
}

TEST(HuggingFaceFixtures, ParametersAreThoseOfTheFile) {
  const auto yarn = std::get<Yarn<>>(fixture("gpt_oss").layers.front().scaling);
  EXPECT_EQ(yarn.ends, RampEnds::exact);
  EXPECT_EQ(yarn.magnitude, YarnMagnitude::hugging_face);
  EXPECT_FALSE(yarn.mscale.has_value());
  EXPECT_EQ(yarn.original_context, 4096);
  const auto deepseek = std::get<Yarn<>>(fixture("deepseek_v2_lite").layers.front().scaling);
  EXPECT_EQ(deepseek.mscale, 0.707);
  EXPECT_EQ(deepseek.mscale_all_dim, 0.707);
  EXPECT_EQ(deepseek.ends, RampEnds::rounded);
  const auto phi = std::get<LongRope<>>(fixture("phi_3_128k").layers.front().scaling);
  EXPECT_EQ(phi.factor, 32);
  EXPECT_EQ(phi.original_context, 4096);
  EXPECT_EQ(phi.magnitude, LongRopeMagnitude::from_factor);
  EXPECT_EQ(std::get<Proportional<>>(fixture("gemma_4").layers.front().scaling).rotated_pairs, 64);
}

TEST(HuggingFaceFixtures, WarnWhereAFileContradictsItself) {
  EXPECT_THAT(fixture("llama_3_1").warnings,
              testing::ElementsAre("rope_scaling.factor is not max_position_embeddings over "
                                   "original_max_position_embeddings (16), got 8: "
                                   "the factor is taken, as Hugging Face does"));
  EXPECT_THAT(
      fixture("qwen2_5_yarn").warnings,
      testing::ElementsAre("rope_scaling.original_max_position_embeddings is not less than "
                           "max_position_embeddings (32768), got "
                           "32768: the context after scaling, 131072 tokens, is not in the file"));
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
