// SPDX-License-Identifier: Apache-2.0
//
// One rotation written in several ways is read as one: old and new form, synonyms of types, names
// of keys, nested or not, at the top or in the part about text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "eigen_rope/models/hugging_face.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

void expect_same(const LayerRope& mine, const LayerRope& other, Index length) {
  EXPECT_EQ(mine.head_dims, other.head_dims);
  EXPECT_EQ(mine.powers.rotary_dims, other.powers.rotary_dims);
  EXPECT_EQ(mine.layers, other.layers);
  EXPECT_EQ(mine.layer_type, other.layer_type);
  EXPECT_EQ(mine.scaling.index(), other.scaling.index());
  EXPECT_EQ(mine.softmax_multiplier, other.softmax_multiplier);
  EXPECT_EQ(mine.pairing.has_value(), other.pairing.has_value());
  if (mine.pairing && other.pairing) {
    EXPECT_EQ(mine.pairing->kind(), other.pairing->kind());
  }
  EXPECT_EQ(mine.sections.has_value(), other.sections.has_value());
  if (mine.sections && other.sections) {
    EXPECT_EQ(mine.sections->pattern(), other.sections->pattern());
    EXPECT_EQ(mine.sections->lengths(), other.sections->lengths());
  }
  const Frequencies f = mine.frequencies(length);
  const Frequencies g = other.frequencies(length);
  ASSERT_EQ(f.pairs(), g.pairs());
  EXPECT_EQ(f.attention_factor().high, g.attention_factor().high);
  for (std::size_t k = 0; k < f.rates().size(); ++k)
    EXPECT_EQ(f.rates()[k].high, g.rates()[k].high) << k;
}

void expect_same(const std::string& mine, const std::string& other) {
  SCOPED_TRACE(mine + "\n" + other);
  const ModelRope a = parse_hugging_face(mine);
  const ModelRope b = parse_hugging_face(other);
  EXPECT_EQ(a.context, b.context);
  EXPECT_EQ(a.layer_count, b.layer_count);
  EXPECT_EQ(a.heads, b.heads);
  EXPECT_EQ(a.key_heads, b.key_heads);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i)
    expect_same(a.layers[i], b.layers[i], 2 * a.context);
}

/// A model of 8 pairs with these members more.
std::string model(const std::string& members) {
  return R"({"model_type": "llama", "head_dim": 16, "max_position_embeddings": 8192, )" + members +
         "}";
}

TEST(HuggingFaceForms, OldAndNewFormOfEveryTypeAreOne) {
  const std::string llama3 =
      R"("factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 1024)";
  const std::string longrope =
      R"("short_factor": [1, 1, 1, 1, 2, 2, 2, 2], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8],
                                  "original_max_position_embeddings": 1024)";
  const std::string yarn =
      R"("factor": 8, "original_max_position_embeddings": 1024, "beta_fast": 16, "truncate": false)";
  for (const auto& [type, members] :
       {std::pair<std::string, std::string>{"linear", R"("factor": 4)"},
        {"dynamic", R"("factor": 4)"},
        {"yarn", yarn},
        {"llama3", llama3},
        {"longrope", longrope}}) {
    const std::string theta = R"("rope_theta": 500000)";
    const std::string old_form =
        model(theta + R"(, "rope_scaling": {"type": ")" + type + "\", " + members + "}");
    expect_same(old_form, model(R"("rope_parameters": {"rope_type": ")" + type + "\", " + theta +
                                ", " + members + "}"));
    expect_same(old_form, model(theta + R"(, "rope_scaling": {"type": ")" + type +
                                R"(", "rope_type": ")" + type + "\", " + members + "}"));
    expect_same(old_form, model(theta + R"(, "rope_scaling": {"rope_type": ")" + type + "\", " +
                                members + R"(},
                                "rope_parameters": {"rope_type": ")" +
                                type + "\", " + theta + ", " + members + "}"));
  }
}

TEST(HuggingFaceForms, NothingSaidIsTheDefaultType) {
  const std::string plain = model(R"("rope_theta": 500000)");
  expect_same(plain, model(R"("rope_theta": 500000, "rope_scaling": null)"));
  expect_same(plain, model(R"("rope_theta": 500000, "rope_scaling": {})"));
  expect_same(plain, model(R"("rope_theta": 500000, "rope_scaling": {"rope_type": "default"})"));
  expect_same(plain, model(R"("rope_parameters": {"rope_theta": 500000})"));
  expect_same(
      plain,
      model(
          R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000, "partial_rotary_factor": 1.0})"));
}

TEST(HuggingFaceForms, SynonymsOfTypes) {
  const std::string lists =
      R"("short_factor": [1, 1, 1, 1, 2, 2, 2, 2], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8])";
  const auto phi = [&](const std::string& type) {
    return R"({"model_type": "phi3", "head_dim": 16, "max_position_embeddings": 8192, "original_max_position_embeddings": 1024,
               "rope_theta": 10000, "rope_scaling": {"type": ")" +
           type + "\", " + lists + "}}";
  };
  expect_same(phi("longrope"), phi("su"));
  expect_same(phi("longrope"), phi("yarn"));
  const auto qwen = [](const std::string& types) {
    return R"({"model_type": "qwen2_vl", "head_dim": 16, "max_position_embeddings": 8192, "rope_theta": 10000,
               "rope_scaling": {"mrope_section": [2, 3, 3], )" +
           types + "}}";
  };
  expect_same(qwen(R"("type": "mrope")"), qwen(R"("type": "default", "rope_type": "default")"));
  expect_same(qwen(R"("type": "mrope")"), qwen(R"("type": "mrope", "rope_type": "default")"));
}

TEST(HuggingFaceForms, TheOriginalContextMayStandOutside) {
  const std::string lists =
      R"("type": "longrope", "short_factor": [1, 1, 1, 1, 2, 2, 2, 2], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8])";
  expect_same(
      model(R"("rope_theta": 1e4, "original_max_position_embeddings": 1024, "rope_scaling": {)" +
            lists + "}"),
      model(R"("rope_theta": 1e4, "rope_scaling": {"original_max_position_embeddings": 1024, )" +
            lists + "}"));
}

TEST(HuggingFaceForms, AMissingFactorIsTheRatioOfTheContexts) {
  const std::string lists =
      R"("short_factor": [1, 1, 1, 1, 2, 2, 2, 2], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8])";
  const std::string original = R"("original_max_position_embeddings": 1024)";
  const auto with = [&](const std::string& members) {
    return model(R"("rope_theta": 1e4, "rope_scaling": {)" + original + ", " + members + "}");
  };
  expect_same(with(R"("type": "longrope", )" + lists),
              with(R"("type": "longrope", "factor": 8, )" + lists));
  expect_same(with(R"("type": "yarn", "factor": null)"), with(R"("type": "yarn", "factor": 8)"));
}

TEST(HuggingFaceForms, GivenMagnitudesAreTaken) {
  const ModelRope yarn =
      parse_hugging_face(model(R"("rope_theta": 1e4, "rope_scaling": {"type": "yarn", "factor": 8,
      "original_max_position_embeddings": 1024, "attention_factor": 0.5})"));
  EXPECT_EQ(static_cast<double>(yarn.layers.front().frequencies().attention_factor()), 0.5);
  EXPECT_EQ(std::get<Yarn<>>(yarn.layers.front().scaling).magnitude, YarnMagnitude::given);
  const ModelRope longrope = parse_hugging_face(
      model(R"("rope_theta": 1e4, "rope_scaling": {"type": "longrope", "attention_factor": 0.75,
      "short_factor": [1, 1, 1, 1, 2, 2, 2, 2], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8], "original_max_position_embeddings": 1024})"));
  EXPECT_EQ(static_cast<double>(longrope.layers.front().frequencies(9).attention_factor()), 0.75);
}

TEST(HuggingFaceForms, DeepSeeksRuleIsTakenOnlyWhereItIsNamed) {
  const auto magnitude = [](const std::string& type) {
    const ModelRope read = parse_hugging_face(
        R"({"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "max_position_embeddings": 163840,
        "rope_theta": 10000, "rope_scaling": {"type": ")" +
        type + R"(", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 0.707}})");
    return static_cast<double>(read.layers.front().frequencies().attention_factor());
  };
  EXPECT_DOUBLE_EQ(magnitude("yarn"), 1.3688879454113936303);           // 1 + ln(40) / 10
  EXPECT_DOUBLE_EQ(magnitude("deepseek_yarn"), 1.2608037774058552661);  // 1 + 0.707 ln(40) / 10
}

TEST(HuggingFaceForms, RotatedShareUnderEachOfItsNames) {
  const std::string neox =
      R"({"model_type": "gpt_neox", "hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 2048, )";
  expect_same(neox + R"("rotary_pct": 0.25, "rotary_emb_base": 10000})",
              neox + R"("rotary_emb_base": 10000})");
  expect_same(neox + R"("rotary_pct": 0.5, "rotary_emb_base": 5000})",
              neox + R"("rope_parameters": {"rope_theta": 5000, "partial_rotary_factor": 0.5}})");
  const std::string phi =
      R"({"model_type": "phi", "hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 2048, )";
  expect_same(phi + R"("partial_rotary_factor": 0.25, "rope_theta": 10000})",
              phi + R"("rope_parameters": {"rope_theta": 10000, "partial_rotary_factor": 0.25}})");
  const std::string minimax =
      R"({"model_type": "minimax_m2", "head_dim": 64, "rope_theta": 10000, "max_position_embeddings": 2048, )";
  expect_same(minimax + R"("partial_rotary_factor": 0.5})", minimax + R"("rotary_dim": 32})");
}

TEST(HuggingFaceForms, TheShareIsTruncatedToWholeDims) {
  const ModelRope read = parse_hugging_face(
      R"({"model_type": "phi", "head_dim": 96, "rope_theta": 10000, "partial_rotary_factor": 0.28})");
  EXPECT_EQ(read.layers.front().powers.rotary_dims, 26);  // int(26.88)
  EXPECT_EQ(read.layers.front().pairing->rotary_dims(96), 26);
}

TEST(HuggingFaceForms, TextMayLieOneLevelDown) {
  const std::string text =
      R"("model_type": "llama", "head_dim": 16, "max_position_embeddings": 8192, "rope_theta": 500000,
                              "rope_scaling": {"rope_type": "linear", "factor": 2.0})";
  const std::string vision =
      R"("vision_config": {"model_type": "clip", "rope_scaling": {"type": "none of ours"}})";
  expect_same("{" + text + "}",
              R"({"model_type": "llava", )" + vision + R"(, "text_config": {)" + text + "}}");
  expect_same("{" + text + "}", R"({"text_config": null, )" + text + "}");
  expect_same("{" + text + "}", R"({"model_type": "omni", "thinker_config": {)" + vision +
                                    R"(, "text_config": {)" + text + "}}}");
}

TEST(HuggingFaceForms, GemmaInItsOldNewAndShortestForm) {
  const std::string sizes =
      R"({"model_type": "gemma3_text", "head_dim": 256, "max_position_embeddings": 131072, "num_hidden_layers": 12, )";
  const std::string old_form =
      sizes + R"("rope_theta": 1000000, "rope_local_base_freq": 10000, "sliding_window_pattern": 6,
      "rope_scaling": {"rope_type": "linear", "factor": 8}})";
  const std::string s5 =
      R"("sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", )";
  const std::string types = "[" + s5 + R"("full_attention", )" + s5 + R"("full_attention"])";
  expect_same(old_form, sizes + R"("layer_types": )" + types + R"(, "rope_parameters": {
      "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000000},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000}}})");
  expect_same(
      old_form,
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 12,
      "head_dim": 256, "rope_scaling": {"rope_type": "linear", "factor": 8}}})");
  const ModelRope read = parse_hugging_face(old_form);
  EXPECT_THAT(read.layers[0].layers, testing::ElementsAre(5, 11));
}

TEST(HuggingFaceForms, NestedParametersOfAnyFamily) {
  const ModelRope read =
      parse_hugging_face(R"({"model_type": "unheard_of", "head_dim": 64, "num_hidden_layers": 5,
      "max_position_embeddings": 4096,
      "layer_types": ["conv", "sliding_attention", "full_attention", "nope_attention", "sliding_attention"],
      "rope_parameters": {"full_attention": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 1024,
                                             "rope_theta": 1000000, "truncate": false},
                          "sliding_attention": {"rope_theta": 10000, "partial_rotary_factor": 0.5},
                          "nope_attention": null}})",
                         Strictness::lenient);
  ASSERT_EQ(read.layers.size(), 2);
  EXPECT_EQ(read.layers[0].layer_type, "full_attention");
  EXPECT_THAT(read.layers[0].layers, testing::ElementsAre(2));
  EXPECT_EQ(std::get<Yarn<>>(read.layers[0].scaling).ends, RampEnds::rounded)
      << "Hugging Face overlooks truncate here";
  EXPECT_THAT(read.layers[1].layers, testing::ElementsAre(1, 4));
  EXPECT_EQ(read.layers[1].powers.rotary_dims, 32);
  EXPECT_FALSE(read.layers[1].pairing.has_value()) << "nothing is known of this family";
  EXPECT_THAT(
      read.warnings,
      testing::ElementsAre("model_type must be one that is known, got \"unheard_of\": it is taken "
                           "for a Llama of unknown pairing",
                           "rope_parameters.nope_attention is null: its layers are not rotated",
                           "rope_parameters.full_attention.truncate must be true within a layer "
                           "type, where Hugging Face does not read "
                           "it, got false: true is taken, as Hugging Face does"));
}

TEST(HuggingFaceForms, MinistralKeepsMoreThanTheRotationInItsParameters) {
  const std::string yarn =
      R"("rope_type": "yarn", "rope_theta": 1000000, "factor": 4, "original_max_position_embeddings": 16384,
                              "mscale": 1, "mscale_all_dim": 1)";
  const auto ministral = [&](const std::string& more) {
    return R"({"model_type": "ministral3", "head_dim": 128, "max_position_embeddings": 65536, "rope_parameters": {)" +
           yarn + more + "}}";
  };
  expect_same(
      ministral(""),
      ministral(
          R"(, "type": "yarn", "llama_4_scaling_beta": 0.1, "max_position_embeddings": 65536)"));
  const ModelRope read = parse_hugging_face(ministral(R"(, "llama_4_scaling_beta": 0.1)"));
  EXPECT_EQ(read.layers.front().softmax_multiplier, 1) << "not a family of DeepSeek's kind";
  EXPECT_THAT(read.warnings, testing::ElementsAre("rope_parameters.llama_4_scaling_beta scales "
                                                  "queries by their position: it is left to the "
                                                  "attention"));
}

TEST(HuggingFaceForms, SomeLayersAreNotRotated) {
  const ModelRope cohere = parse_hugging_face(
      R"({"model_type": "cohere2", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 50000,
      "num_hidden_layers": 8, "max_position_embeddings": 8192})");
  EXPECT_THAT(cohere.layers.front().layers, testing::ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_EQ(cohere.layers.front().pairing->kind(), PairKind::interleaved);
  EXPECT_THAT(cohere.warnings,
              testing::ElementsAre("6 of 8 layers are rotated, the others not at all"));
  const ModelRope next = parse_hugging_face(
      R"({"model_type": "qwen3_next", "head_dim": 64, "partial_rotary_factor": 0.25, "rope_theta": 50000,
      "num_hidden_layers": 8, "max_position_embeddings": 8192})");
  EXPECT_THAT(next.layers.front().layers, testing::ElementsAre(3, 7));
  const ModelRope any =
      parse_hugging_face(R"({"model_type": "unheard_of", "head_dim": 64, "rope_theta": 50000,
      "layer_types": ["conv", "full_attention", "sliding_attention", "mamba"]})",
                         Strictness::lenient);
  EXPECT_THAT(any.layers.front().layers, testing::ElementsAre(1, 2));
  EXPECT_THAT(any.warnings, testing::Contains("2 of 4 layers are rotated, the others not at all"));
  const ModelRope smol = parse_hugging_face(
      R"({"model_type": "smollm3", "head_dim": 64, "rope_theta": 50000, "num_hidden_layers": 4,
      "max_position_embeddings": 8192, "no_rope_layers": [1, 0, 1, 1]})");
  EXPECT_THAT(smol.layers.front().layers, testing::ElementsAre(0, 2, 3));
  // Without a list the last layer of every few is left out.
  const ModelRope by_interval = parse_hugging_face(
      R"({"model_type": "smollm3", "head_dim": 64, "rope_theta": 50000, "num_hidden_layers": 7,
      "max_position_embeddings": 8192, "no_rope_layer_interval": 3})");
  EXPECT_THAT(by_interval.layers.front().layers, testing::ElementsAre(0, 1, 3, 4, 6));
}

TEST(HuggingFaceForms, TheFileDecidesOverTheFamilyHowRowsPair) {
  const auto kind = [](const std::string& members) {
    return parse_hugging_face(
               R"({"model_type": "deepseek_v3", "rope_theta": 10000, "qk_rope_head_dim": 64)" +
               members + "}")
        .layers.front()
        .pairing->kind();
  };
  EXPECT_EQ(kind(""), PairKind::interleaved_to_split_half);
  EXPECT_EQ(kind(R"(, "rope_interleave": true)"), PairKind::interleaved_to_split_half);
  EXPECT_EQ(kind(R"(, "rope_interleave": false)"), PairKind::split_half);
}

TEST(HuggingFaceForms, AFolderIsReadLikeItsFile) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "config.json", model(R"("rope_theta": 500000)"));
  const ModelRope by_folder = read_hugging_face(folder.path());
  const ModelRope by_file = read_hugging_face(folder / "config.json");
  EXPECT_EQ(by_folder.layers.front().powers.base, 500000);
  EXPECT_EQ(by_file.layers.front().powers.base, 500000);
}

// Llama-4-Scout: both frequency factors are 1.
TEST(HuggingFaceForms, EqualFrequencyFactorsAreAStep) {
  const ModelRope scout = parse_hugging_face(
      R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "head_dim": 128,
      "num_hidden_layers": 48, "num_attention_heads": 40, "hidden_size": 5120, "max_position_embeddings": 10485760, "rope_theta": 500000.0,
      "rope_scaling": {"factor": 16.0, "high_freq_factor": 1.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
                       "rope_type": "llama3"}}})");
  const Frequencies frequencies = scout.layers.front().frequencies();
  EXPECT_EQ(frequencies.rates()[0].high, 1);
  EXPECT_DOUBLE_EQ(frequencies.rates()[63].high, std::pow(500000.0, -63.0 / 64) / 16);
  EXPECT_THAT(scout.warnings, testing::Contains("text_config.rope_scaling.high_freq_factor equals "
                                                "low_freq_factor, got 1: the band between "
                                                "them is a step, as Hugging Face does"));
}

// c4ai-command-r7b-12-2024 and ModernBERT-base: position_embedding_type, which their classes do not
// read.
TEST(HuggingFaceForms, PositionEmbeddingTypeIsReadOnlyWhereTheClassReadsIt) {
  const ModelRope cohere = parse_hugging_face(
      R"({"model_type": "cohere2", "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128,
      "num_hidden_layers": 32, "max_position_embeddings": 8192, "position_embedding_type": "rope_gptj", "rope_theta": 50000,
      "rope_scaling": null, "sliding_window_pattern": 4})");
  EXPECT_EQ(cohere.layers.front().layers.size(), 24);
  EXPECT_EQ(cohere.layers.front().powers.base, 50000);
  const ModelRope bert = parse_hugging_face(
      R"({"model_type": "modernbert", "hidden_size": 768, "num_attention_heads": 12,
      "num_hidden_layers": 22, "max_position_embeddings": 8192, "position_embedding_type": "absolute", "global_attn_every_n_layers": 3,
      "global_rope_theta": 160000.0, "local_rope_theta": 10000.0})");
  ASSERT_EQ(bert.layers.size(), 2);
  EXPECT_THAT(bert.layers[0].layers, testing::ElementsAre(0, 3, 6, 9, 12, 15, 18, 21));
  EXPECT_EQ(bert.layers[0].powers.base, 160000);
  EXPECT_EQ(bert.layers[1].powers.base, 10000);
  EXPECT_EQ(bert.layers[1].layers.size(), 14);
}

// A model of DeepSeek's design that transformers does not know is refused, and read leniently with
// DeepSeek's multiplier.
TEST(HuggingFaceForms, UnknownLatentAttentionHasDeepSeeksMultiplier) {
  const ModelRope kimi = parse_hugging_face(
      R"({"model_type": "kimi_k2", "qk_rope_head_dim": 64, "max_position_embeddings": 131072,
      "rope_theta": 50000.0, "rope_scaling": {"type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096, "mscale": 0.707,
                                              "mscale_all_dim": 0.707}})",
      Strictness::lenient);
  EXPECT_NEAR(kimi.layers.front().softmax_multiplier, 1.5896261651208735, 1e-12);
  EXPECT_THAT(kimi.warnings, testing::Contains("model_type is taken for latent attention of "
                                               "DeepSeek's design: rope_scaling.mscale_all_dim "
                                               "multiplies the logits"));
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
