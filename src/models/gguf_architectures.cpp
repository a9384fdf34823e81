// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_architectures.hpp"

#include <algorithm>
#include <iterator>

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

// What a row may have besides name and rope type; a type each, so that their order does not matter.

struct Period {
  Index layers;
};
struct FullDimsDivisor {
  Index value;
};
struct BetaFast {
  double value;
};
struct SlidingDivisors {
  DivisorTensors value;
};

constexpr void set(GgufArchitecture& row, SlidingLayers value) { row.sliding = value; }
constexpr void set(GgufArchitecture& row, Period value) { row.period = value.layers; }
constexpr void set(GgufArchitecture& row, SlidingWhen value) { row.when = value; }
constexpr void set(GgufArchitecture& row, SlidingBase value) { row.sliding_base = value; }
constexpr void set(GgufArchitecture& row, SlidingScaling value) { row.sliding_scaling = value; }
constexpr void set(GgufArchitecture& row, SlidingDivisors value) {
  row.sliding_divisors = value.value;
}
constexpr void set(GgufArchitecture& row, SlidingRows value) { row.sliding_rows = value; }
constexpr void set(GgufArchitecture& row, FurtherLayers value) { row.further = value; }
constexpr void set(GgufArchitecture& row, RotatedLayers value) { row.rotated = value; }
constexpr void set(GgufArchitecture& row, RecurrentLayers value) { row.recurrent = value; }
constexpr void set(GgufArchitecture& row, RotatedPart value) { row.part = value; }
constexpr void set(GgufArchitecture& row, FullDimsDivisor value) {
  row.full_dims_divisor = value.value;
}
constexpr void set(GgufArchitecture& row, AppliedScaling value) { row.applied = value; }
constexpr void set(GgufArchitecture& row, YarnKeys value) { row.yarn_keys = value; }
constexpr void set(GgufArchitecture& row, BetaFast value) { row.beta_fast = value.value; }
constexpr void set(GgufArchitecture& row, LogMultiplier value) { row.log_multiplier = value; }
constexpr void set(GgufArchitecture& row, MscaleOfModel value) { row.mscale = value; }
constexpr void set(GgufArchitecture& row, LogitsRule value) { row.logits = value; }
constexpr void set(GgufArchitecture& row, AlphaKey value) { row.alpha = value; }
constexpr void set(GgufArchitecture& row, PartialRows value) { row.partial = value; }
/// Those of sliding layers too, unless a SlidingDivisors follows.
constexpr void set(GgufArchitecture& row, DivisorTensors value) {
  row.divisors = value;
  row.sliding_divisors = value;
}

template <class... Options>
constexpr GgufArchitecture row(std::string_view name, GgufRope rope, Options... options) {
  GgufArchitecture result;
  result.name = name;
  result.rope = rope;
  (set(result, options), ...);
  return result;
}

constexpr auto none = GgufRope::none;
constexpr auto normal = GgufRope::normal;
constexpr auto neox = GgufRope::neox;
constexpr auto mrope = GgufRope::mrope;
constexpr auto imrope = GgufRope::imrope;
constexpr auto normal_or_mrope = GgufRope::normal_or_mrope;
constexpr auto neox_or_mrope = GgufRope::neox_or_mrope;
constexpr auto last = SlidingLayers::last_is_full;
constexpr auto first = SlidingLayers::first_is_full;
constexpr auto flags = SlidingLayers::flags;
constexpr auto always = SlidingWhen::always;
constexpr auto file_or_same = SlidingBase::file_or_same;
constexpr auto file_or_10000 = SlidingBase::file_or_10000;
constexpr auto by_factor = SlidingScaling::by_factor;
constexpr auto first_layers = SlidingRows::first_layers;
constexpr auto undivided = SlidingScaling::undivided;
constexpr auto unscaled = SlidingScaling::none;
constexpr auto not_every_fourth = RotatedLayers::not_every_fourth;
constexpr auto by_finetuned = RotatedLayers::by_finetuned;
constexpr auto by_interval_4 = RecurrentLayers::by_interval_4;
constexpr auto squared = LogitsRule::squared_magnitude;
constexpr auto one = DivisorTensors::one;
constexpr auto one_or_two = DivisorTensors::one_or_two;
constexpr auto whole = PartialRows::refused;

/// By name.
constexpr GgufArchitecture kArchitectures[] = {
    row("afmoe", neox, last, Period{4}, file_or_same, not_every_fourth, by_factor, first_layers),
    row("apertus", neox, one_or_two, whole),
    row("arcee", normal, one, whole),
    row("arctic", normal, whole),
    row("arwkv7", GgufRope::unrecorded),
    row("baichuan", normal, RotatedLayers::depth_32, whole),
    row("bailingmoe", normal, whole),
    row("bailingmoe2", neox),
    row("bailingmoe3", normal_or_mrope, RotatedPart::last),
    row("bert", none),
    row("bitnet", neox),
    row("bloom", none),
    row("chameleon", normal, whole),
    row("chatglm", normal),
    row("clip", GgufRope::vision_tower),
    row("codeshell", neox, whole),
    row("cogvlm", neox, AppliedScaling::none, whole),
    row("cohere2", normal, last, Period{4}, always, RotatedLayers::sliding),
    row("cohere2moe", normal, first, Period{4}, always, RotatedLayers::sliding_and_leading,
        first_layers, whole),
    row("command-r", normal),
    row("dbrx", neox, whole),
    row("deci", normal, one_or_two, whole),
    row("deepseek", normal, whole),
    row("deepseek2", normal, RotatedPart::last, LogMultiplier::tenth,
        MscaleOfModel::as_mscale_all_dim, squared),
    row("deepseek2-ocr", neox, PartialRows::not_read, AppliedScaling::none, squared),
    row("deepseek32", normal, RotatedPart::last, LogMultiplier::tenth, squared),
    row("deepseek4", normal, SlidingLayers::uncompressed, always, unscaled, RotatedPart::last,
        AppliedScaling::rates, SlidingRows::always_sliding, FurtherLayers::by_tensors),
    row("dflash", GgufRope::neox_or_mrope_by_any, flags, first_layers, one),
    row("dots1", neox, whole),
    row("dots3note", normal, flags, always, file_or_10000, RotatedPart::last),
    row("dream", neox, whole),
    row("eagle3", normal, one),
    row("ernie4_5", normal, whole),
    row("ernie4_5-moe", normal, whole),
    row("eurobert", neox),
    row("exaone", neox, one, whole),
    row("exaone-moe", neox, last, Period{4}, always, RotatedLayers::sliding, one, whole),
    row("exaone4", neox, last, Period{4}, SlidingWhen::depth_64, RotatedLayers::sliding, one,
        whole),
    row("falcon", neox, whole),
    row("falcon-h1", neox),
    row("gemma", neox),
    row("gemma-embedding", neox, last, Period{6}, always, file_or_10000, undivided, first_layers),
    row("gemma2", neox, last, Period{2}, SlidingWhen::regardless, file_or_same, by_factor,
        first_layers),
    row("gemma3", neox, last, Period{6}, file_or_10000, undivided, first_layers),
    row("gemma3n", neox, last, Period{5}, always, file_or_10000, undivided, first_layers),
    row("gemma4", neox, flags, always, file_or_10000, undivided, one,
        SlidingDivisors{DivisorTensors::none}),
    row("gemma4-assistant", GgufRope::unrecorded),
    row("glm-dsa", normal, RotatedPart::last, squared),
    row("glm4", normal_or_mrope),
    row("glm4moe", neox_or_mrope),
    row("glm5-next", none),
    row("gpt-oss", neox, last, Period{2}, always, file_or_same, by_factor, whole),
    row("gpt2", none),
    row("gptj", GgufRope::unrecorded),
    row("gptneox", neox),
    row("granite", normal, by_finetuned, one_or_two, whole),
    row("granite_swa", normal, flags, always, RotatedLayers::by_rope_pattern, one_or_two, whole),
    row("granitehybrid", normal, by_finetuned, one),
    row("granitemoe", normal, one_or_two, whole),
    row("graniteswitch", normal, by_finetuned, whole),
    row("grok", neox, YarnKeys::all, BetaFast{8}, whole),
    row("grovemoe", neox, whole),
    row("hrm_text", neox),
    row("hunyuan-dense", neox, AlphaKey::scales_base, whole),
    row("hunyuan-moe", neox, whole),
    row("hunyuan_vl", neox_or_mrope, AlphaKey::scales_base, whole),
    row("hy_v3", neox, whole),
    row("hy_v4", normal, RotatedPart::last),
    row("internlm2", normal, whole),
    row("jais", none),
    row("jais2", neox, whole),
    row("jamba", none),
    row("jina-bert-v2", none),
    row("jina-bert-v3", neox),
    row("kimi-k3", none),
    row("kimi-linear", none),
    row("laguna", neox, first, Period{4}, file_or_same, unscaled, SlidingRows::full_as_first),
    row("lfm2", neox, SlidingLayers::all, first_layers),
    row("lfm2moe", neox),
    row("llada", normal, whole),
    row("llada-moe", neox, whole),
    row("llama", normal, one_or_two, whole),
    row("llama-embed", normal, one_or_two, whole),
    row("llama4", normal, last, Period{4}, SlidingWhen::unless_zero, file_or_same,
        RotatedLayers::not_every_fourth_unless_zero, by_factor, one, whole),
    row("maincoder", normal, whole),
    row("mamba", none),
    row("mamba2", none),
    row("maple", neox, flags, always, file_or_same, RotatedLayers::sliding, by_factor),
    row("mellum", neox, last, Period{4}, unscaled, whole),
    row("mimo2", neox, flags, always, file_or_10000, undivided, first_layers),
    row("minicpm", normal, one_or_two, whole),
    row("minicpm3", neox, RotatedPart::last, DivisorTensors::two),
    row("minimax-01", neox, RecurrentLayers::by_interval_8),
    row("minimax-m2", neox),
    row("minimax-m3", neox),
    row("mistral3", normal, YarnKeys::betas, LogMultiplier::as_it_is, one_or_two, whole),
    row("mistral4", normal, RotatedPart::last, LogMultiplier::tenth, squared),
    row("modern-bert", neox, first, Period{3}, file_or_10000, undivided, first_layers),
    row("mpt", none),
    row("muse-glimmer", normal, last, Period{4}, always, file_or_same, undivided,
        RotatedLayers::sliding),
    row("nanbeige", normal, one),
    row("nemotron", neox),
    row("nemotron_h", none),
    row("nemotron_h_moe", none),
    row("neo-bert", normal),
    row("nomic-bert", neox),
    row("nomic-bert-moe", neox),
    row("olmo", normal, whole),
    row("olmo2", neox, last, Period{4}, unscaled, whole),
    row("olmoe", neox, whole),
    row("openelm", neox),
    row("orion", neox, whole),
    row("paddleocr", mrope, whole),
    row("pangu-embedded", neox, whole),
    row("phi2", neox),
    row("phi3", neox, DivisorTensors::two),
    row("phimoe", neox, DivisorTensors::two),
    row("plamo", neox, whole),
    row("plamo2", neox),
    row("plamo3", neox, last, Period{8}, file_or_10000, undivided, first_layers),
    row("plm", normal, RotatedPart::last),
    row("pockettts", normal, whole),
    row("qwen", neox),
    row("qwen2", neox, whole),
    row("qwen2moe", neox, whole),
    row("qwen2vl", mrope, whole),
    row("qwen3", neox, whole),
    row("qwen35", imrope, by_interval_4),
    row("qwen35moe", imrope, by_interval_4),
    row("qwen3moe", neox, whole),
    row("qwen3next", neox, by_interval_4),
    row("qwen3tts", imrope, whole),
    row("qwen3vl", imrope, whole),
    row("qwen3vlmoe", imrope, whole),
    row("qwen4exp", imrope, by_interval_4),
    row("refact", none),
    row("rnd1", neox, whole),
    row("rwkv6", none),
    row("rwkv6qwen2", GgufRope::unrecorded),
    row("rwkv7", none),
    row("seed_oss", neox, whole),
    row("smallthinker", neox, first, Period{4}, file_or_same, RotatedLayers::not_every_first,
        by_factor, first_layers, whole),
    row("smollm3", normal, not_every_fourth, whole),
    row("spark2_5", neox, flags, always, file_or_same, by_factor),
    row("stablelm", neox),
    row("starcoder", none),
    row("starcoder2", neox, whole),
    row("step35", neox, flags, always, file_or_10000, undivided, FullDimsDivisor{2}, one_or_two,
        SlidingDivisors{DivisorTensors::none}),
    row("t5", none),
    row("t5encoder", none),
    row("talkie", neox, whole),
    row("wavtokenizer-dec", none),
    row("xverse", normal, whole),
};

}  // namespace

const GgufArchitecture* find_architecture(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                   [&](const GgufArchitecture& architecture) { return architecture.name == name; });
  return found == std::end(kArchitectures) ? nullptr : found;
}

GgufArchitectureRange gguf_architectures() {
  return {std::begin(kArchitectures), std::end(kArchitectures)};
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
