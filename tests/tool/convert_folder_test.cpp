// SPDX-License-Identifier: Apache-2.0
//
// What lies beside the weights: carried along to a converted folder, with its permissions, and the
// program says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <sstream>

#include "support/model_files.hpp"
#include "tool/convert/convert.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::convert_folder_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t hidden = 6;
const std::string config =
    R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "rope_theta": 10000.0,)"
    R"( "rms_norm_eps": 1e-05, "max_position_embeddings": 64, "num_hidden_layers": 1})";

class ConvertFolder : public testing::Test {
 protected:
  ConvertFolder() {
    fs::create_directory(in());
    write_bytes(
        in() / "model.safetensors",
        file_of(
            {{"model.layers.0.self_attn.q_proj.weight", random_tensor("F32", {64, hidden}, 1)},
             {"model.layers.0.self_attn.k_proj.weight", random_tensor("F32", {32, hidden}, 2)}}));
    write_bytes(in() / "config.json", config);
  }

  fs::path in() const { return folder / "in"; }
  fs::path out() const { return folder / "out"; }

  static std::string words(const fs::path& from, const fs::path& to,
                           const std::string& more = "--from split_half --to interleaved") {
    return "convert " + from.string() + " " + to.string() + " " + more;
  }

  static std::set<std::string> names_in(const fs::path& where) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(where))
      names.insert(entry.path().filename().string());
    return names;
  }

  static unsigned mode(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
  }

  TemporaryFolder folder{};
};

TEST_F(ConvertFolder, ConfigurationAndTokeniserAreCarriedAlong) {
  const std::set<std::string> carried{
      "chat_template.jinja", "config.json",          "generation_config.json",  "LICENSE",
      "merges.txt",          "modeling_own.py",      "special_tokens_map.json", "tokenizer.json",
      "tokenizer.model",     "tokenizer_config.json"};
  for (const std::string& name : carried) {
    if (name != "config.json") write_bytes(in() / name, "content of " + name);
  }
  const std::set<std::string> left{"pytorch_model.bin", "consolidated.safetensors", "model.gguf",
                                   "pytorch_model.bin.index.json"};
  for (const std::string& name : left) write_bytes(in() / name, "weights");
  write_bytes(in() / ".gitattributes", "hidden");
  fs::create_directory(in() / "original");

  const Outcome dry = run_tool(words(in(), out()) + " --dry-run");
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out,
              HasSubstr("to be carried along: LICENSE, chat_template.jinja, config.json, "));
  EXPECT_FALSE(fs::exists(out()));

  const Outcome outcome = run_tool(words(in(), out()));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> expected = carried;
  expected.insert("model.safetensors");
  EXPECT_EQ(names_in(out()), expected);
  for (const std::string& name : carried)
    EXPECT_EQ(file_bytes(out() / name), file_bytes(in() / name)) << name;
  EXPECT_THAT(outcome.out, HasSubstr("carried along: LICENSE, chat_template.jinja, config.json, "
                                     "generation_config.json, merges.txt, "));
  EXPECT_THAT(outcome.out,
              HasSubstr("left behind: consolidated.safetensors, model.gguf, original/, "
                        "pytorch_model.bin, pytorch_model.bin.index.json\n"));
  EXPECT_THAT(outcome.out, HasSubstr("note: config.json still names a family that transformers "
                                     "rotates as split_half: the result is for programs"));
}

// In the cache of Hugging Face's hub every file is a link.
TEST_F(ConvertFolder, LinksAreCarriedAsFiles) {
  const fs::path snapshot = folder / "snapshot";
  fs::create_directory(snapshot);
  for (const char* name : {"model.safetensors", "config.json"})
    fs::create_symlink(in() / name, snapshot / name);
  const Outcome outcome = run_tool(words(snapshot, out()));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(fs::is_symlink(out() / "config.json"));
  EXPECT_EQ(file_bytes(out() / "config.json"), config);
}

// DeepSeek 3's configuration has a word for how its rows pair.
TEST_F(ConvertFolder, ARecordOfThePairingInTheConfigurationIsAdapted) {
  const std::string latent =
      R"({"model_type": "deepseek_v3", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4, "kv_lora_rank": 12,)"
      R"( "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "rope_theta": 10000.0, "rms_norm_eps": 1e-05,)"
      R"( "max_position_embeddings": 64, "num_hidden_layers": 1})";
  const auto with = [&](const char* value) {
    return std::string(latent).insert(1, std::string("\"rope_interleave\": ") + value + ", ");
  };
  write_bytes(
      in() / "model.safetensors",
      file_of({{"model.layers.0.self_attn.q_proj.weight", random_tensor("F32", {48, hidden}, 1)},
               {"model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
                random_tensor("F32", {16, hidden}, 2)}}));
  std::string said;
  const auto converted_config = [&](const std::string& text, const std::string& options,
                                    int code = 0) {
    fs::remove(in() / "config.json");
    fs::remove_all(out());
    write_bytes(in() / "config.json", text);
    const Outcome outcome = run_tool(words(in(), out(), options));
    EXPECT_EQ(outcome.code, code) << outcome.err;
    said = outcome.out + outcome.err;
    return code == 0 ? file_bytes(out() / "config.json") : "";
  };
  const std::string adapted = converted_config(with("false"), "--from split_half --to interleaved");
  EXPECT_EQ(nlohmann::json::parse(adapted)["rope_interleave"], true);
  EXPECT_THAT(said, HasSubstr("adapted: rope_interleave in config.json is now true\n"));
  EXPECT_THAT(said, Not(HasSubstr("still names a family")));
  // Nothing else has changed, and the numbers are written as they were.
  auto rest = nlohmann::ordered_json::parse(adapted);
  rest.erase("rope_interleave");
  EXPECT_EQ(rest.dump(), nlohmann::ordered_json::parse(latent).dump());
  EXPECT_THAT(adapted, HasSubstr("\"rms_norm_eps\": 1e-05"));

  // Back again it is what transformers reads.
  EXPECT_EQ(run_tool(words(out(), folder / "back", "--from interleaved --to split_half")).code, 0);
  EXPECT_EQ(nlohmann::json::parse(file_bytes(folder / "back" / "config.json"))["rope_interleave"],
            false);
  EXPECT_EQ(read_model(folder / "back" / "model.safetensors").tensors[0].second.bytes,
            read_model(in() / "model.safetensors").tensors[0].second.bytes);

  EXPECT_EQ(nlohmann::json::parse(converted_config(
                with("true"), "--from interleaved --to split_half"))["rope_interleave"],
            false);
  const std::string nested = R"({"model_type": "llava", "text_config": )" + with("true") + "}";
  EXPECT_EQ(nlohmann::json::parse(converted_config(
                nested, "--from interleaved --to split_half"))["text_config"]["rope_interleave"],
            false);
  converted_config(with("false"), "--from split_half --to quarter", 2);
  EXPECT_THAT(
      said,
      HasSubstr(
          "config.json: records the pairing as rope_interleave, which has no word for quarter\n"));
  // Without that word it is copied, and the program says what transformers makes of it.
  EXPECT_EQ(converted_config(latent, "--from interleaved --to split_half"), latent);
  EXPECT_THAT(
      said,
      HasSubstr("still names a family that transformers rotates as interleaved_to_split_half"));
}

TEST_F(ConvertFolder, PermissionsAreKept) {
  write_bytes(in() / "tokenizer.json", "{}");
  for (const unsigned bits : {0600U, 0640U, 0666U, 0444U}) {
    for (const char* name : {"model.safetensors", "config.json", "tokenizer.json"})
      ASSERT_EQ(::chmod((in() / name).c_str(), bits), 0);
    ASSERT_EQ(::chmod(in().c_str(), bits | 0700U), 0);
    fs::remove_all(out());
    const Outcome outcome = run_tool(words(in(), out()));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* name : {"model.safetensors", "config.json", "tokenizer.json"})
      EXPECT_EQ(mode(out() / name), bits) << name;
    EXPECT_EQ(mode(out()), bits | 0700U);
    fs::remove(folder / "out.safetensors");
    EXPECT_EQ(run_tool(words(in() / "model.safetensors", folder / "out.safetensors")).code, 0);
    EXPECT_EQ(mode(folder / "out.safetensors"), bits);
  }
  // Nobody may add to a cache.
  ASSERT_EQ(::chmod(in().c_str(), 0555), 0);
  fs::remove_all(out());
  EXPECT_EQ(run_tool(words(in(), out())).code, 0);
  EXPECT_EQ(mode(out()), 0555U);
  ASSERT_EQ(::chmod(out().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(in().c_str(), 0755), 0);
}

TEST_F(ConvertFolder, AnExistingOutputIsReplacedOnDemandOnly) {
  const fs::path file = folder / "out.safetensors";
  write_bytes(file, "old");
  const Outcome refused = run_tool(words(in() / "model.safetensors", file));
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "[rope] " + file.string() +
                ": must be new, a file of that name exists; --overwrite replaces it\n");
  EXPECT_EQ(file_bytes(file), "old");
  EXPECT_EQ(run_tool(words(in() / "model.safetensors", file) + " --overwrite").code, 0);
  EXPECT_NE(file_bytes(file), "old");

  fs::create_directory(out());
  EXPECT_EQ(run_tool(words(in(), out())).code, 0);  // an empty folder is as good as a new one
  for (const char* more : {"", " --overwrite"}) {
    const Outcome full = run_tool(words(in(), out()) + more);
    EXPECT_EQ(full.code, 2);
    EXPECT_EQ(full.err,
              "[rope] " + out().string() + ": must be a new or empty folder, like its source\n");
  }
}

TEST_F(ConvertFolder, AFileCarriesNothingAndSaysSo) {
  const fs::path place = folder / "place";
  fs::create_directory(place);
  const Outcome outcome = run_tool(words(in() / "model.safetensors", place / "out.safetensors"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(names_in(place).size(), 1U);
  EXPECT_THAT(outcome.out, HasSubstr("note: config.json and the tokeniser were not copied: a file "
                                     "was named, not a folder.\n"));
}

TEST_F(ConvertFolder, TheReportAndTheHelpWarnOfLlamaCppsOwnPermutation) {
  const std::string sentence = "convert_hf_to_gguf.py permutes the q and k of Llama-like";
  EXPECT_THAT(run_tool(words(in(), out())).out, HasSubstr(sentence));
  EXPECT_THAT(run_tool("convert --help").out, HasSubstr(sentence));
}

TEST_F(ConvertFolder, NoLineOfTheReportIsLongerThan120) {
  for (int i = 0; i < 40; ++i)
    write_bytes(in() / ("tokenizer_part_" + std::to_string(i) + ".json"), "{}");
  const Outcome outcome =
      run_tool(words(in(), out(), "--from split_half --to interleaved --rotary-dims 8 --force"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("warning: "));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

}  // namespace
}  // namespace eigen_rope::tool::convert_folder_tests
