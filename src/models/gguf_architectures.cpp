// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_architectures.hpp"

#include <algorithm>
#include <array>

namespace rope::models {
namespace {

constexpr auto none = GgufRope::none;
constexpr auto normal = GgufRope::normal;
constexpr auto neox = GgufRope::neox;
constexpr auto last = SlidingPattern::last_is_full;
constexpr auto first = SlidingPattern::first_is_full;
constexpr auto file = SlidingPattern::from_file;

/// By name.
constexpr GgufArchitecture kArchitectures[] = {
    {"afmoe", neox, last, 4, SlidingRates::same, RotatedLayers::not_every_fourth},
    {"apertus", neox},
    {"arcee", normal},
    {"arctic", normal},
    {"arwkv7", none},
    {"baichuan", normal},
    {"bailingmoe", normal},
    {"bailingmoe2", neox},
    {"bert", neox},
    {"bitnet", neox},
    {"bloom", none},
    {"chameleon", normal},
    {"chatglm", normal},
    {"clip", none},
    {"codeshell", neox},
    {"cogvlm", neox},
    {"cohere2", normal, last, 4, SlidingRates::same, RotatedLayers::sliding},
    {"cohere2moe", normal, first, 4, SlidingRates::same, RotatedLayers::sliding_and_leading},
    {"command-r", normal},
    {"dbrx", neox},
    {"deci", normal},
    {"deepseek", normal},
    {"deepseek2", normal},
    {"deepseek2-ocr", normal},
    {"deepseek32", normal},
    {"dots1", neox},
    {"dream", neox},
    {"ernie4_5", normal},
    {"ernie4_5-moe", normal},
    {"eurobert", neox},
    {"exaone", neox},
    {"exaone-moe", neox, last, 4, SlidingRates::same, RotatedLayers::sliding},
    {"exaone4", neox, last, 4, SlidingRates::same, RotatedLayers::sliding},
    {"falcon", neox},
    {"falcon-h1", neox},
    {"gemma", neox},
    {"gemma-embedding", neox, last, 6, SlidingRates::unscaled_10000},
    {"gemma2", neox, last, 2},
    {"gemma3", neox, last, 6, SlidingRates::unscaled_10000},
    {"gemma3n", neox, last, 5, SlidingRates::unscaled_10000},
    {"gemma4", neox, file, 0, SlidingRates::unscaled_10000},
    {"glm-dsa", normal},
    {"glm4", GgufRope::normal_or_mrope},
    {"glm4moe", GgufRope::neox_or_mrope},
    {"gpt-oss", neox, last, 2},
    {"gpt2", none},
    {"gptneox", neox},
    {"granite", normal},
    {"granitehybrid", normal},
    {"granitemoe", normal},
    {"grok", neox},
    {"grovemoe", neox},
    {"hunyuan-dense", neox},
    {"hunyuan-moe", neox},
    {"hunyuan_vl", GgufRope::neox_or_mrope},
    {"hy_v3", neox},
    {"internlm2", normal},
    {"jais", none},
    {"jais2", neox},
    {"jamba", none},
    {"jina-bert-v2", none},
    {"jina-bert-v3", neox},
    {"kimi-linear", none},
    {"laguna", neox, first, 4, SlidingRates::unscaled_10000},
    {"lfm2", neox},
    {"lfm2moe", neox},
    {"llada", normal},
    {"llada-moe", neox},
    {"llama", normal},
    {"llama-embed", normal},
    {"llama4", normal, last, 4, SlidingRates::same, RotatedLayers::not_every_fourth},
    {"maincoder", normal},
    {"mamba", none},
    {"mamba2", none},
    {"mellum", neox, last, 4, SlidingRates::unscaled},
    {"mimo2", neox, file, 0, SlidingRates::unscaled_10000},
    {"minicpm", normal},
    {"minicpm3", neox},
    {"minimax-m2", neox},
    {"mistral3", normal},
    {"mistral4", normal},
    {"modern-bert", neox, first, 3, SlidingRates::unscaled_10000},
    {"mpt", none},
    {"nemotron", neox},
    {"nemotron_h", none},
    {"nemotron_h_moe", none},
    {"neo-bert", normal},
    {"nomic-bert", neox},
    {"nomic-bert-moe", neox},
    {"olmo", normal},
    {"olmo2", neox, last, 4, SlidingRates::unscaled},
    {"olmoe", neox},
    {"openelm", neox},
    {"orion", neox},
    {"paddleocr", GgufRope::mrope},
    {"pangu-embedded", neox},
    {"phi2", neox},
    {"phi3", neox},
    {"phimoe", neox},
    {"plamo", neox},
    {"plamo2", neox},
    {"plamo3", neox, last, 8, SlidingRates::unscaled_10000},
    {"plm", normal},
    {"qwen", neox},
    {"qwen2", neox},
    {"qwen2moe", neox},
    {"qwen2vl", GgufRope::mrope},
    {"qwen3", neox},
    {"qwen35", GgufRope::imrope},
    {"qwen35moe", GgufRope::imrope},
    {"qwen3moe", neox},
    {"qwen3next", neox},
    {"qwen3vl", GgufRope::imrope},
    {"qwen3vlmoe", GgufRope::imrope},
    {"refact", none},
    {"rnd1", neox},
    {"rwkv6", none},
    {"rwkv6qwen2", none},
    {"rwkv7", none},
    {"seed_oss", neox},
    {"smallthinker", neox, first, 4, SlidingRates::same, RotatedLayers::sliding},
    {"smollm3", normal, file, 0, SlidingRates::same, RotatedLayers::not_every_fourth},
    {"stablelm", neox},
    {"starcoder", normal},
    {"starcoder2", neox},
    {"t5", none},
    {"t5encoder", none},
    {"talkie", neox},
    {"wavtokenizer-dec", none},
    {"xverse", normal},
};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const GgufArchitecture* find_architecture(std::string_view name) {
  const auto found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                  [&](const GgufArchitecture& architecture) { return architecture.name == name; });
  return found == std::end(kArchitectures) ? nullptr : found;
}

bool gguf_rotates_the_end(std::string_view name) {
  constexpr std::array<std::string_view, 4> names{"deepseek2", "deepseek32", "minicpm3", "plm"};
  return contains(names, name);
}

bool gguf_has_latent_attention(std::string_view name) {
  constexpr std::array<std::string_view, 3> names{"deepseek2", "deepseek32", "mistral4"};
  return contains(names, name);
}

}  // namespace rope::models
