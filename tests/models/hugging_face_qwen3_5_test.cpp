// SPDX-License-Identifier: Apache-2.0
//
// Qwen3.5 rotates a quarter of its head, and interleaves the sections of the three axes in it. The
// axes of the pairs and the rates are those of Qwen3_5TextRotaryEmbedding of transformers 5.23.0,
// which was called with a position on one axis at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "eigen_rope/models/hugging_face.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

const std::string kQwen35Sections = R"("mrope_interleaved": true, "mrope_section": [11, 11, 10], )";

std::string qwen3_5(const std::string& model_type, const std::string& sections = kQwen35Sections) {
  return R"({"model_type": ")" + model_type + R"(", "text_config": {"model_type": ")" + model_type +
         R"(_text", "head_dim": 256, "hidden_size": 4096, "num_attention_heads": 16,
      "num_key_value_heads": 4, "num_hidden_layers": 32, "full_attention_interval": 4,
      "max_position_embeddings": 262144, "rope_parameters": {)" +
         sections +
         R"("partial_rotary_factor": 0.25, "rope_theta": 10000000, "rope_type": "default"}}})";
}

std::string axes_of(const Sections& sections, Index pairs) {
  std::string axes;
  for (Index pair = 0; pair < pairs; ++pair)
    axes += "thw"[static_cast<std::size_t>(sections.axis(pair))];
  return axes;
}

TEST(HuggingFaceQwen35, InterleavesTheSectionsOfAQuarterOfItsHead) {
  for (const char* type : {"qwen3_5", "qwen3_5_moe"}) {
    const ModelRope model = parse_hugging_face(qwen3_5(type));
    ASSERT_EQ(model.layers.size(), 1U) << type;
    const LayerRope& layer = model.layers[0];
    EXPECT_THAT(layer.layers, testing::ElementsAre(3, 7, 11, 15, 19, 23, 27, 31)) << type;
    EXPECT_EQ(layer.head_dims, 256) << type;
    EXPECT_EQ(layer.powers.rotary_dims, 64) << type;
    EXPECT_EQ(layer.pairing->kind(), PairKind::split_half) << type;
    ASSERT_TRUE(layer.sections) << type;
    EXPECT_EQ(*layer.sections, Sections(SectionPattern::interleaved_hf, {11, 11, 10})) << type;
    EXPECT_EQ(axes_of(*layer.sections, 32), "thwthwthwthwthwthwthwthwthwthwth") << type;
  }
}

TEST(HuggingFaceQwen35, LeavesTheRestOfOtherSectionsToTime) {
  const ModelRope model = parse_hugging_face(
      qwen3_5("qwen3_5", R"("mrope_interleaved": true, "mrope_section": [16, 8, 8], )"));
  ASSERT_TRUE(model.layers.at(0).sections);
  EXPECT_EQ(axes_of(*model.layers[0].sections, 32), "thwthwthwthwthwthwthwthwtttttttt");
}

TEST(HuggingFaceQwen35, HasSectionsWhereTheFileHasNone) {
  const ModelRope model = parse_hugging_face(qwen3_5("qwen3_5", ""));
  ASSERT_TRUE(model.layers.at(0).sections);
  EXPECT_EQ(*model.layers[0].sections, Sections(SectionPattern::interleaved_hf, {11, 11, 10}));
}

TEST(HuggingFaceQwen35, HasTheRatesOfTransformers) {
  const Frequencies frequencies = parse_hugging_face(qwen3_5("qwen3_5")).layers.at(0).frequencies();
  ASSERT_EQ(frequencies.pairs(), 32);
  EXPECT_EQ(frequencies.attention_factor().high, 1);
  const auto expect_rate = [&](std::size_t pair, double rate) {
    // Float: a rounded exponent, whose error counts ln(rate) times, and a few roundings.
    const double allowed = (2 * std::abs(std::log(rate)) + 8) * 0x1p-24 * rate;
    EXPECT_NEAR(frequencies.rates()[pair].high, rate, allowed) << pair;
  };
  expect_rate(0, 1);
  expect_rate(1, 0.60429639);
  expect_rate(15, 0.0005232991);
  expect_rate(16, 0.00031622779);
  expect_rate(31, 1.6548171e-07);
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
