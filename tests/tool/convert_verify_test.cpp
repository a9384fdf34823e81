// SPDX-License-Identifier: Apache-2.0
//
// The verification sees what the writer got wrong. A writer is made to be wrong in each way there
// is: it is handed another plan than the one that is right, or what it wrote is changed afterwards,
// and the output says of itself what a right one says.
#include "tool/convert/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/model_files.hpp"
#include "tool/convert/convert.hpp"
#include "tool/convert/write.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::convert_verify_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::AnyOf;
using testing::HasSubstr;

constexpr std::int64_t hidden = 6, heads = 4, key_heads = 2, dims = 16;
const std::string layer_0 = "model.layers.0.self_attn.", layer_1 = "model.layers.1.self_attn.";
const std::string fused_layer = "model.layers.0.self_attn.qkv_proj.";

TestModel llama() {
  TestModel model;
  unsigned seed = 1;
  model.push_back({"model.embed_tokens.weight", random_tensor("BF16", {10, hidden}, seed++)});
  for (const std::string& layer : {layer_0, layer_1}) {
    model.push_back(
        {layer + "v_proj.weight", random_tensor("BF16", {key_heads * dims, hidden}, seed++)});
    model.push_back(
        {layer + "k_proj.weight", random_tensor("BF16", {key_heads * dims, hidden}, seed++)});
    model.push_back({layer + "q_proj.bias", random_tensor("BF16", {heads * dims}, seed++)});
    model.push_back(
        {layer + "q_proj.weight", random_tensor("BF16", {heads * dims, hidden}, seed++)});
    model.push_back({layer + "k_proj.bias", random_tensor("BF16", {key_heads * dims}, seed++)});
    model.push_back({layer + "q_norm.weight", random_tensor("BF16", {dims}, seed++)});
    model.push_back({layer + "k_norm.weight", random_tensor("BF16", {key_heads * dims}, seed++)});
  }
  return model;
}

TestModel fused() {
  return {
      {fused_layer + "weight", random_tensor("F32", {(heads + 2 * key_heads) * dims, hidden}, 1)},
      {fused_layer + "bias", random_tensor("F32", {(heads + 2 * key_heads) * dims}, 2)}};
}

const std::string qwen_config =
    R"({"model_type":"qwen3","hidden_size":64,"head_dim":16,"num_attention_heads":4,"num_key_value_heads":2,"rope_theta":1000000.0,)"
    R"("max_position_embeddings":64,"num_hidden_layers":2})";
const std::string phi_config =
    R"({"model_type":"phi3","hidden_size":64,"num_attention_heads":4,"num_key_value_heads":2,"rope_theta":10000.0,)"
    R"("max_position_embeddings":64,"original_max_position_embeddings":64,"num_hidden_layers":1})";

using Change = std::function<void(ConvertPlan&)>;

class ConvertVerify : public testing::Test {
 protected:
  ConvertVerify() { fs::create_directory(in()); }

  fs::path in() const { return folder / "in"; }
  fs::path out() const { return folder / "out"; }

  // One file a part, and an index.
  void write_source(const std::vector<TestModel>& parts, const std::string& config) {
    nlohmann::json map;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string name = "part-" + std::to_string(i) + ".safetensors";
      for (const auto& [tensor, content] : parts[i]) map[tensor] = name;
      write_bytes(in() / name, file_of(parts[i]));
    }
    write_bytes(in() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    if (!config.empty()) write_bytes(in() / "config.json", config);
  }

  ConvertOptions options(PairKind from = PairKind::split_half,
                         PairKind to = PairKind::interleaved) const {
    ConvertOptions result;
    result.from = from;
    result.to = to;
    return result;
  }

  // What is written with a plan changed so. The metadata is what a right writer leaves.
  void write(const Change& change) {
    fs::remove_all(out());
    fs::create_directory(out());
    const Model model = open_model(in());
    const Description description = describe(options(), model);
    const ConvertPlan right = make_plan(options(), description, model);
    ConvertPlan wrong = right;
    change(wrong);
    Progress progress;
    for (std::size_t i = 0; i < model.shards.size(); ++i) {
      const fs::path path = out() / model.shards[i].file.path().filename();
      write_converted(wrong, model, i, path, progress);
      // Everything a file says of itself, as a right one has it.
      const ReadModel written = read_model(path);
      fs::remove(path);
      write_bytes(path,
                  file_of(written.tensors, R"({"format":"pt","rope_pairing":"interleaved"})"));
    }
    for (const auto& entry : fs::directory_iterator(in())) {
      if (entry.path().extension() == ".json")
        fs::copy(entry.path(), out() / entry.path().filename());
    }
  }

  void change_tensor(const std::string& file, const std::string& name,
                     const std::function<void(TestTensor&)>& change) {
    ReadModel model = read_model(out() / file);
    for (auto& [found, tensor] : model.tensors) {
      if (found == name) change(tensor);
    }
    write_bytes(out() / file, file_of(model.tensors, model.metadata.dump()));
  }

  std::string verdict(const ConvertOptions& chosen) const {
    const Model before = open_model(in()), after = open_model(out());
    Progress progress;
    try {
      verify_converted(chosen, before, after, "out", progress);
    } catch (const FileError& error) {
      return error.what();
    }
    return "passed";
  }
  std::string verdict() const { return verdict(options()); }

  std::string verdict_of(const Change& change) {
    write(change);
    return verdict();
  }

  TemporaryFolder folder{eigen_rope::test::Medium::memory};
};

void nothing(ConvertPlan&) {}

const auto wrong_products = HasSubstr(" must keep q.k within ");
// Rows that stand in another head, or are there twice.
const auto wrong_rows = HasSubstr(" must have the rows of every head it had, got others");

TEST_F(ConvertVerify, PassesWhatIsRight) {
  write_source({llama()}, qwen_config);
  EXPECT_EQ(verdict_of(nothing), "passed");
  write_source({fused()}, phi_config);
  EXPECT_EQ(verdict_of(nothing), "passed");
}

TEST_F(ConvertVerify, SeesTheWrongDirection) {
  write_source({llama()}, qwen_config);
  EXPECT_THAT(verdict_of([](ConvertPlan& plan) { std::swap(plan.from, plan.to); }), wrong_products);
}

TEST_F(ConvertVerify, SeesAnotherPairing) {
  write_source({llama()}, qwen_config);
  for (const PairKind wrong : {PairKind::split_half, PairKind::quarter}) {
    EXPECT_THAT(verdict_of([&](ConvertPlan& plan) { plan.to = wrong; }), wrong_products);
  }
}

TEST_F(ConvertVerify, SeesAWrongWindow) {
  write_source({llama()}, qwen_config);
  EXPECT_THAT(verdict_of([](ConvertPlan& plan) { plan.shape.rotary_dims = 8; }), wrong_products);
  EXPECT_THAT(verdict_of([](ConvertPlan& plan) {
                plan.shape.rotary_dims = 8, plan.shape.query.offset = plan.shape.key.offset = 4;
              }),
              wrong_products);
}

// GPT-NeoX rotates a quarter of each head.
TEST_F(ConvertVerify, SeesAWindowThatIsTooLarge) {
  const std::string config =
      R"({"model_type":"gpt_neox","hidden_size":64,"num_attention_heads":4,"rotary_pct":0.25,"rotary_emb_base":10000,)"
      R"("max_position_embeddings":64,"num_hidden_layers":1})";
  write_source({{{"gpt_neox.layers.0.attention.query_key_value.weight",
                  random_tensor("F32", {3 * heads * dims, hidden}, 1)}}},
               config);
  EXPECT_EQ(verdict_of(nothing), "passed");
  EXPECT_THAT(verdict_of([](ConvertPlan& plan) { plan.shape.rotary_dims = dims; }), wrong_products);
}

TEST_F(ConvertVerify, SeesAWrongNumberOfHeads) {
  write_source({llama()}, qwen_config);
  // The same rows as twice as many heads of half the size.
  const auto halve = [](ConvertPlan& plan) {
    plan.shape.query.dims = plan.shape.key.dims = plan.shape.rotary_dims = dims / 2;
    for (ConvertedLayer& layer : plan.layers) {
      for (ConvertedTensor& tensor : layer.tensors) {
        const std::vector<HeadRows> before = tensor.heads;
        for (const HeadRows& head : before)
          tensor.heads.push_back({head.role, head.head, head.first_row + dims / 2, head.shared});
      }
    }
  };
  EXPECT_THAT(verdict_of(halve), wrong_products);
}

TEST_F(ConvertVerify, SeesQWithoutKAndKWithoutQ) {
  write_source({llama()}, qwen_config);
  for (const Projection left : {Projection::query, Projection::key}) {
    EXPECT_THAT(verdict_of([&](ConvertPlan& plan) {
                  for (ConvertedLayer& layer : plan.layers) {
                    auto& tensors = layer.tensors;
                    tensors.erase(
                        std::remove_if(tensors.begin(), tensors.end(),
                                       [&](const auto& t) { return t.projection == left; }),
                        tensors.end());
                  }
                }),
                wrong_products);
  }
}

TEST_F(ConvertVerify, SeesEveryTensorThatWasForgotten) {
  write_source({llama()}, qwen_config);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t forgotten = 0; forgotten < 6; ++forgotten) {  // weights, biases and norms
      EXPECT_THAT(verdict_of([&](ConvertPlan& plan) {
                    auto& tensors = plan.layers.at(layer).tensors;
                    ASSERT_EQ(tensors.size(), 6U);
                    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(forgotten));
                  }),
                  wrong_products);
    }
  }
}

TEST_F(ConvertVerify, SeesEveryHeadThatWasForgotten) {
  for (const auto& [model, config] :
       {std::pair(llama(), qwen_config), std::pair(fused(), phi_config)}) {
    write_source({model}, config);
    write(nothing);
    const ConvertPlan plan =
        make_plan(options(), describe(options(), open_model(in())), open_model(in()));
    for (std::size_t tensor = 0; tensor < plan.layers[0].tensors.size(); ++tensor) {
      for (std::size_t head = 0; head < plan.layers[0].tensors[tensor].heads.size(); ++head) {
        EXPECT_THAT(verdict_of([&](ConvertPlan& wrong) {
                      auto& all = wrong.layers[0].tensors[tensor].heads;
                      all.erase(all.begin() + static_cast<std::ptrdiff_t>(head));
                    }),
                    wrong_products)
            << tensor << ", head " << head;
      }
    }
  }
}

// The values lie where a wrong order looks for queries and keys.
TEST_F(ConvertVerify, SeesTheWrongOrderOfFusedRows) {
  write_source({fused()}, phi_config);
  EXPECT_THAT(verdict_of([](ConvertPlan& plan) {
                for (ConvertedTensor& tensor : plan.layers[0].tensors) {
                  for (HeadRows& head : tensor.heads) {
                    const bool query = head.role == Role::query;
                    const auto place =
                        query ? head.head / 2 * 4 + head.head % 2 : head.head * 4 + 2;
                    head.first_row = static_cast<std::uint64_t>(place * dims);
                  }
                }
              }),
              AnyOf(wrong_products, HasSubstr("neither q nor k")));
}

TEST_F(ConvertVerify, SeesValuesThatWerePermuted) {
  write_source({fused()}, phi_config);
  EXPECT_THAT(verdict_of([](ConvertPlan& plan) {
                ConvertedTensor& weight = plan.layers[0].tensors[0];
                weight.heads.push_back(
                    {Role::key, 0, static_cast<std::uint64_t>((heads + key_heads) * dims), false});
              }),
              HasSubstr("tensor \"" + fused_layer +
                        "weight\" must be what it was where it holds neither q nor k"));
  write_source({llama()}, qwen_config);
  EXPECT_THAT(
      verdict_of([](ConvertPlan& plan) {
        // v_proj is the tensor before k_proj.
        for (ConvertedTensor tensor : std::vector<ConvertedTensor>(plan.layers[1].tensors)) {
          if (tensor.name != layer_1 + "k_proj.weight") continue;
          --tensor.entry;
          plan.layers[1].tensors.push_back(tensor);
        }
      }),
      HasSubstr("tensor \"" + layer_1 +
                "v_proj.weight\" must be what it was where it holds neither q nor k"));
}

TEST_F(ConvertVerify, SeesAFileThatWasSkipped) {
  const TestModel model = llama();
  TestModel parts[3];
  for (const auto& [name, tensor] : model) {
    parts[name.find("layers.1") == std::string::npos ? 0
          : name.find("k_") == std::string::npos     ? 1
                                                     : 2]
        .push_back({name, tensor});
  }
  write_source({parts[0], parts[1], parts[2]}, qwen_config);
  EXPECT_EQ(verdict_of(nothing), "passed");
  for (std::size_t skipped = 0; skipped < 3; ++skipped) {
    EXPECT_THAT(verdict_of([&](ConvertPlan& plan) {
                  for (ConvertedLayer& layer : plan.layers) {
                    auto& tensors = layer.tensors;
                    tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                                                 [&](const auto& t) { return t.shard == skipped; }),
                                  tensors.end());
                  }
                }),
                wrong_products);
  }
}

TEST_F(ConvertVerify, SeesOneBitOfAnyTensor) {
  const TestModel model = llama();
  write_source({model}, qwen_config);
  write(nothing);
  for (const auto& [name, tensor] : model) {
    const std::size_t at = tensor.bytes.size() / 2;
    change_tensor("part-0.safetensors", name,
                  [&](TestTensor& t) { t.bytes[at] = static_cast<char>(t.bytes[at] ^ 1); });
    EXPECT_THAT(verdict(), AnyOf(wrong_rows, HasSubstr("\"" + name + "\" must be what it was")))
        << name;
    change_tensor("part-0.safetensors", name,
                  [&](TestTensor& t) { t.bytes[at] = static_cast<char>(t.bytes[at] ^ 1); });
  }
  EXPECT_EQ(verdict(), "passed");
}

TEST_F(ConvertVerify, SeesHeadsThatChangedPlaces) {
  write_source({llama()}, qwen_config);
  write(nothing);
  change_tensor("part-0.safetensors", layer_0 + "k_proj.weight", [](TestTensor& tensor) {
    const std::size_t head = tensor.bytes.size() / key_heads;
    std::rotate(tensor.bytes.begin(), tensor.bytes.begin() + static_cast<std::ptrdiff_t>(head),
                tensor.bytes.end());
  });
  EXPECT_THAT(verdict(), wrong_rows);
}

TEST_F(ConvertVerify, ReadsWhatTheOutputSaysOfItself) {
  write_source({llama()}, qwen_config);
  write(nothing);
  const fs::path file = out() / "part-0.safetensors";
  const ReadModel right = read_model(file);
  for (const auto& [metadata, got] :
       {std::pair(R"({"format":"pt"})", "nothing"),
        std::pair(R"({"rope_pairing":"split_half"})", "split_half")}) {
    write_bytes(file, file_of(right.tensors, metadata));
    EXPECT_EQ(verdict(), std::string("[rope] out: rope_pairing must be interleaved in the metadata "
                                     "of part-0.safetensors, got ") +
                             got);
  }
  write_bytes(file, file_of(right.tensors, right.metadata.dump()));
  EXPECT_EQ(verdict(), "passed");

  // A configuration of other heads, whose rows are as many.
  std::string other = qwen_config;
  other.replace(other.find("\"head_dim\":16"), 13, "\"head_dim\":8");
  other.replace(other.find("heads\":4"), 8, "heads\":8");
  other.replace(other.find("heads\":2"), 8, "heads\":4");
  fs::remove(out() / "config.json");
  write_bytes(out() / "config.json", other);
  EXPECT_EQ(verdict(), "[rope] out: must describe the heads as its source does, got others");

  TestModel fewer = right.tensors;
  fewer.pop_back();
  fs::remove(out() / "model.safetensors.index.json");
  fs::rename(file, out() / "model.safetensors");
  write_bytes(out() / "model.safetensors", file_of(fewer, right.metadata.dump()));
  EXPECT_EQ(verdict(), "[rope] out: must have the tensors of part-0.safetensors, got others");
}

// rope_interleave in config.json and the metadata are two records of the same thing.
TEST_F(ConvertVerify, SeesAConfigurationThatWasNotAdapted) {
  std::string config =
      R"({"model_type":"deepseek_v3","rope_interleave":false,"hidden_size":64,"num_attention_heads":4,"num_key_value_heads":4,)"
      R"("kv_lora_rank":12,"qk_nope_head_dim":8,"qk_rope_head_dim":4,"v_head_dim":8,"rope_theta":10000.0,)"
      R"("max_position_embeddings":64,"num_hidden_layers":1})";
  write_source({{{layer_0 + "q_proj.weight", random_tensor("F32", {48, hidden}, 1)},
                 {layer_0 + "kv_a_proj_with_mqa.weight", random_tensor("F32", {16, hidden}, 2)}}},
               config);
  EXPECT_THAT(
      verdict_of(nothing),
      HasSubstr(
          "config.json: says split_half pairs (deepseek_v3), --from must agree, got interleaved"));
  ConvertOptions forced = options();
  forced.contradiction = Contradiction::overridden;
  EXPECT_EQ(verdict(forced),
            "[rope] out: config.json must record the pairing interleaved, got split_half");
  config.replace(config.find("false"), 5, "true");
  const auto verdict_adapted = [&] {
    fs::remove(out() / "config.json");
    write_bytes(out() / "config.json", config);
    return verdict();
  };
  EXPECT_EQ(verdict_adapted(), "passed");
  // Of latent attention the last elements rotate, and no others.
  write([](ConvertPlan& plan) { plan.shape.query.offset = plan.shape.key.offset = 0; });
  EXPECT_THAT(verdict_adapted(), wrong_products);
}

}  // namespace
}  // namespace eigen_rope::tool::convert_verify_tests
