// SPDX-License-Identifier: Apache-2.0
//
// What strangers' files and command lines may contain: each ends with exit code 2 and one sentence,
// and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "support/run_tool.hpp"

namespace eigen_rope::tool::malformed_tests {
namespace {

using test::Outcome;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A number as GGUF and safetensors have it: little endian.
template <class T>
std::string bytes_of(T value) {
  std::string text;
  for (std::size_t i = 0; i < sizeof value; ++i)
    text += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  return text;
}

std::string gguf_string(const std::string& text) {
  return bytes_of<std::uint64_t>(text.size()) + text;
}

/// Version 3, no tensors.
std::string gguf(std::uint64_t pairs, const std::string& metadata, std::uint64_t tensors = 0) {
  return "GGUF" + bytes_of<std::uint32_t>(3) + bytes_of(tensors) + bytes_of(pairs) + metadata;
}

std::string gguf_text(const std::string& key, const std::string& value) {
  return gguf_string(key) + bytes_of<std::uint32_t>(8) + gguf_string(value);
}

std::string gguf_number(const std::string& key, std::uint32_t value) {
  return gguf_string(key) + bytes_of<std::uint32_t>(4) + bytes_of(value);
}

std::string safetensors(const std::string& header, std::size_t data = 0) {
  return bytes_of<std::uint64_t>(header.size()) + header + std::string(data, '\0');
}

/// A config.json that is in order but for what is added.
std::string config(const std::string& more) {
  return R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128, )" +
         more + "}";
}

struct Malformed {
  const char* name;
  std::string file;  // the name it is given
  std::string content;
  std::string words;    // {file} stands for the file, {out} for one that must not appear
  std::string mention;  // what the sentence must name
};

std::ostream& operator<<(std::ostream& out, const Malformed& malformed) {
  return out << malformed.name;
}

std::vector<Malformed> malformed_files() {
  const std::string inspect = "inspect {file} --json {out}";
  const std::string convert =
      "convert {file} {out} --from split_half --to interleaved --heads 1 --kv-heads 1 --head-dims "
      "4";
  return {
      {"empty_config", "config.json", "", inspect, "config.json"},
      {"not_json", "config.json", "{\"model_type\": llama}", inspect, "config.json"},
      {"cut_json", "config.json", R"({"model_type": "llama", "rope_scaling": {)", inspect,
       "config.json"},
      {"json_array", "config.json", "[1, 2]", inspect, "object"},
      {"json_number", "config.json", "7", inspect, "object"},
      {"not_utf8", "config.json", "{\"model_type\": \"\xff\xfe\"}", inspect, "config.json"},
      {"deep_nesting", "config.json", std::string(100000, '['), inspect, "config.json"},
      {"no_heads", "config.json",
       R"({"model_type": "nobody", "hidden_size": 64, "rope_theta": 1e4})", inspect + " --lenient",
       "num_attention_heads"},
      {"negative_heads", "config.json",
       R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": -4, "rope_theta": 1e4})",
       inspect, "num_attention_heads"},
      {"zero_heads", "config.json",
       R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 0, "rope_theta": 1e4})",
       inspect, "num_attention_heads"},
      {"odd_head_dim", "config.json", config(R"("head_dim": 7, "rope_theta": 10000.0)"), inspect,
       "7"},
      {"negative_theta", "config.json", config(R"("rope_theta": -1)"), inspect, "rope_theta"},
      {"text_theta", "config.json", config(R"("rope_theta": "10000")"), inspect, "rope_theta"},
      {"huge_theta", "config.json", config(R"("rope_theta": 1e999)"), inspect, "config.json"},
      {"scaling_is_list", "config.json", config(R"("rope_scaling": [1])"), inspect, "rope_scaling"},
      {"unknown_type", "config.json",
       config(R"("rope_scaling": {"rope_type": "magic", "factor": 2.0})"), inspect, "magic"},
      {"no_type", "config.json", config(R"("rope_scaling": {"factor": 2.0})"), inspect,
       "rope_scaling"},
      {"types_disagree", "config.json",
       config(R"("rope_scaling": {"rope_type": "linear", "type": "yarn", "factor": 2.0})"), inspect,
       "type"},
      {"linear_without_factor", "config.json", config(R"("rope_scaling": {"rope_type": "linear"})"),
       inspect, "factor"},
      {"factor_below_one", "config.json",
       config(R"("rope_scaling": {"rope_type": "linear", "factor": 0.5})"), inspect, "0.5"},
      {"factor_is_text", "config.json",
       config(R"("rope_scaling": {"rope_type": "linear", "factor": "2"})"), inspect, "factor"},
      {"unknown_key", "config.json",
       config(R"("rope_scaling": {"rope_type": "linear", "factor": 2.0, "facter": 3})"), inspect,
       "facter"},
      {"llama3_without_band", "config.json",
       config(
           R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 64})"),
       inspect, "freq_factor"},
      {"longrope_short_list", "config.json",
       config(
           R"("original_max_position_embeddings": 64, "rope_scaling": {"rope_type": "longrope", "short_factor": [1, 1], "long_factor": [2, 2]})"),
       inspect, "short_factor"},
      {"yarn_zero_context", "config.json",
       config(
           R"("rope_scaling": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 0})"),
       inspect, "original"},
      {"empty_gguf", "model.gguf", "", inspect, "model.gguf"},
      {"gguf_magic_only", "model.gguf", "GGUF", inspect, "model.gguf"},
      {"gguf_version_99", "model.gguf",
       "GGUF" + bytes_of<std::uint32_t>(99) + std::string(16, '\0'), inspect, "99"},
      {"gguf_more_pairs_than_bytes", "model.gguf", gguf(std::uint64_t{1} << 60, ""), inspect,
       "model.gguf"},
      {"gguf_more_tensors_than_bytes", "model.gguf", gguf(0, "", std::uint64_t{1} << 60), inspect,
       "model.gguf"},
      {"gguf_long_key", "model.gguf", gguf(1, bytes_of(~std::uint64_t{0})), inspect, "model.gguf"},
      {"gguf_unknown_value", "model.gguf",
       gguf(1, gguf_string("a.b") + bytes_of<std::uint32_t>(77)), inspect, "a.b"},
      {"gguf_endless_array", "model.gguf",
       gguf(1, gguf_string("a.b") + bytes_of<std::uint32_t>(9) + bytes_of<std::uint32_t>(4) +
                   bytes_of(~std::uint64_t{0})),
       inspect, "a.b"},
      {"gguf_no_architecture", "model.gguf", gguf(0, ""), inspect, "general.architecture"},
      {"gguf_key_twice", "model.gguf",
       gguf(2, gguf_text("general.architecture", "llama") +
                   gguf_text("general.architecture", "llama")),
       inspect, "general.architecture"},
      {"gguf_text_base", "model.gguf",
       gguf(5, gguf_text("general.architecture", "llama") +
                   gguf_number("llama.embedding_length", 64) +
                   gguf_number("llama.attention.head_count", 4) +
                   gguf_number("llama.context_length", 128) +
                   gguf_text("llama.rope.freq_base", "10000")),
       inspect, "llama.rope.freq_base"},
      {"gguf_odd_dims", "model.gguf",
       gguf(5, gguf_text("general.architecture", "llama") +
                   gguf_number("llama.embedding_length", 64) +
                   gguf_number("llama.attention.head_count", 4) +
                   gguf_number("llama.context_length", 128) +
                   gguf_number("llama.rope.dimension_count", 7)),
       inspect, "7"},
      {"empty_safetensors", "in.safetensors", "", convert, "in.safetensors"},
      {"safetensors_header_past_the_end", "in.safetensors", bytes_of<std::uint64_t>(1000) + "{}",
       convert, "in.safetensors"},
      {"safetensors_header_huge", "in.safetensors", bytes_of(~std::uint64_t{0}) + "{}", convert,
       "in.safetensors"},
      {"safetensors_not_json", "in.safetensors", safetensors("{nonsense"), convert,
       "in.safetensors"},
      {"safetensors_offsets_reversed", "in.safetensors",
       safetensors(
           R"({"q_proj.weight": {"dtype": "F32", "shape": [4, 1], "data_offsets": [16, 0]}})", 16),
       convert, "q_proj.weight"},
      {"safetensors_too_few_bytes", "in.safetensors",
       safetensors(
           R"({"q_proj.weight": {"dtype": "F32", "shape": [4, 1], "data_offsets": [0, 16]}})", 12),
       convert, "q_proj.weight"},
      {"safetensors_unknown_type", "in.safetensors",
       safetensors(
           R"({"q_proj.weight": {"dtype": "F31", "shape": [4, 1], "data_offsets": [0, 16]}})", 16),
       convert, "F31"},
      {"safetensors_shape_disagrees", "in.safetensors",
       safetensors(
           R"({"q_proj.weight": {"dtype": "F32", "shape": [5, 1], "data_offsets": [0, 16]}})", 16),
       convert, "q_proj.weight"},
      {"safetensors_nothing_to_convert", "in.safetensors",
       safetensors(R"({"other": {"dtype": "F32", "shape": [4, 1], "data_offsets": [0, 16]}})", 16),
       convert, "in.safetensors"},
      {"recorded_rates_not_json", "inv_freq.json", "{", "verify {file} --json {out}",
       "inv_freq.json"},
      {"recorded_rates_of_unknown_type", "inv_freq.json",
       R"({"a": {"type": "magic", "params": {"dim": 2, "base": 1e4}, "attention_factor": 1, "inv_freq": [1]}})",
       "verify {file} --json {out}", "magic"},
      {"scaling_without_type", "a.json", config(R"("rope_theta": 10000.0)"),
       "compare {file} :dims=8", ":dims=8"},
      {"scaling_of_unknown_type", "a.json", config(R"("rope_theta": 10000.0)"),
       "compare {file} magic:dims=8", "magic"},
      {"scaling_with_unknown_key", "a.json", config(R"("rope_theta": 10000.0)"),
       "compare {file} linear:dims=8,base=10000,facter=2", "facter"},
      {"scaling_with_text", "a.json", config(R"("rope_theta": 10000.0)"),
       "compare {file} linear:dims=8,base=10000,factor=two", "two"},
      {"scaling_without_dims", "a.json", config(R"("rope_theta": 10000.0)"),
       "compare {file} linear:base=10000,factor=2", "dims"},
      {"no_such_file", "a.json", "", "inspect {file}.missing --json {out}", "missing"},
      {"negative_context", "config.json", config(R"("rope_theta": 10000.0)"),
       "inspect {file} --context -5 --json {out}", "context"},
      {"context_is_text", "config.json", config(R"("rope_theta": 10000.0)"),
       "inspect {file} --context many --json {out}", "context"},
      {"picture_of_unknown_kind", "config.json", config(R"("rope_theta": 10000.0)"),
       "inspect {file} --plot {out}.bmp", ".svg"},
      {"no_such_layer", "config.json", config(R"("rope_theta": 10000.0)"),
       "inspect {file} --layer nowhere --json {out}", "nowhere"},
      {"no_such_folder_to_write_to", "config.json", config(R"("rope_theta": 10000.0)"),
       "inspect {file} --json {file}.d/out.json", "out.json"},
      {"no_such_option", "config.json", "", "inspect {file} --jsn {out}", "--jsn"},
      {"no_such_command", "config.json", "", "inspekt {file}", "inspekt"},
      {"command_of_two_lines", "config.json", "", "'in\nspect' {file}", "in spect"},
      {"option_that_steers_the_terminal", "config.json", "", "inspect {file} '--\033[2Jjson' {out}",
       "\\x1b[2J"},
  };
}

class MalformedInput : public testing::TestWithParam<Malformed> {};

std::string replaced(std::string words, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = words.find(what, at)) != std::string::npos; at += by.size())
    words.replace(at, what.size(), by);
  return words;
}

TEST_P(MalformedInput, GetsOneSentenceAndExitCode2) {
  const Malformed& malformed = GetParam();
  const test::TemporaryFolder folder;
  const std::string file = (folder / malformed.file).string();
  test::write_bytes(file, malformed.content);
  const Outcome outcome = test::run_tool(
      replaced(replaced(malformed.words, "{file}", file), "{out}", (folder / "out").string()));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("[rope] "));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(malformed.mention));
  EXPECT_LT(outcome.err.size(), 400u) << outcome.err;
  for (const char* word : {"terminate", "json.exception", "std::", "basic_"})
    EXPECT_THAT(outcome.err, Not(HasSubstr(word)));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++files;
  EXPECT_EQ(files, 1u) << "something was left beside the input";
}

INSTANTIATE_TEST_SUITE_P(All, MalformedInput, testing::ValuesIn(malformed_files()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace eigen_rope::tool::malformed_tests
