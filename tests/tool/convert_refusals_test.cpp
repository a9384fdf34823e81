// SPDX-License-Identifier: Apache-2.0
//
// What `eigen-rope convert` refuses, each in one sentence, and that nothing is written then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "eigen_rope/numbers/error.hpp"
#include "support/model_files.hpp"
#include "tool/convert/convert.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool::convert_refusals_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t heads = 2, dims = 4, hidden = 3;
const std::string layer = "layers.0.attention.";

TestTensor weight(std::int64_t rows = heads * dims) {
  return random_tensor("F32", {rows, hidden}, 1);
}

TestModel good() {
  return {{layer + "wq.weight", weight()},
          {layer + "wk.weight", weight()},
          {layer + "wv.weight", weight()}};
}

TestModel with(const std::string& name, const TestTensor& tensor) {
  TestModel model = good();
  model.push_back({layer + name, tensor});
  return model;
}

TestTensor renamed(TestTensor tensor, const std::string& dtype) {
  tensor.dtype = dtype;
  return tensor;
}

ConvertOptions plain() {
  ConvertOptions options;
  options.from = PairKind::interleaved;
  options.to = PairKind::split_half;
  options.heads = heads;
  options.head_dims = dims;
  return options;
}

class ConvertRefusals : public testing::Test {
 protected:
  // What is said of in.safetensors, without its name.
  std::string sentence(const TestModel& model, const ConvertOptions& options,
                       const std::string& metadata = "") {
    write_bytes(folder / "in.safetensors", file_of(model, metadata));
    std::string words = sentence_of(folder / "in.safetensors", folder / "out.safetensors", options);
    const std::string start = "[rope] " + (folder / "in.safetensors").string() + ": ";
    return words.substr(0, start.size()) == start ? words.substr(start.size()) : words;
  }

  std::string sentence_of(const fs::path& in, const fs::path& out, const ConvertOptions& options) {
    const bool there = fs::exists(out);
    const auto files = [&] {
      return std::distance(fs::recursive_directory_iterator(folder.path()),
                           fs::recursive_directory_iterator());
    };
    const auto before = files();
    try {
      convert(in, out, options, Writing::whole);
    } catch (const FileError& error) {
      EXPECT_EQ(files(), before);
      return error.what();
    } catch (const Error& error) {
      EXPECT_EQ(files(), before);
      return error.what();
    }
    if (!there) fs::remove_all(out);
    return "not refused";
  }

  TemporaryFolder folder{};
};

TEST_F(ConvertRefusals, TheModelTheyStartFromIsConverted) {
  EXPECT_EQ(sentence(good(), plain()), "not refused");
}

TEST_F(ConvertRefusals, OptionsThatDoNotFit) {
  const auto changed = [&](const std::function<void(ConvertOptions&)>& change) {
    ConvertOptions options = plain();
    change(options);
    return sentence(good(), options);
  };
  const std::vector<std::pair<std::function<void(ConvertOptions&)>, std::string>> cases{
      {[](auto& o) { o.heads.reset(); },
       "[rope] --heads must be given and > 0, here or in a config.json, got 0"},
      {[](auto& o) { o.heads = -2; },
       "[rope] --heads must be given and > 0, here or in a config.json, got -2"},
      {[](auto& o) { o.head_dims.reset(); },
       "[rope] --head-dims must be given and > 0, here or in a config.json, got 0"},
      {[](auto& o) { o.key_heads = 0; },
       "[rope] --kv-heads must be given and > 0, here or in a config.json, got 0"},
      {[](auto& o) { o.key_heads = 3; }, "[rope] heads must be a multiple of key heads, 3, got 2"},
      {[](auto& o) { o.rotary_dims = 3; }, "[rope] rotary dims must be even, got 3"},
      {[](auto& o) { o.rotary_dims = 6; },
       "[rope] the rotated window must fit a query head of 4 dims, got 6 dims from 0 on"},
      {[](auto& o) { o.rotary_dims = 2, o.offset = 3; },
       "[rope] the rotated window must fit a query head of 4 dims, got 2 dims from 3 on"},
      {[](auto& o) { o.offset = -2, o.rotary_dims = 2; },
       "[rope] the rotated window must fit a query head of 4 dims, got 2 dims from -2 on"},
      {[](auto& o) { o.key_offset = 2; },
       "[rope] the rotated window must fit a key head of 4 dims, got 4 dims from 2 on"},
      {[](auto& o) { o.to = PairKind::quarter, o.rotary_dims = 2; },
       "[rope] rotary dims must be a multiple of 4 for quarter, got 2"},
      {[](auto& o) { o.to = PairKind::interleaved; },
       "[rope] --from and --to must read pairs from different slots of 4 rotary dims, got "
       "interleaved and interleaved"},
      {[](auto& o) { o.to = PairKind::interleaved_to_split_half; },
       "[rope] --from and --to must read pairs from different slots of 4 rotary dims, got "
       "interleaved and interleaved_to_split_half"},
      {[](auto& o) { o.rotary_dims = 2; },
       "[rope] --from and --to must read pairs from different slots of 2 rotary dims, got "
       "interleaved and split_half"},
      {[](auto& o) { o.heads = std::int64_t{1} << 40; },
       "[rope] a layer must have at most 262144 rows of queries, got 1099511627776 x 4"},
      {[](auto& o) { o.query = "("; }, "[rope] --q must be a regular expression, got ("},
      {[](auto& o) { o.keep = "["; }, "[rope] --keep must be a regular expression, got ["},
  };
  for (const auto& [change, expected] : cases) EXPECT_EQ(changed(change), expected);
}

TEST_F(ConvertRefusals, ModelsThatCannotBeShownToBeSafe) {
  const TestTensor two = random_tensor("F32", {2}, 1);
  TestModel no_key = good(), other_type = good(), wrong_rows = good(), vector = good(),
            none{{"norm.weight", two}};
  no_key.erase(no_key.begin() + 1);
  other_type[0].second = {"F8_E4M3", {8, 3}, std::string(24, 'x')};
  wrong_rows[1].second = weight(12);
  vector[0].second.shape = {24};
  TestModel stray_norm = good();
  stray_norm.push_back({"layers.1.attention.q_norm.weight", random_tensor("F32", {dims}, 1)});
  TestModel latent{{layer + "q_b_proj.weight", weight()},
                   {layer + "kv_a_proj_with_mqa.weight", weight()}};
  TestModel wide{{layer + "wq.weight", {"F16", {8, 1048577}, std::string(16777232, '\0')}},
                 {layer + "wk.weight", weight()}};
  TestModel long_name = good();
  long_name.push_back({std::string(1001, 'n'), two});
  const std::vector<std::pair<TestModel, std::string>> cases{
      {none, "must have query and key projections, got none: --q and --k name them"},
      {latent,
       "latent attention must be described by --q, --k, --offset, --key-head-dims and "
       "--key-offset"},
      {no_key,
       "\"layers.0.attention.\" must have the weights of a query and of a key projection, got no "
       "key"},
      {other_type,
       "tensor \"layers.0.attention.wq.weight\" must be F64, F32, F16 or BF16 to be converted, got "
       "F8_E4M3"},
      {wrong_rows, "tensor \"layers.0.attention.wk.weight\" must have shape [8, any], got [12, 3]"},
      {vector, "tensor \"layers.0.attention.wq.weight\" must have shape [8, any], got [24]"},
      {wide, "tensor \"layers.0.attention.wq.weight\" must have 1 to 1048576 columns, got 1048577"},
      {with("wq.bias", two), "tensor \"layers.0.attention.wq.bias\" must have shape [8], got [2]"},
      {with("wq.qweight", renamed(weight(), "I32")),
       "tensor \"layers.0.attention.wq.qweight\" belongs to a projection that is converted and "
       "must be a weight, a bias or LoRA's, got "
       "\".qweight\""},
      {with("wk.weight_scale", two),
       "tensor \"layers.0.attention.wk.weight_scale\" belongs to a projection that is converted "
       "and must be a weight, a bias or LoRA's, "
       "got "
       "\".weight_scale\""},
      {with("wq.lora_B.default.weight", weight(4)),
       "tensor \"layers.0.attention.wq.lora_B.default.weight\" must have shape [8, any], got [4, "
       "3]"},
      {with("q_norm.weight", two),
       "tensor \"layers.0.attention.q_norm.weight\" must have shape [4] or [8], got [2]"},
      {with("q_norm.norms.0.weight", two),
       "tensor \"layers.0.attention.q_norm.norms.0.weight\" must be a norm's weight or bias, got "
       "\".norms.0.weight\""},
      {with("k_norm.weight", renamed(random_tensor("F16", {dims}, 1), "I16")),
       "tensor \"layers.0.attention.k_norm.weight\" must be F64, F32, F16 or BF16 to be converted, "
       "got I16"},
      {stray_norm,
       "tensor \"layers.1.attention.q_norm.weight\" must lie beside the projection it belongs to"},
      {with("q_scale", two),
       "tensor \"layers.0.attention.q_scale\" lies beside converted projections and what it does "
       "with them is not known: --keep leaves it "
       "as it "
       "is"},
      {with("inner.query_gain", two),
       "tensor \"layers.0.attention.inner.query_gain\" lies beside converted projections and what "
       "it does with them is not known: --keep "
       "leaves "
       "it as it is"},
      {with("qkv_proj.weight", weight(24)),
       "tensor \"layers.0.attention.qkv_proj.weight\" is a fused projection of a family whose "
       "order is not known: "
       "--qkv-order must say how its rows lie"},
      {long_name, "names must have at most 1000 bytes, got 1001"},
  };
  for (const auto& [model, expected] : cases) EXPECT_EQ(sentence(model, plain()), expected);
}

TEST_F(ConvertRefusals, TensorsThatSayNothingAboutRowsPass) {
  const TestTensor one = random_tensor("F32", {1}, 1), two = random_tensor("F32", {2}, 1);
  // One number is the same for every row; sinks and frequencies know heads and pairs, not slots.
  for (const char* name : {"wq.input_scale", "k_scale"})
    EXPECT_EQ(sentence(with(name, one), plain()), "not refused") << name;
  for (const char* name : {"sinks", "rotary_emb.inv_freq", "wv.bias", "wq.lora_A.weight"})
    EXPECT_EQ(sentence(with(name, two), plain()), "not refused") << name;
  ConvertOptions options = plain();
  options.keep = "q_scale$";
  EXPECT_EQ(sentence(with("q_scale", two), options), "not refused");
}

TEST_F(ConvertRefusals, FusedProjectionsNeedTheirOrderAndRows) {
  ConvertOptions options = plain();
  options.order = QkvOrder::grouped;
  const std::string name = "h.0.attn.Wqkv.weight";
  EXPECT_EQ(sentence({{name, weight(24)}}, options), "not refused");
  EXPECT_EQ(sentence({{name, weight(8)}}, options),
            "tensor \"h.0.attn.Wqkv.weight\" must have shape [24, any], got [8, 3]");
  options.key_head_dims = 8;
  EXPECT_EQ(sentence({{name, weight(24)}}, options),
            "[rope] query and key heads of a fused projection must have the same dims, got 8");
}

TEST_F(ConvertRefusals, ANameThatTwoOptionsMatch) {
  ConvertOptions options = plain();
  options.query = "w[qk]";
  options.key = "wk";
  EXPECT_EQ(
      sentence(good(), options),
      "tensor \"layers.0.attention.wk.weight\" must match one of --q, --k and --qkv, got more");
}

TEST_F(ConvertRefusals, OnlyWhatIsNamedIsConverted) {
  TestModel model = good();
  for (const char* name : {"wq", "wk"})
    model.push_back({std::string("vision.0.attention.") + name + ".weight", weight(20)});
  EXPECT_EQ(sentence(model, plain()),
            "tensor \"vision.0.attention.wq.weight\" must have shape [8, any], got [20, 3]");
  ConvertOptions options = plain();
  options.query = "layers.*wq";
  options.key = "layers.*wk";
  EXPECT_EQ(sentence(model, options), "not refused");
}

TEST_F(ConvertRefusals, NormsWithAPairingWhoseResultLiesElsewhere) {
  ConvertOptions options = plain();
  options.from = PairKind::interleaved_to_split_half;
  EXPECT_EQ(sentence(good(), options), "not refused");
  EXPECT_EQ(sentence(with("q_norm.weight", random_tensor("F32", {dims}, 1)), options),
            "tensor \"layers.0.attention.q_norm.weight\" is a norm, which cannot be shown to be "
            "safe with interleaved_to_split_half");
}

TEST_F(ConvertRefusals, WhatWasConvertedBefore) {
  EXPECT_EQ(sentence(good(), plain(), R"({"rope_pairing":"split_half"})"),
            "is recorded as paired split_half, --from must say so, got interleaved");
  EXPECT_EQ(sentence(good(), plain(), R"({"rope_pairing":"interleaved"})"), "not refused");
}

TEST_F(ConvertRefusals, RecordsOfBeforeThePairingsWereRenamedAreRead) {
  ConvertOptions back = plain();
  std::swap(back.from, back.to);
  EXPECT_EQ(sentence(good(), plain(), R"({"rope_pairing":"half"})"),
            "is recorded as paired split_half, --from must say so, got interleaved");
  EXPECT_EQ(sentence(good(), back, R"({"rope_pairing":"half"})"), "not refused");
  EXPECT_EQ(sentence(good(), plain(), R"({"rope_pairing":"interleaved_to_half"})"),
            "is recorded as paired interleaved_to_split_half, --from must say so, got interleaved");
}

TEST_F(ConvertRefusals, DestinationsThatCannotBe) {
  write_bytes(folder / "in.safetensors", file_of(good()));
  const fs::path in = folder / "in.safetensors";
  fs::create_hard_link(in, folder / "hard.safetensors");
  fs::create_symlink(in, folder / "soft.safetensors");
  fs::create_directory(folder / "folder");
  const auto said = [&](const char* name) {
    return sentence_of(in, folder / name, plain())
        .substr(("[rope] " + (folder / name).string() + ": ").size());
  };
  write_bytes(folder / "old.safetensors", "old");
  EXPECT_EQ(said("old.safetensors"),
            "must be new, a file of that name exists; --overwrite replaces it");
  fs::create_symlink(folder / "nothing", folder / "dangling.safetensors");
  EXPECT_EQ(said("dangling.safetensors"), "must be a file, like its source");
  EXPECT_EQ(file_bytes(folder / "old.safetensors"), "old");
  for (const char* name : {"in.safetensors", "hard.safetensors", "soft.safetensors"}) {
    EXPECT_EQ(said(name), "must be another file than its source");
  }
  EXPECT_EQ(said("folder"), "must be a file, like its source");
  EXPECT_EQ(said("none/out.safetensors"), "must be in a folder that exists");
  EXPECT_EQ(file_bytes(in), file_of(good()));
}

TEST_F(ConvertRefusals, FoldersThatDoNotAgreeWithTheirIndex) {
  const fs::path in = folder / "in", index = in / "model.safetensors.index.json";
  fs::create_directory(in);
  const auto said = [&](const std::string& text) {
    write_bytes(index, text);
    return sentence_of(in, folder / "out", plain());
  };
  const std::string start = "[rope] " + index.string() + ": ";
  EXPECT_EQ(sentence_of(in, folder / "out", plain()),
            "[rope] " + in.string() +
                ": must have model.safetensors.index.json, model.safetensors or one other "
                ".safetensors file, got 0");
  write_bytes(in / "a.safetensors", file_of(good()));
  EXPECT_EQ(sentence_of(in, folder / "out", plain()), "not refused");
  for (const char* text : {"[]", "{}", R"({"weight_map":[]})", "1"}) {
    EXPECT_EQ(said(text), start + "must have an object weight_map") << text;
  }
  for (const char* text : {"", "{\"weight_map\":{}", "\xff"})
    EXPECT_THAT(said(text), StartsWith(start + "must be JSON, got a parse error")) << text;
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_EQ(said("{\"weight_map\":{\"x\":" + deep + "}}"),
            start + "must not be nested deeper than 64 levels");
  EXPECT_EQ(said(R"({"weight_map":{}})"), start + "weight_map must name a tensor");
  EXPECT_EQ(
      said(R"({"weight_map":{"x":"../a.safetensors"}})"),
      start + "weight_map must name files beside it, got \"../a.safetensors\" for tensor \"x\"");
  EXPECT_EQ(said(R"({"weight_map":{"x":1}})"),
            start + "weight_map must name files beside it, got 1 for tensor \"x\"");
  EXPECT_EQ(said(R"({"weight_map":{"x":".."}})"),
            start + "weight_map must name files beside it, got \"..\" for tensor \"x\"");
  EXPECT_EQ(said(R"({"weight_map":{"x":"b.safetensors"}})"),
            "[rope] " + (in / "b.safetensors").string() +
                ": cannot be opened: No such file or directory");
  Json map;
  for (const auto& [name, tensor] : good()) map[name] = "a.safetensors";
  EXPECT_EQ(said(Json{{"weight_map", map}}.dump()), "not refused");
  map["more"] = "a.safetensors";
  EXPECT_EQ(said(Json{{"weight_map", map}}.dump()),
            start + "tensor \"more\" must be in a.safetensors");
  map.erase("more");
  map.erase(layer + "wv.weight");
  EXPECT_EQ(
      said(Json{{"weight_map", map}}.dump()),
      start +
          "weight_map must say that tensor \"layers.0.attention.wv.weight\" is in a.safetensors");
}

TEST_F(ConvertRefusals, TheProgramSaysOneSentenceAndExitsWithTwo) {
  write_bytes(folder / "in.safetensors", file_of(good()));
  const std::string files =
      (folder / "in.safetensors").string() + " " + (folder / "out.safetensors").string();
  const std::string right = " --from interleaved --to split_half --heads 2 --head-dims 4";
  for (const std::string& words :
       {files, files + " --from split_half --to sideways --heads 2 --head-dims 4",
        files + right + " --heads x", files + right + " --rotary-dims 3",
        files + right + " --json " + (folder / "none" / "x.json").string(),
        (folder / "in.safetensors").string() + right}) {
    const Outcome outcome = run_tool("convert " + words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.err.substr(0, 7), "[rope] ");
    EXPECT_FALSE(fs::exists(folder / "out.safetensors")) << words;
  }
  const Outcome dry = run_tool("convert " + files + right + " --dry-run");
  EXPECT_EQ(dry.code, 0);
  EXPECT_THAT(dry.out, HasSubstr("layers.0.attention.wq.weight  weight, 2 heads"));
  EXPECT_FALSE(fs::exists(folder / "out.safetensors"));
  const Outcome whole =
      run_tool("convert " + files + right + " --quiet --json " + (folder / "x.json").string());
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out, "");
  EXPECT_EQ(Json::parse(file_bytes(folder / "x.json"))["verified"], true);
  EXPECT_TRUE(fs::exists(folder / "out.safetensors"));
}

TEST_F(ConvertRefusals, ConfigJsonBesideTheModelSaysHeads) {
  const std::string config =
      R"({"model_type":"llama","hidden_size":8,"num_attention_heads":2,"num_key_value_heads":1,"rope_theta":10000.0,)"
      R"("max_position_embeddings":64,"num_hidden_layers":1})";
  write_bytes(folder / "config.json", config);
  ConvertOptions options = plain();
  options.from = PairKind::split_half;
  options.to = PairKind::interleaved;
  options.heads.reset();
  options.head_dims.reset();
  TestModel model = good();
  EXPECT_EQ(sentence(model, options),
            "tensor \"layers.0.attention.wk.weight\" must have shape [4, any], got [8, 3]");
  model[1].second = weight(dims);
  EXPECT_EQ(sentence(model, options), "not refused");

  // It also knows how the architecture pairs; only a file's own record may say otherwise.
  std::swap(options.from, options.to);
  const std::string config_path = (folder / "config.json").string();
  EXPECT_EQ(sentence(model, options), "[rope] " + config_path +
                                          ": says split_half pairs (llama), --from must agree, got "
                                          "interleaved; --force takes the option");
  EXPECT_EQ(sentence(model, options, R"({"rope_pairing":"interleaved"})"), "not refused");
}

}  // namespace
}  // namespace eigen_rope::tool::convert_refusals_tests
