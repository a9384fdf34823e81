// SPDX-License-Identifier: Apache-2.0
//
// config.json beside the weights is always read: what an option says against it is refused unless
// it is forced, and the order of fused rows, the heads of latent attention and models that do not
// rotate are known from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "eigen_rope/numbers/error.hpp"
#include "support/model_files.hpp"
#include "tool/convert/convert.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::convert_config_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t hidden = 6;

const std::string neox =
    R"({"model_type":"gpt_neox","hidden_size":64,"num_attention_heads":4,"rotary_pct":0.25,"rotary_emb_base":10000,)"
    R"("max_position_embeddings":64,"num_hidden_layers":1})";

std::string config_of(const std::string& type, const std::string& more) {
  return R"({"model_type":")" + type +
         R"(","hidden_size":64,"num_attention_heads":4,"rope_theta":10000.0,"max_position_embeddings":64,"num_hidden_layers":1)" +
         more + "}";
}

// Heads of 16: 4 of queries and 2 of keys.
TestModel separate() {
  return {{"model.layers.0.self_attn.q_proj.weight", random_tensor("F32", {64, hidden}, 1)},
          {"model.layers.0.self_attn.k_proj.weight", random_tensor("F32", {32, hidden}, 2)},
          {"model.layers.0.self_attn.v_proj.weight", random_tensor("F32", {32, hidden}, 3)}};
}

TestModel fused(const std::string& name, std::int64_t rows) {
  return {{name + ".weight", random_tensor("F32", {rows, hidden}, 1)}};
}

const std::string llama = config_of("llama", R"(,"num_key_value_heads":2)");

class ConvertConfig : public testing::Test {
 protected:
  fs::path in() const { return folder / "in.safetensors"; }
  fs::path out() const { return folder / "out.safetensors"; }
  fs::path config() const { return folder / "config.json"; }

  void write_config(const std::string& text) const {
    fs::remove(config());
    write_bytes(config(), text);
  }

  // What is said, "converted" if nothing is wrong; the report is in `report`.
  std::string said(const TestModel& model, ConvertOptions options,
                   const std::string& metadata = "") {
    write_bytes(in(), file_of(model, metadata));
    options.existing = Existing::replaced;
    try {
      report = convert(in(), out(), options, Writing::whole);
    } catch (const FileError& error) {
      return without_path(error.what());
    } catch (const Error& error) {
      return without_path(error.what());
    }
    return "converted";
  }

  std::string without_path(const std::string& words) const {
    for (const fs::path& path : {config(), in()}) {
      const std::string start = "[rope] " + path.string() + ": ";
      if (words.compare(0, start.size(), start) == 0)
        return path.filename().string() + ": " + words.substr(start.size());
    }
    return words;
  }

  static ConvertOptions towards(PairKind from, PairKind to) {
    ConvertOptions options;
    options.from = from;
    options.to = to;
    return options;
  }

  ConvertReport report{};
  TemporaryFolder folder{eigen_rope::test::Medium::memory};
};

const ConvertOptions usual = [] {
  ConvertOptions options;
  options.from = PairKind::split_half;
  options.to = PairKind::interleaved;
  return options;
}();

TEST_F(ConvertConfig, EveryOptionThatContradictsItIsRefusedUnlessForced) {
  write_config(llama);
  EXPECT_EQ(said(separate(), usual), "converted");
  EXPECT_THAT(report.warnings, IsEmpty());
  struct Case {
    std::function<void(ConvertOptions&)> change;
    std::string known, option, value;
    bool fits;
  };
  const std::vector<Case> cases{
      {[](auto& o) { o.heads = 8; }, "4 heads", "--heads", "8", false},
      {[](auto& o) { o.key_heads = 4; }, "2 key heads", "--kv-heads", "4", false},
      {[](auto& o) { o.head_dims = 32; }, "16 dims a head", "--head-dims", "32", false},
      {[](auto& o) { o.rotary_dims = 8; }, "16 rotary dims", "--rotary-dims", "8", true},
      {[](auto& o) { o.offset = 2; }, "0 as the offset", "--offset", "2", false},
      {[](auto& o) { o.key_head_dims = 32; }, "16 dims a key head", "--key-head-dims", "32", false},
      {[](auto& o) { o.key_offset = 4; }, "0 as the key offset", "--key-offset", "4", false},
      {[](auto& o) { std::swap(o.from, o.to); }, "split_half pairs (llama)", "--from",
       "interleaved", true},
  };
  for (const Case& c : cases) {
    ConvertOptions options = usual;
    c.change(options);
    EXPECT_EQ(said(separate(), options), "config.json: says " + c.known + ", " + c.option +
                                             " must agree, got " + c.value +
                                             "; --force takes the option");
    options.contradiction = Contradiction::overridden;
    const std::string forced = said(separate(), options);
    EXPECT_EQ(forced == "converted", c.fits) << forced;
    if (!c.fits) continue;
    EXPECT_THAT(report.warnings, ElementsAre(config().string() + " says " + c.known + ": " +
                                             c.option + " " + c.value + " overrides it"));
  }
  ConvertOptions agreeing = usual;
  agreeing.heads = 4, agreeing.key_heads = 2, agreeing.head_dims = 16, agreeing.rotary_dims = 16,
  agreeing.offset = 0;
  EXPECT_EQ(said(separate(), agreeing), "converted");
}

// A folder of GPT-NeoX in which 4 of 16 elements rotate became one of 16.
TEST_F(ConvertConfig, HeadsAloneDoNotHideTheRotatedShare) {
  write_config(neox);
  const TestModel model = fused("gpt_neox.layers.0.attention.query_key_value", 3 * 64);
  ConvertOptions options = usual;
  options.heads = 4;
  options.head_dims = 16;
  EXPECT_EQ(said(model, options), "converted");
  EXPECT_EQ(report.plan.shape.rotary_dims, 4);
  EXPECT_EQ(report.plan.order, QkvOrder::grouped);
  options.rotary_dims = 16;
  EXPECT_EQ(said(model, options),
            "config.json: says 4 rotary dims, --rotary-dims must agree, got 16; --force takes the "
            "option");
}

// A folder of Cohere was converted from half.
TEST_F(ConvertConfig, HeadsAloneDoNotHideThePairing) {
  write_config(config_of("cohere", R"(,"num_key_value_heads":2)"));
  ConvertOptions options = usual;
  options.heads = 4;
  options.head_dims = 16;
  EXPECT_EQ(said(separate(), options),
            "config.json: says interleaved pairs (cohere), --from must agree, got split_half; "
            "--force takes the option");
  EXPECT_EQ(said(separate(), towards(PairKind::interleaved, PairKind::split_half)), "converted");
}

TEST_F(ConvertConfig, TheOrderOfFusedRowsIsTheFamilys) {
  struct Case {
    std::string config, name;
    std::int64_t rows;
    QkvOrder order;
    const char *known, *other;
  };
  const std::string phi3 =
      config_of("phi3", R"(,"num_key_value_heads":2,"original_max_position_embeddings":64)");
  const std::vector<Case> cases{
      {phi3, "model.layers.0.self_attn.qkv_proj", 128, QkvOrder::concatenated,
       "concatenated rows of q, k and v (phi3)", "grouped"},
      {neox, "gpt_neox.layers.0.attention.query_key_value", 192, QkvOrder::grouped,
       "grouped rows of q, k and v (gpt_neox)", "concatenated"},
      {config_of("falcon", R"(,"new_decoder_architecture":true,"num_kv_heads":2)"),
       "transformer.h.0.self_attention.query_key_value", 128, QkvOrder::grouped,
       "grouped rows of q, k and v (falcon)", "concatenated"},
  };
  for (const Case& c : cases) {
    write_config(c.config);
    EXPECT_EQ(said(fused(c.name, c.rows), usual), "converted") << c.config;
    EXPECT_EQ(report.plan.order, c.order);
    ConvertOptions wrong = usual;
    wrong.order = c.order == QkvOrder::grouped ? QkvOrder::concatenated : QkvOrder::grouped;
    EXPECT_EQ(said(fused(c.name, c.rows), wrong), std::string("config.json: says ") + c.known +
                                                      ", --qkv-order must agree, got " + c.other +
                                                      "; --force takes the option");
    wrong.contradiction = Contradiction::overridden;
    EXPECT_EQ(said(fused(c.name, c.rows), wrong), "converted");
  }
}

TEST_F(ConvertConfig, AFamilyWithoutAKnownOrderMustBeTold) {
  const std::string name = "model.layers.0.self_attn.qkv_proj";
  const std::string question = "in.safetensors: tensor \"" + name +
                               ".weight\" is a fused projection of a family whose order is not "
                               "known: --qkv-order must say how its rows lie";
  // Llama's own files have projections apart; whoever fused them knows the order.
  write_config(llama);
  EXPECT_EQ(said(fused(name, 128), usual), question);
  ConvertOptions told = usual;
  told.order = QkvOrder::concatenated;
  EXPECT_EQ(said(fused(name, 128), told), "converted");
  fs::remove(config());
  told.heads = 4, told.key_heads = 2, told.head_dims = 16;
  EXPECT_EQ(said(fused(name, 128), told), "converted");
  told.order.reset();
  EXPECT_EQ(said(fused(name, 128), told), question);
}

TEST_F(ConvertConfig, CodeGensOrderIsNeither) {
  write_config(
      R"({"model_type":"codegen","n_embd":64,"n_head":4,"rotary_dim":8,"n_positions":64,"n_layer":1})");
  ConvertOptions options = towards(PairKind::interleaved, PairKind::split_half);
  EXPECT_THAT(said(fused("transformer.h.0.attn.qkv_proj", 192), options),
              HasSubstr("is a fused projection of a family whose order is not known"));
  options.order = QkvOrder::grouped;
  EXPECT_THAT(said(fused("transformer.h.0.attn.qkv_proj", 192), options),
              StartsWith("config.json: says codegen, whose qkv_proj has four blocks of queries, "
                         "values and keys, --qkv-order must agree"));
}

// Older files of Falcon name 71 key heads and have one.
TEST_F(ConvertConfig, FalconsOlderFilesHaveOneKeyHead) {
  write_config(config_of(
      "falcon", R"(,"multi_query":true,"new_decoder_architecture":false,"num_kv_heads":4)"));
  EXPECT_EQ(said(fused("transformer.h.0.self_attention.query_key_value", 96), usual), "converted");
  EXPECT_EQ(report.plan.shape.key_heads, 1);
}

TEST_F(ConvertConfig, LatentAttentionNeedsNoOptions) {
  const std::string latent =
      R"(,"q_lora_rank":5,"kv_lora_rank":12,"qk_nope_head_dim":8,"qk_rope_head_dim":4,"v_head_dim":8)";
  write_config(config_of("deepseek_v3", latent));
  const std::string layer = "model.layers.0.self_attn.";
  TestModel model{{layer + "q_a_proj.weight", random_tensor("F32", {5, hidden}, 1)},
                  {layer + "q_b_proj.weight", random_tensor("F32", {4 * 12, 5}, 2)},
                  {layer + "kv_a_proj_with_mqa.weight", random_tensor("F32", {16, hidden}, 3)},
                  {layer + "kv_a_layernorm.weight", random_tensor("F32", {12}, 4)},
                  {layer + "kv_b_proj.weight", random_tensor("F32", {4 * 16, 12}, 5)}};
  const ConvertOptions options = towards(PairKind::interleaved, PairKind::split_half);
  ASSERT_EQ(said(model, options), "converted");
  const AttentionShape shape = report.plan.shape;
  EXPECT_EQ(shape.heads, 4);
  EXPECT_EQ(shape.key_heads, 1);
  EXPECT_EQ(shape.rotary_dims, 4);
  EXPECT_EQ(shape.query.dims, 12);
  EXPECT_EQ(shape.query.offset, 8);
  EXPECT_EQ(shape.key.dims, 16);
  EXPECT_EQ(shape.key.offset, 12);
  // By rows: pairs 2k, 2k + 1 of the last four became k, k + 2.
  const ReadModel after = read_model(out());
  for (const auto& [name, columns, first] :
       {std::tuple(layer + "q_b_proj.weight", 5, 12 + 8),
        std::tuple(layer + "kv_a_proj_with_mqa.weight", 6, 12)}) {
    const Numbers before = numbers_of(name.find("q_b") != std::string::npos ? model[1].second
                                                                            : model[2].second),
                  now = numbers_of(after.at(name));
    for (const auto& [to, from] :
         {std::pair(0, 0), std::pair(1, 2), std::pair(2, 1), std::pair(3, 3)}) {
      EXPECT_EQ(now[static_cast<std::size_t>((first + to) * columns)],
                before[static_cast<std::size_t>((first + from) * columns)])
          << name;
    }
    for (int row = 0; row < 8; ++row)
      EXPECT_EQ(now[static_cast<std::size_t>(row * columns)],
                before[static_cast<std::size_t>(row * columns)]);
  }
  ConvertOptions described = options;
  described.heads = 4, described.key_heads = 1, described.head_dims = 12, described.offset = 8,
  described.rotary_dims = 4;
  described.key_head_dims = 16, described.key_offset = 12;
  EXPECT_EQ(said(model, described), "converted");
  described.offset = 0;
  EXPECT_EQ(
      said(model, described),
      "config.json: says 8 as the offset, --offset must agree, got 0; --force takes the option");

  // An indexer of DeepSeek 3.2 pairs otherwise.
  model.push_back({layer + "indexer.wk.weight", random_tensor("F32", {4, hidden}, 6)});
  EXPECT_EQ(said(model, options), "in.safetensors: tensor \"" + layer +
                                      "indexer.wk.weight\" lies beside converted projections and "
                                      "what it does with them is not known: "
                                      "--keep leaves it as it is");
  write_config(config_of("deepseek_v3", R"(,"qk_rope_head_dim":4)"));
  EXPECT_THAT(said(model, options), StartsWith("config.json: has latent attention without "
                                               "qk_nope_head_dim and kv_lora_rank: --q, --k, "));
}

TEST_F(ConvertConfig, WithoutItTheOptionsSayEverything) {
  EXPECT_EQ(said(separate(), usual),
            "[rope] --heads must be given and > 0, here or in a config.json, got 0");
  ConvertOptions options = usual;
  options.heads = 4, options.key_heads = 2, options.head_dims = 16;
  EXPECT_EQ(said(separate(), options), "converted");
}

TEST_F(ConvertConfig, OneThatCannotBeReadIsRefusedUnlessForced) {
  ConvertOptions options = usual;
  options.heads = 4, options.key_heads = 2, options.head_dims = 16;
  for (const char* text : {"{}", "[", "{\"model_type\":\"llama\"", ""}) {
    write_config(text);
    EXPECT_THAT(said(separate(), options), StartsWith("config.json: ")) << text;
    ConvertOptions forced = options;
    forced.contradiction = Contradiction::overridden;
    EXPECT_EQ(said(separate(), forced), "converted") << text;
    EXPECT_THAT(report.warnings,
                ElementsAre(StartsWith("nothing was taken from a configuration: ")))
        << text;
  }
}

// What strict reading cannot vouch for is not taken in silence.
TEST_F(ConvertConfig, ReadingIsStrictUnlessLenient) {
  write_config(config_of(
      "llama", R"(,"num_key_value_heads":2,"rope_scaling":{"rope_type":"linear","factor":0.5})"));
  ConvertOptions options = usual;
  EXPECT_EQ(said(separate(), options),
            "config.json: rope_scaling.factor must be at least 1, got 0.5 (read leniently, it is "
            "taken as it is); --lenient does so");
  options.strictness = models::Strictness::lenient;
  EXPECT_EQ(said(separate(), options), "converted");
  EXPECT_THAT(report.warnings,
              ElementsAre(HasSubstr("rope_scaling.factor must be at least 1, got 0.5")));
}

TEST_F(ConvertConfig, AnotherConfigurationMustAgree) {
  write_config(llama);
  const fs::path other = folder / "other.json";
  ConvertOptions options = usual;
  options.config = other;
  const auto said_of = [&](const std::string& text) {
    fs::remove(other);
    write_bytes(other, text);
    return said(separate(), options);
  };
  const std::string start = "config.json: says ", end = "; --force takes the option";
  EXPECT_EQ(said_of(llama), "converted");
  EXPECT_EQ(said_of(config_of("llama", "")),
            start + "2 key heads, --config must agree, got " + other.string() + " 4" + end);
  EXPECT_EQ(said_of(config_of("llama", R"(,"num_key_value_heads":2,"head_dim":32)")),
            start + "16 rotary dims, --config must agree, got " + other.string() + " 32" + end);
  EXPECT_EQ(said_of(config_of("cohere", R"(,"num_key_value_heads":2)")),
            start + "split_half pairs, --config must agree, got " + other.string() +
                " interleaved" + end);
  fs::remove(config());
  EXPECT_EQ(said_of(llama), "converted");
}

TEST_F(ConvertConfig, ModelsThatDoNotRotateAreRefused) {
  TestModel model = separate();
  for (auto& [name, tensor] : model) name.replace(0, 5, "transformer");
  const TestTensor table = random_tensor("F32", {64, hidden}, 9);
  ConvertOptions options = usual;
  options.heads = 4, options.key_heads = 2, options.head_dims = 16;
  for (const char* name :
       {"transformer.wpe.weight", "transformer.embeddings.position_embeddings.weight", "wpe.weight",
        "transformer.layers.0.self_attn.relative_attention_bias.weight"}) {
    TestModel learned = model;
    learned.push_back({name, table});
    EXPECT_EQ(said(learned, options), std::string("in.safetensors: tensor \"") + name +
                                          "\" holds learned positions: the model does not rotate "
                                          "and nothing is to convert; --force converts it")
        << name;
    ConvertOptions forced = options;
    forced.contradiction = Contradiction::overridden;
    EXPECT_EQ(said(learned, forced), "converted");
    // ESM's files have a table that is not used.
    learned.push_back({"transformer.layers.0.self_attn.rotary_embeddings.inv_freq",
                       random_tensor("F32", {8}, 4)});
    EXPECT_EQ(
        said(learned, options),
        "in.safetensors: tensor \"transformer.layers.0.self_attn.rotary_embeddings.inv_freq\" lies "
        "beside "
        "converted projections and what it does with them is not known: --keep leaves it as it is");
    learned.back().first = "transformer.layers.0.self_attn.rotary_emb.inv_freq";
    EXPECT_EQ(said(learned, options), "converted");
  }
  // The positions of a tower beside the text.
  model.push_back({"vision_tower.embeddings.position_embedding.weight", table});
  EXPECT_EQ(said(model, options), "converted");
  // A configuration says it too.
  write_config(config_of("falcon", R"(,"alibi":true)"));
  EXPECT_THAT(said(model, options), StartsWith("config.json: "));
}

// GPT-2's projections are fused too: that it does not rotate comes before the question how its rows
// lie.
TEST_F(ConvertConfig, ThatAModelDoesNotRotateComesFirst) {
  TestModel model = fused("h.0.attn.c_attn", 192);
  model.push_back({"wpe.weight", random_tensor("F32", {64, hidden}, 9)});
  ConvertOptions options = usual;
  options.heads = 4, options.head_dims = 16;
  EXPECT_THAT(said(model, options), StartsWith("in.safetensors: tensor \"wpe.weight\" holds "
                                               "learned positions: the model does not rotate"));
}

TEST_F(ConvertConfig, WhatIsBelievedIsSaid) {
  write_config(config_of("own_llm", R"(,"num_key_value_heads":2)"));
  ConvertOptions options = usual;
  options.strictness = models::Strictness::lenient;
  EXPECT_EQ(said(separate(), options), "converted");
  EXPECT_THAT(report.warnings,
              testing::Contains(
                  "how own_llm (model_type) pairs is not known: --from split_half is believed"));
  fs::remove(config());
  options.heads = 4, options.key_heads = 2, options.head_dims = 16;
  EXPECT_EQ(said(separate(), options), "converted");
  EXPECT_THAT(report.notes,
              testing::Contains(StartsWith("No config.json was read: the options alone say")));
}

TEST_F(ConvertConfig, FilesWithAndWithoutARecordAreRefused) {
  const fs::path source = folder / "in";
  fs::create_directory(source);
  const TestModel model = separate();
  write_bytes(source / "a.safetensors", file_of({model[0]}, R"({"rope_pairing":"split_half"})"));
  write_bytes(source / "b.safetensors", file_of({model[1], model[2]}));
  nlohmann::json map;
  for (const auto& [name, tensor] : model)
    map[name] = name == model[0].first ? "a.safetensors" : "b.safetensors";
  write_bytes(source / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  write_bytes(source / "config.json", llama);
  EXPECT_THAT([&] { convert(source, folder / "out", usual, Writing::whole); },
              testing::ThrowsMessage<FileError>(
                  "[rope] " + (source / "b.safetensors").string() +
                  ": must record rope_pairing as other files of the model do"));
}

}  // namespace
}  // namespace eigen_rope::tool::convert_config_tests
