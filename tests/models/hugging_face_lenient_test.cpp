// SPDX-License-Identifier: Apache-2.0
//
// What the lenient reader makes of configurations the strict one refuses: Hugging Face's choice,
// with a warning; and that reading leniently changes nothing about a file that has no fault. (That
// every such warning is there: hugging_face_errors_test.cpp.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "eigen_rope/models/hugging_face.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

LayerRope read(const std::string& members) {
  const ModelRope model = parse_hugging_face(
      R"({"model_type": "llama", "head_dim": 16, "max_position_embeddings": 8192, )" + members +
          "}",
      Strictness::lenient);
  EXPECT_FALSE(model.warnings.empty()) << members;
  return model.layers.front();
}

LayerRope scaled(const std::string& members) {
  return read(R"("rope_theta": 10000, "rope_scaling": {)" + members + "}");
}

const std::string yarn = R"("type": "yarn", "factor": 8, "original_max_position_embeddings": 1024)";

TEST(HuggingFaceLenient, AFactorBelowOneIsUsed) {
  EXPECT_EQ(std::get<Linear<>>(scaled(R"("type": "linear", "factor": 0.5)").scaling).factor, 0.5);
}

TEST(HuggingFaceLenient, ABetaOfZeroIsTheDefault) {
  EXPECT_EQ(std::get<Yarn<>>(scaled(yarn + R"(, "beta_fast": 0)").scaling).beta_fast, 32);
  EXPECT_EQ(std::get<Yarn<>>(scaled(yarn + R"(, "beta_slow": 0.0)").scaling).beta_slow, 1);
}

TEST(HuggingFaceLenient, BetasInTheWrongOrderStay) {
  const auto turned =
      std::get<Yarn<>>(scaled(yarn + R"(, "beta_fast": 1, "beta_slow": 32)").scaling);
  EXPECT_EQ(turned.beta_fast, 1);
  EXPECT_EQ(turned.beta_slow, 32);
}

TEST(HuggingFaceLenient, AMissingOriginalContextIsTheContext) {
  EXPECT_EQ(original_context(scaled(R"("type": "yarn", "factor": 8)").scaling), 8192);
  EXPECT_EQ(
      original_context(
          scaled(R"("type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4)")
              .scaling),
      8192);
}

TEST(HuggingFaceLenient, AMissingFactorOfYarnIsTheRatio) {
  EXPECT_EQ(std::get<Yarn<>>(
                scaled(R"("type": "yarn", "original_max_position_embeddings": 1024)").scaling)
                .factor,
            8);
}

TEST(HuggingFaceLenient, RopeTypeWinsOverType) {
  EXPECT_STREQ(
      scaling_name(scaled(R"("type": "linear", "rope_type": "dynamic", "factor": 2)").scaling),
      "dynamic");
}

TEST(HuggingFaceLenient, RopeScalingWinsOverRopeParameters) {
  const LayerRope layer =
      read(R"("rope_theta": 10000, "rope_scaling": {"type": "linear", "factor": 2},
                                  "rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 10000})");
  EXPECT_EQ(std::get<Linear<>>(layer.scaling).factor, 2);
}

TEST(HuggingFaceLenient, TheBaseAndTheShareInsideWin) {
  const ModelRope model = parse_hugging_face(
      R"({"model_type": "phi", "head_dim": 16, "max_position_embeddings": 8192, "rope_theta": 10000,
      "partial_rotary_factor": 0.5, "rope_parameters": {"rope_theta": 500000, "partial_rotary_factor": 0.25}})",
      Strictness::lenient);
  EXPECT_EQ(model.layers.front().powers.base, 500000);
  EXPECT_EQ(model.layers.front().powers.rotary_dims, 4);
}

TEST(HuggingFaceLenient, AShareThatTheClassDoesNotReadIsIgnored) {
  const LayerRope layer = read(R"("rope_theta": 10000, "partial_rotary_factor": 0.5)");
  EXPECT_EQ(layer.powers.rotary_dims, 16);
}

TEST(HuggingFaceLenient, TheOriginalContextOutsideWins) {
  const LayerRope layer =
      read(R"("rope_theta": 10000, "original_max_position_embeddings": 2048, "rope_scaling": {)" +
           yarn + "}");
  EXPECT_EQ(original_context(layer.scaling), 2048);
}

TEST(HuggingFaceLenient, UnknownKeysChangeNothing) {
  const LayerRope known =
      parse_hugging_face(R"({"model_type": "llama", "head_dim": 16, "max_position_embeddings": 8192,
      "rope_theta": 10000, "rope_scaling": {)" +
                         yarn + "}}")
          .layers.front();
  const LayerRope more =
      scaled(yarn + R"(, "finetuned": true, "extrapolation_factor": 0.5, "low_freq_factor": 3)");
  for (std::size_t k = 0; k < 8; ++k)
    EXPECT_EQ(known.frequencies().rates()[k].high, more.frequencies().rates()[k].high) << k;
}

// Published on the Hugging Face hub as TheBloke/Yarn-Llama-2-7B-64K-GPTQ, whose own code reads
// "finetuned".
TEST(HuggingFaceLenient, YarnLlama2) {
  const std::string text =
      R"({"model_type": "llama", "hidden_size": 4096, "max_position_embeddings": 65536, "num_attention_heads": 32,
      "rope_theta": 10000, "rope_scaling": {"factor": 16.0, "original_max_position_embeddings": 4096, "type": "yarn", "finetuned": true}})";
  EXPECT_EQ(test::error_of([&] { (void)parse_hugging_face(text); }),
            "[rope] rope_scaling.finetuned is no key of rope type yarn, got true (read leniently, "
            "it is ignored)");
  const ModelRope model = parse_hugging_face(text, Strictness::lenient);
  EXPECT_THAT(model.warnings,
              testing::ElementsAre(
                  "rope_scaling.finetuned is no key of rope type yarn, got true: it is ignored"));
  EXPECT_DOUBLE_EQ(static_cast<double>(model.layers.front().frequencies().attention_factor()),
                   1.2772588722239781);  // 1 + ln(16) / 10
}

TEST(HuggingFaceLenient, AnAttentionFactorOfAnySignIsUsed) {
  EXPECT_EQ(static_cast<double>(
                scaled(yarn + R"(, "attention_factor": -2)").frequencies().attention_factor()),
            -2);
}

TEST(HuggingFaceLenient, AnUnknownFamilyHasTheUsualBase) {
  const ModelRope model =
      parse_hugging_face(R"({"model_type": "unheard_of", "head_dim": 16})", Strictness::lenient);
  EXPECT_EQ(model.layers.front().powers.base, 10000);
  EXPECT_FALSE(model.layers.front().pairing.has_value());
}

TEST(HuggingFaceLenient, HeadsAreRoundedDown) {
  const ModelRope model = parse_hugging_face(
      R"({"model_type": "llama", "hidden_size": 130, "num_attention_heads": 4, "rope_theta": 1e4})",
      Strictness::lenient);
  EXPECT_EQ(model.layers.front().head_dims, 32);
}

TEST(HuggingFaceLenient, LayersWithoutParametersAreLeftOut) {
  const ModelRope model =
      parse_hugging_face(R"({"model_type": "llama", "head_dim": 16, "num_hidden_layers": 2,
      "layer_types": ["full_attention", "sliding_attention"], "rope_parameters": {"full_attention": {"rope_theta": 10000}}})",
                         Strictness::lenient);
  ASSERT_EQ(model.layers.size(), 1);
  EXPECT_THAT(model.layers.front().layers, testing::ElementsAre(0));
}

TEST(HuggingFaceLenient, ScalingOutsideTheTextIsIgnored) {
  const ModelRope model =
      parse_hugging_face(R"({"model_type": "llava", "rope_scaling": {"type": "linear", "factor": 2},
      "text_config": {"model_type": "llama", "head_dim": 16, "rope_theta": 10000}})",
                         Strictness::lenient);
  EXPECT_STREQ(scaling_name(model.layers.front().scaling), "default");
}

TEST(HuggingFaceLenient, FilesWithoutFaultAreReadAlike) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(EIGEN_ROPE_TEST_DATA "/models/hugging_face")) {
    if (entry.path().stem() == "internlm2")
      continue;  // transformers does not know it, so that the strict reader refuses it
    const ModelRope strict = read_hugging_face(entry.path());
    const ModelRope lenient = read_hugging_face(entry.path(), Strictness::lenient);
    EXPECT_EQ(strict.warnings, lenient.warnings) << entry.path();
    ASSERT_EQ(strict.layers.size(), lenient.layers.size());
    for (std::size_t i = 0; i < strict.layers.size(); ++i) {
      EXPECT_EQ(strict.layers[i].frequencies(1).rates().back().high,
                lenient.layers[i].frequencies(1).rates().back().high)
          << entry.path();
    }
    ++files;
  }
  constexpr int published = 14;
  EXPECT_GE(files, published);
}

TEST(HuggingFaceLenient, ThereAreNoLayersBeyondTheirNumber) {
  EXPECT_THAT(
      read(R"("num_hidden_layers": 2, "rope_parameters": {"full_attention": {"rope_theta": 10000}},
                      "layer_types": ["full_attention", "full_attention", "full_attention", "full_attention"])")
          .layers,
      testing::ElementsAre(0, 1));
  const ModelRope listed = parse_hugging_face(
      R"({"model_type": "llama4_text", "head_dim": 16, "num_hidden_layers": 2, "rope_theta": 500000,
      "max_position_embeddings": 8192, "no_rope_layers": [1, 0, 1, 2]})",
      Strictness::lenient);
  EXPECT_THAT(listed.layers.front().layers, testing::ElementsAre(0));
  EXPECT_THAT(
      listed.warnings,
      testing::Contains(
          "no_rope_layers must have one entry per layer (2), got 4: those beyond are ignored"));
}

TEST(HuggingFaceLenient, ListsSayHowManyLayersThereAre) {
  const auto layers = [](const std::string& members) {
    return parse_hugging_face("{" + members + "}", Strictness::lenient).layer_count;
  };
  EXPECT_EQ(
      layers(
          R"("model_type": "llama", "head_dim": 16, "rope_theta": 10000, "layer_types": ["full_attention", "full_attention"])"),
      2);
  EXPECT_EQ(
      layers(
          R"("model_type": "llama4_text", "head_dim": 16, "rope_theta": 10000, "no_rope_layers": [1, 1, 0])"),
      3);
}

TEST(HuggingFaceLenient, NamesAreOnOneLine) {
  const ModelRope model =
      parse_hugging_face(R"({"model_type": "a\u001b[31mb", "head_dim": 16, "rope_theta": 10000})",
                         Strictness::lenient);
  EXPECT_EQ(model.architecture, "a\\x1b[31mb");
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
