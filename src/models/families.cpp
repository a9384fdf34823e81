// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include <algorithm>
#include <iterator>

namespace rope::models {
namespace {

constexpr auto half = PairKind::half;
constexpr auto pairs = PairKind::interleaved;
constexpr auto to_half = PairKind::interleaved_to_half;

// model_type, pairs, base, hidden, heads, head dims, context, partial, rule, pattern, needs parameters
constexpr Family families[] = {
    {"apertus", half, 12e6, 4096, 32, 0, 65536, 1, LayerRule::alike, 0, true},
    {"arcee", half, 10000, 2560, 32, 0, 4096},
    {"codegen", pairs, 10000, 4096, 16, 0, 2048},
    {"cohere", pairs, 500000, 8192, 64, 0, 8192},
    {"cohere2", pairs, 10000, 8192, 64, 0, 8192, 1, LayerRule::sliding_only, 4},
    {"deepseek_v2", pairs, 10000, 4096, 32, 64, 2048},
    {"deepseek_v3", to_half, 10000, 7168, 128, 64, 4096},
    {"diffllama", half, 10000, 2048, 32, 0, 2048},
    {"dots1", half, 10000, 4608, 32, 0, 2048},
    {"ernie4_5", pairs, 500000, 1024, 16, 128, 131072},
    {"ernie4_5_moe", pairs, 500000, 2560, 20, 0, 131072},
    {"falcon", half, 10000, 4544, 71, 0, 2048},
    {"flex_olmo", half, 500000, 4096, 32, 0, 4096},
    {"gemma", half, 10000, 3072, 16, 256, 8192},
    {"gemma2", half, 10000, 2304, 8, 256, 8192},
    {"gemma3_text", half, 1e6, 2304, 8, 256, 131072, 1, LayerRule::local_base, 6},
    {"gemma4_text", half, 1e6, 2304, 8, 256, 131072, 1, LayerRule::global_head, 6},
    {"glm", pairs, 10000, 4096, 32, 128, 131072, 0.5},
    {"glm4", pairs, 10000, 4096, 32, 128, 131072, 0.5},
    {"glm4_moe", half, 10000, 4096, 96, 0, 131072, 0.5},
    {"glm4_moe_lite", to_half, 10000, 2048, 20, 64, 202752},
    {"glm4v_text", pairs, 10000, 4096, 32, 0, 32768},
    {"gpt_neox", half, 10000, 6144, 64, 0, 2048, 0.25},
    {"gpt_oss", half, 150000, 2880, 64, 64, 131072, 1, LayerRule::alike, 0, true},
    {"gptj", pairs, 10000, 4096, 16, 0, 2048},
    {"granite", half, 10000, 4096, 32, 0, 2048},
    {"granitemoe", half, 10000, 4096, 32, 0, 2048},
    {"helium", pairs, 100000, 2560, 20, 128, 4096},
    {"hyperclovax", half, 10000, 4096, 32, 0, 2048},
    {"jais2", half, 10000, 3328, 26, 0, 8192},
    {"llama", half, 10000, 4096, 32, 0, 2048},
    {"llama4_text", pairs, 500000, 5120, 40, 128, 131072, 1, LayerRule::listed},
    {"longcat_flash", to_half, 1e7, 6144, 64, 64, 131072},
    {"minicpm3", half, 10000, 2560, 40, 32, 32768},
    {"minimax", half, 1e6, 4096, 32, 0, 131072},
    {"minimax_m2", half, 5e6, 3072, 48, 128, 196608},
    {"ministral", half, 10000, 4096, 32, 0, 131072},
    {"ministral3", half, 1e6, 4096, 32, 128, 262144, 1, LayerRule::alike, 0, true},
    {"mistral", half, 10000, 4096, 32, 0, 131072},
    {"mixtral", half, 1e6, 4096, 32, 0, 131072},
    {"nemotron", half, 10000, 6144, 48, 0, 4096, 0.5},
    {"olmo", half, 10000, 4096, 32, 0, 2048},
    {"olmo2", half, 10000, 4096, 32, 0, 2048},
    {"olmo3", half, 500000, 4096, 32, 0, 2048, 1, LayerRule::local_unscaled, 4},
    {"olmoe", half, 10000, 2048, 16, 0, 4096},
    {"persimmon", half, 10000, 4096, 64, 0, 16384, 0.5},
    {"phi", half, 10000, 2048, 32, 0, 2048, 0.5},
    {"phi3", half, 10000, 3072, 32, 0, 4096},
    {"phimoe", half, 1e6, 4096, 32, 0, 131072},
    {"qwen2", half, 10000, 4096, 32, 0, 32768},
    {"qwen2_5_omni_text", half, 1e6, 3584, 28, 0, 32768},
    {"qwen2_5_vl_text", half, 1e6, 8192, 64, 0, 32768},
    {"qwen2_moe", half, 10000, 2048, 16, 0, 32768},
    {"qwen2_vl_text", half, 1e6, 8192, 64, 0, 32768},
    {"qwen3", half, 10000, 4096, 32, 128, 32768},
    {"qwen3_5_moe_text", half, 10000, 2048, 16, 256, 32768, 0.25, LayerRule::linear_between, 4},
    {"qwen3_5_text", half, 10000, 4096, 16, 256, 32768, 0.25, LayerRule::linear_between, 4},
    {"qwen3_moe", half, 10000, 2048, 32, 0, 32768},
    {"qwen3_next", half, 10000, 2048, 16, 256, 32768, 0.25, LayerRule::linear_between, 4},
    {"qwen3_omni_moe_text", half, 1e6, 2048, 28, 0, 32768},
    {"qwen3_vl_moe_text", half, 500000, 2048, 16, 0, 128000},
    {"qwen3_vl_text", half, 500000, 4096, 32, 128, 128000},
    {"seed_oss", half, 10000, 4096, 80, 128, 524288},
    {"smollm3", half, 2e6, 2048, 16, 0, 32768, 1, LayerRule::listed},
    {"solar_open", half, 1e6, 4096, 64, 128, 131072},
    {"stablelm", half, 10000, 2560, 32, 0, 4096, 0.25},
    {"starcoder2", half, 10000, 3072, 24, 0, 4096},
    {"youtu", to_half, 10000, 2048, 16, 64, 131072},
};

// Of the table's families those with latent attention. The modeling file of each has yarn_apply_mscale.
constexpr std::string_view latent_families[] = {"deepseek_v2", "deepseek_v3", "glm4_moe_lite", "longcat_flash", "minicpm3", "youtu"};

}  // namespace

const Family* find_family(std::string_view model_type) {
  const auto* family = std::find_if(std::begin(families), std::end(families), [&](const Family& f) { return f.model_type == model_type; });
  return family == std::end(families) ? nullptr : family;
}

bool has_latent_attention(std::string_view model_type) {
  return std::find(std::begin(latent_families), std::end(latent_families), model_type) != std::end(latent_families);
}

bool has_softmax_multiplier(std::string_view model_type) { return has_latent_attention(model_type); }

bool has_interleaved_sections(std::string_view model_type) {
  return model_type == "qwen3_vl_text" || model_type == "qwen3_vl_moe_text" || model_type == "qwen3_5_text" ||
         model_type == "qwen3_5_moe_text" || model_type == "qwen3_omni_moe_text";
}

FusedQkv fused_qkv(std::string_view model_type) {
  constexpr std::string_view grouped[] = {"falcon", "gpt_neox", "gpt_neox_japanese", "internlm2", "persimmon"};
  constexpr std::string_view concatenated[] = {"chatglm", "dbrx", "modernbert", "modernbert-decoder", "phi3", "phi4_multimodal", "qwen"};
  const auto is = [&](std::string_view name) { return name == model_type; };
  if (std::any_of(std::begin(grouped), std::end(grouped), is)) return FusedQkv::grouped;
  if (std::any_of(std::begin(concatenated), std::end(concatenated), is)) return FusedQkv::concatenated;
  // CodeGen has four blocks of queries, values and keys.
  if (model_type == "codegen" || find_family(model_type) == nullptr) return FusedQkv::unknown;
  return FusedQkv::none;
}

}  // namespace rope::models
