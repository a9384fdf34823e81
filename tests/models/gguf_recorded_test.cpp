// SPDX-License-Identifier: Apache-2.0
//
// Files written by Python's gguf package (tests/python/make_gguf.py), against what was told to it:
// tests/data/models/gguf.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "eigen_rope/models/gguf.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::test {
namespace {

using Json = nlohmann::json;
using models::LayerRope;
using models::ModelRope;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// pow, exp and log, and their few products, each good to an ulp or so, on both sides.
constexpr double kTolerance = 64 * 2.220446049250313e-16;

const std::filesystem::path kFolder =
    std::filesystem::path(EIGEN_ROPE_TEST_DATA) / "models" / "gguf";

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".gguf") result.push_back(entry.path().stem().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

Json expected_of(const std::string& name) {
  std::ifstream stream(kFolder / (name + ".json"));
  return Json::parse(stream);
}

void expect_near(double got, double expected, const std::string& what) {
  EXPECT_NEAR(got, expected, kTolerance * std::abs(expected)) << what;
}

void expect_layer(const LayerRope& layer, const Json& expected, Index context) {
  EXPECT_EQ(layer.layer_type, expected["layer_type"]);
  EXPECT_EQ(layer.layers, expected["layers"].get<std::vector<Index>>());
  EXPECT_EQ(layer.head_dims, expected["head_dims"]);
  EXPECT_EQ(layer.powers.rotary_dims, expected["rotary_dims"]);
  EXPECT_EQ(layer.powers.base, expected["base"].get<double>());
  expect_near(layer.powers.linear_scale, expected["linear_scale"], "linear_scale");
  expect_near(layer.softmax_multiplier, expected["softmax_multiplier"], "softmax_multiplier");
  EXPECT_EQ(scaling_name(layer.scaling), expected["scaling"]["type"].get<std::string>());
  EXPECT_EQ(original_context(layer.scaling).value_or(0),
            expected["scaling"].value("original_context", Index{0}));
  ASSERT_TRUE(layer.pairing);
  EXPECT_EQ(layer.pairing->kind() == PairKind::split_half ? "split_half" : "interleaved",
            expected["pairing"].get<std::string>());
  EXPECT_EQ(layer.sections.has_value(), expected.contains("sections"));
  if (layer.sections) {
    EXPECT_EQ(layer.sections->lengths(), expected["sections"]["lengths"].get<std::vector<Index>>());
    const bool contiguous = layer.sections->pattern() == SectionPattern::contiguous;
    EXPECT_EQ(contiguous ? "contiguous" : "interleaved_ggml",
              expected["sections"]["pattern"].get<std::string>());
  }

  const Frequencies frequencies = layer.frequencies(context);
  expect_near(frequencies.attention_factor().high, expected["attention_factor"],
              "attention_factor");
  ASSERT_THAT(expected["rates"], SizeIs(static_cast<std::size_t>(frequencies.pairs())));
  for (std::size_t k = 0; k < expected["rates"].size(); ++k) {
    expect_near(frequencies.rates()[k].high, expected["rates"][k], "pair " + std::to_string(k));
  }
}

class GgufRecorded : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Files, GgufRecorded, ::testing::ValuesIn(names()),
                         [](const auto& file) { return file.param; });

TEST_P(GgufRecorded, SaysWhatWasWritten) {
  const Json expected = expected_of(GetParam());
  const ModelRope got = models::read_gguf(kFolder / (GetParam() + ".gguf"));
  EXPECT_EQ(got.architecture, expected["architecture"]);
  EXPECT_EQ(got.context, expected["context"]);
  EXPECT_EQ(got.layer_count, expected["layer_count"]);
  EXPECT_EQ(got.heads, expected["heads"]);
  EXPECT_EQ(got.key_heads, expected["key_heads"]);
  ASSERT_THAT(got.warnings, SizeIs(expected["warnings"].size()));
  for (std::size_t i = 0; i < got.warnings.size(); ++i)
    EXPECT_THAT(got.warnings[i], HasSubstr(expected["warnings"][i].get<std::string>()));
  ASSERT_THAT(got.layers, SizeIs(expected["layers"].size()));
  for (std::size_t i = 0; i < got.layers.size(); ++i)
    expect_layer(got.layers[i], expected["layers"][i], got.context);
}

ModelRope recorded(const std::string& name) {
  return models::read_gguf(kFolder / (name + ".gguf"));
}

/// Largest relative difference of two lists of rates.
double worst_difference(const Frequencies& got, const Frequencies& expected) {
  EXPECT_EQ(got.pairs(), expected.pairs());
  double worst = 0;
  for (std::size_t k = 0; k < got.rates().size(); ++k) {
    worst = std::max(worst, std::abs(got.rates()[k].high / expected.rates()[k].high - 1));
  }
  return worst;
}

/// A divisor was rounded to float32 once.
constexpr double kFloat32Rounding = 1.1920928955078125e-07;

TEST(GgufRecordedFiles, DivisorsOfLlama31AreItsScaling) {
  const Frequencies expected = Frequencies({16, 500000.0}, Llama3<>{8.0, 1.0, 4.0, 8192});
  const double worst =
      worst_difference(recorded("llama_factors").layers[0].frequencies(), expected);
  EXPECT_LE(worst, kFloat32Rounding);
  EXPECT_GT(worst, 0.0);
}

TEST(GgufRecordedFiles, YarnIsHuggingFacesOfTheSameModel) {
  const Frequencies got = recorded("qwen2_yarn").layers[0].frequencies();
  const Frequencies expected = Frequencies({64, 1000000.0}, test::yarn_of(4.0, 32768));
  EXPECT_LE(worst_difference(got, expected), kTolerance);
  expect_near(got.attention_factor().high, expected.attention_factor().high, "attention_factor");
}

TEST(GgufRecordedFiles, DeepSeeksYarnIsItsOwnRule) {
  const LayerRope got = recorded("deepseek2_yarn").layers[0];
  Yarn<> yarn = test::yarn_of(40.0, 4096);
  yarn.magnitude = YarnMagnitude::deepseek;
  yarn.mscale = 0.707;
  yarn.mscale_all_dim = 0.707;
  const Frequencies expected = Frequencies({64, 10000.0}, yarn);
  EXPECT_LE(worst_difference(got.frequencies(), expected), kTolerance);
  expect_near(got.frequencies().attention_factor().high, expected.attention_factor().high,
              "attention_factor");
  EXPECT_NEAR(got.softmax_multiplier, yarn_softmax_multiplier(40.0, 0.707), 2 * kFloat32Rounding);
}

TEST(GgufRecordedFiles, AreAllThere) { EXPECT_THAT(names(), SizeIs(14)); }

}  // namespace
}  // namespace eigen_rope::test
