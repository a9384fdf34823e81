// SPDX-License-Identifier: Apache-2.0
//
// What a plan reads of a config.json: published numbers of parameters, which layers rotate and see
// how far, and what is refused.
#include "tool/plan/training_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/run_tool.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"
#include "tool/plan/training_plan.hpp"

namespace eigen_rope::tool::training_model_tests {
namespace {

namespace fs = std::filesystem;
using models::Strictness;
using testing::EndsWith;

Json config_named(const std::string& name) {
  return read_json(fs::path(EIGEN_ROPE_TEST_DATA) / "models/hugging_face" / (name + ".json"));
}

class TrainingModels : public testing::Test {
 protected:
  TrainingModel read(const Json& config, std::optional<MlpKind> mlp = std::nullopt) {
    test::write_bytes(folder_ / "config.json", config.dump());
    return read_training_model(folder_.path(), Strictness::lenient, mlp);
  }

  /// What follows the file's name.
  std::string refusal(const Json& config) {
    try {
      read(config);
    } catch (const FileError& error) {
      const std::string words = error.what(), name = (folder_ / "config.json").string() + ": ";
      EXPECT_EQ(words.find(name), 7U) << words;
      return words.substr(words.find(name) + name.size());
    }
    return "nothing";
  }

  test::TemporaryFolder folder_;
};

Json with(Json config, const Json& more) {
  config.update(more);
  return config;
}

TEST_F(TrainingModels, CountTheParametersThatArePublished) {
  const Json llama = config_named("llama_3_1");
  EXPECT_EQ(parameters_of(read(llama)), 8'030'261'248);
  EXPECT_EQ(parameters_of(read(with(config_named("llama_2"),
                                    {{"intermediate_size", 11008}, {"vocab_size", 32000}}))),
            6'738'415'616);
  EXPECT_EQ(parameters_of(read(with(config_named("mistral"),
                                    {{"intermediate_size", 14336}, {"vocab_size", 32000}}))),
            7'241'732'096);
  EXPECT_EQ(parameters_of(read(with(llama, {{"hidden_size", 2048},
                                            {"head_dim", 64},
                                            {"num_hidden_layers", 16},
                                            {"intermediate_size", 8192},
                                            {"tie_word_embeddings", true}}))),
            1'235'814'400);
}

TEST_F(TrainingModels, KnowWhichMlpAFamilyHas) {
  const Json neox =
      with(config_named("gpt_neox"), {{"intermediate_size", 24576}, {"vocab_size", 50432}});
  EXPECT_EQ(read(neox).mlp, MlpKind::plain);
  EXPECT_EQ(read(neox, MlpKind::gated).mlp, MlpKind::gated);
  EXPECT_EQ(read(config_named("llama_3_1")).mlp, MlpKind::gated);
}

TEST_F(TrainingModels, SeeAsFarAsTheirLayersDo) {
  const Json widths{{"intermediate_size", 14336}, {"vocab_size", 32000}};
  const TrainingModel mistral = read(with(config_named("mistral"), widths));
  ASSERT_EQ(mistral.layers.size(), 1U);
  EXPECT_EQ(mistral.layers[0].window, 4096);
  EXPECT_EQ(read(with(config_named("mistral"), with(widths, {{"sliding_window", nullptr}})))
                .layers[0]
                .window,
            0);
  Json gemma = config_named("gemma_3");
  gemma["text_config"].update({{"intermediate_size", 10240}, {"vocab_size", 262208}});
  const TrainingModel mixed = read(gemma);
  ASSERT_EQ(mixed.layers.size(), 2U);
  EXPECT_EQ(mixed.layer_count(), 34);
  for (const LayerGroup& group : mixed.layers) {
    const bool sliding = group.layer_type == "sliding_attention";
    EXPECT_EQ(group.count, sliding ? 29 : 5);
    EXPECT_EQ(group.window, sliding ? 1024 : 0);
    EXPECT_EQ(group.rotary_dims, 256);
  }
  EXPECT_EQ(mixed.head, HeadMatrix::tied);
}

TEST_F(TrainingModels, KeepThePartThatRotates) {
  const TrainingModel model =
      read(with(config_named("stablelm"), {{"intermediate_size", 6912}, {"vocab_size", 50304}}));
  EXPECT_EQ(model.layers.at(0).head_dims, 80);
  EXPECT_EQ(model.layers.at(0).rotary_dims, 20);
}

TEST_F(TrainingModels, AreRefusedInOneSentence) {
  const Json llama = config_named("llama_3_1");
  const auto without = [](Json config, const char* key) {
    config.erase(key);
    return config;
  };
  EXPECT_EQ(refusal(without(llama, "intermediate_size")),
            "intermediate_size must be given, for a plan to count parameters");
  EXPECT_EQ(refusal(without(llama, "vocab_size")),
            "vocab_size must be given, for a plan to count parameters");
  for (const Json& bad : {Json(0), Json(-1), Json(2.5), Json("7"), Json(16777217)}) {
    EXPECT_EQ(refusal(with(llama, {{"vocab_size", bad}})),
              "vocab_size must be a whole number from 1 to 16777216, got " + bad.dump());
  }
  EXPECT_EQ(refusal(with(llama, {{"num_local_experts", 8}})),
            "num_local_experts says that the model is a mixture of experts, which a plan does not "
            "know how to cut");
  EXPECT_EQ(refusal(with(llama, {{"layer_types", {"full_attention"}}})),
            "layer_types must name a type for each of 32 layers");
  EXPECT_EQ(refusal(config_named("deepseek_v2_lite")),
            "is of a model with latent attention (deepseek_v2), whose keys and values a plan does "
            "not know");
  EXPECT_EQ(refusal(config_named("gpt_j")),
            "is of a family whose MLP a plan does not know (gptj): give --mlp");
}

TEST_F(TrainingModels, OfOtherFilesAreRefused) {
  const auto refusal_of = [](const fs::path& path) {
    try {
      read_training_model(path, Strictness::strict);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refusal_of("/nowhere/config.json"),
            "[rope] /nowhere/config.json: must be a config.json or a folder with one");
  const fs::path gguf = fs::path(EIGEN_ROPE_TEST_DATA) / "models/gguf/gpt_oss_yarn.gguf";
  EXPECT_EQ(refusal_of(gguf), "[rope] " + gguf.string() +
                                  ": is a GGUF file: give the config.json, which has the model's "
                                  "widths");
  test::write_bytes(folder_ / "config.json", R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12,
      "n_layer": 12, "vocab_size": 50257})");
  // The reader of configurations says what does not rotate, in its own words.
  EXPECT_THAT(refusal_of(folder_ / "config.json"), testing::HasSubstr("gpt2"));
}

}  // namespace
}  // namespace eigen_rope::tool::training_model_tests
