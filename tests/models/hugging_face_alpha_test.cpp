// SPDX-License-Identifier: Apache-2.0
//
// Hunyuan's alpha: beside the rope type dynamic (HunyuanOCR's files say xdrope) it makes another
// base once and for all, and nothing else of the scaling is read. The base is the formula's, in
// long double: theta alpha^(d / (d - 2)).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "eigen_rope/models/hugging_face.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// An exponential and a logarithm, each good to an ulp or so, and the logarithm's error counts
/// ln(alpha) times.
constexpr double kTolerance = 32 * 0x1p-53;

const std::string kNeutral =
    R"("factor": 1.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0)";

std::string file(const std::string& members, const std::string& parameters,
                 const std::string& model_type = "hunyuan_v1_dense") {
  return R"({"model_type": ")" + model_type +
         R"(", "max_position_embeddings": 32768, "num_hidden_layers": 4, "num_attention_heads": 16,
      "hidden_size": 2048, "rope_theta": 10000.0, )" +
         members + R"("rope_scaling": {)" + parameters + "}}";
}

std::string ocr(const std::string& sections = R"("xdrope_section": [16, 16, 16, 16])") {
  return file(
      R"("attention_head_dim": 128, "head_dim": 128, "vision_config": {"hidden_size": 1152}, )",
      R"("alpha": 1000.0, "type": "xdrope", )" + kNeutral + ", " + sections, "hunyuan_vl");
}

double base_of(double alpha, double dims) {
  return static_cast<double>(10000.0L * std::pow(static_cast<long double>(alpha),
                                                 static_cast<long double>(dims / (dims - 2))));
}

void expect_base(const ModelRope& model, double base) {
  ASSERT_EQ(model.layers.size(), 1U);
  EXPECT_NEAR(model.layers[0].powers.base, base, kTolerance * base);
  EXPECT_EQ(scaling_name(model.layers[0].scaling), std::string("default"));
  EXPECT_FALSE(depends_on_length(model.layers[0].scaling));
}

std::string refused(const std::string& text) {
  return test::error_of([&] { parse_hugging_face(text); });
}

TEST(HuggingFaceAlpha, IsAnotherBase) {
  for (const char* type : {"hunyuan_v1_dense", "hunyuan_v1_moe"}) {
    for (const double alpha : {1000.0, 2.5}) {
      const std::string parameters =
          R"("type": "dynamic", "alpha": )" + std::to_string(alpha) + ", " + kNeutral;
      expect_base(parse_hugging_face(file("", parameters, type)), base_of(alpha, 128));
    }
  }
}

TEST(HuggingFaceAlpha, WithoutItDynamicIsDynamic) {
  const ModelRope model = parse_hugging_face(file("", R"("type": "dynamic", "factor": 4.0)"));
  EXPECT_EQ(model.layers[0].powers.base, 10000.0);
  EXPECT_TRUE(depends_on_length(model.layers[0].scaling));
}

TEST(HuggingFaceAlpha, NothingElseIsReadBesideIt) {
  const std::string text = file("", R"("type": "dynamic", "alpha": 1000.0, "factor": 4.0)");
  EXPECT_THAT(refused(text), HasSubstr("rope_scaling.factor must be 1 beside alpha"));
  const ModelRope lenient = parse_hugging_face(text, Strictness::lenient);
  expect_base(lenient, base_of(1000, 128));
  EXPECT_THAT(lenient.warnings, Contains(HasSubstr("rope_scaling.factor")));
}

TEST(HuggingFaceAlpha, OtherFamiliesDoNotReadIt) {
  EXPECT_THAT(refused(file("", R"("type": "dynamic", "factor": 4.0, "alpha": 1000.0)", "llama")),
              HasSubstr("rope_scaling.alpha is no key of rope type dynamic"));
  EXPECT_THAT(refused(file("", R"("type": "xdrope", "alpha": 1000.0)")),
              HasSubstr("rope_scaling.type must be default, linear"));
}

TEST(HuggingFaceAlpha, MustBePositive) {
  EXPECT_THAT(refused(file("", R"("type": "dynamic", "alpha": -1.0)")),
              HasSubstr("rope_scaling.alpha must be greater than 0, got -1"));
}

TEST(HuggingFaceAlpha, HunyuanOcrIsReadAsText) {
  const ModelRope model = parse_hugging_face(ocr());
  expect_base(model, base_of(1000, 128));
  EXPECT_EQ(model.layers[0].head_dims, 128);
  EXPECT_EQ(model.layers[0].pairing->kind(), PairKind::split_half);
  EXPECT_FALSE(model.layers[0].sections);
  EXPECT_THAT(
      model.warnings,
      Contains(HasSubstr(
          "rope_scaling.xdrope_section gives the two elements of a pair different positions")));
}

TEST(HuggingFaceAlpha, HunyuanOcrMayHaveAPartOfText) {
  const std::string flat = file(
      R"("head_dim": 128, )", R"("alpha": 1000.0, "type": "xdrope", "mrope_section": [32, 16, 16])",
      "hunyuan_vl_text");
  const ModelRope nested = parse_hugging_face(
      R"({"model_type": "hunyuan_vl", "vision_config": {}, "text_config": )" + flat + "}");
  expect_base(nested, base_of(1000, 128));
  EXPECT_EQ(nested.warnings.size(), parse_hugging_face(flat).warnings.size());
}

TEST(HuggingFaceAlpha, SectionsMustMakeUpThePairs) {
  EXPECT_THAT(refused(ocr(R"("xdrope_section": [16, 16, 16, 8])")),
              HasSubstr("xdrope_section must add up to the number of pairs (64)"));
  EXPECT_THAT(refused(ocr(R"("xdrope_section": [32, 32])")),
              HasSubstr("xdrope_section must have 3 or 4 lengths"));
  EXPECT_THAT(refused(ocr(R"("xdrope_section": [16, 16, 16, 16], "mrope_section": [32, 16, 16])")),
              HasSubstr("xdrope_section must equal rope_scaling.mrope_section"));
}

TEST(HuggingFaceAlpha, AnotherNameOfTheHeadsWidthMustAgree) {
  const std::string parameters = R"("type": "dynamic", "alpha": 1000.0)";
  EXPECT_THAT(refused(file(R"("attention_head_dim": 64, )", parameters)),
              HasSubstr("attention_head_dim must equal the head's width (128)"));
  // HunyuanOCR's class reads it where head_dim is missing.
  const ModelRope model =
      parse_hugging_face(file(R"("attention_head_dim": 64, )", parameters, "hunyuan_vl_text"));
  EXPECT_EQ(model.layers[0].head_dims, 64);
  expect_base(model, base_of(1000, 64));
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
