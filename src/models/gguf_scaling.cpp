// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_scaling.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

/// A divisor from here on leaves a pair at rest: how converters write rates of 0 (Gemma 4).
constexpr double kRestingDivisor = 1e20;

/// 1 if factor <= 1, else 1 + scale ln(factor) / 10.
double mscale(double factor, double scale) {
  return factor <= 1 ? 1.0 : 1.0 + 0.1 * scale * std::log(factor);
}

class GgufScalingReader {
 public:
  GgufScalingReader(GgufKeys& keys, const GgufArchitecture& architecture, Index context)
      : keys_(keys), architecture_(architecture), context_(context) {}

  GgufRotation read(double base, Index pairs);

 private:
  std::vector<double> divisors_of(std::string_view tensor, Index pairs);
  void read_divisors(GgufRotation& rotation, Index pairs);
  void refuse_divisors(std::string_view tensor);
  std::string scaling_type();
  double scaling_factor(const std::string& type, bool longrope);
  Index original_context(bool yarn);
  void read_yarn(GgufRotation& rotation, double attention_factor);
  void read_unscaled(GgufRotation& rotation);
  double yarn_number(std::string_view name, bool read, double otherwise);
  void warn_of_yarn(const GgufRotation& rotation);
  bool reads_betas() const { return architecture_.yarn_keys != YarnKeys::none; }
  bool reads_all() const { return architecture_.yarn_keys == YarnKeys::all; }

  GgufKeys& keys_;
  const GgufArchitecture& architecture_;
  Index context_;
  std::string type_;
  double file_factor_ = 1.0;
};

/// DeepSeek's rule for the logits.
double squared_magnitude(const GgufRotation& rotation) {
  const double logarithm = 0.1 * std::log(rotation.factor);
  const double once =
      rotation.attn_factor * (1.0 + logarithm) * (1.0 + rotation.mscale_all_dim * logarithm);
  return once * once;
}

std::vector<double> GgufScalingReader::divisors_of(std::string_view tensor, Index pairs) {
  const std::optional<std::vector<double>> values = keys_.file.tensor_values(tensor);
  if (!values) return {};
  if (static_cast<Index>(values->size()) != pairs) {
    keys_.file.refuse(fmt::format("tensor \"{}\" must have one value per pair, {}", tensor, pairs),
                      fmt::format("{}", values->size()));
  }
  Index resting = 0;
  for (std::size_t k = 0; k < values->size(); ++k) {
    const double value = (*values)[k];
    if (!std::isfinite(value) || !(value > 0)) {
      keys_.file.refuse(
          fmt::format("value {} of tensor \"{}\" must be finite and greater than 0", k, tensor),
          std::isnan(value) ? "nan" : fmt::format("{}", value));
    }
    if (value >= kRestingDivisor) ++resting;
  }
  if (resting > 0)
    keys_.warn(fmt::format("{} of the {} divisors in tensor \"{}\" leave their pairs at rest",
                           resting, pairs, tensor));
  return *values;
}

void GgufScalingReader::refuse_divisors(std::string_view tensor) {
  if (!keys_.file.has_tensor(tensor)) return;
  keys_.mend(
      fmt::format(
          "tensor \"{}\" must not be there: llama.cpp has no place for it in architecture \"{}\"",
          tensor, keys_.architecture),
      "it is not applied");
}

void GgufScalingReader::read_divisors(GgufRotation& rotation, Index pairs) {
  const DivisorTensors known = architecture_.divisors;
  if (known == DivisorTensors::none || known == DivisorTensors::two) {
    refuse_divisors("rope_freqs.weight");
  } else {
    rotation.divisors = divisors_of("rope_freqs.weight", pairs);
  }
  if (known == DivisorTensors::none || known == DivisorTensors::one) {
    refuse_divisors("rope_factors_long.weight");
    refuse_divisors("rope_factors_short.weight");
    return;
  }
  rotation.long_divisors = divisors_of("rope_factors_long.weight", pairs);
  rotation.short_divisors = divisors_of("rope_factors_short.weight", pairs);
  if (rotation.long_divisors.empty() != rotation.short_divisors.empty()) {
    const auto* missing = rotation.long_divisors.empty() ? "long" : "short";
    keys_.file.refuse(fmt::format(
        "tensor \"rope_factors_{}.weight\" must be there, as the other list of LongRoPE is",
        missing));
  }
  if (!rotation.divisors.empty() && !rotation.long_divisors.empty()) {
    keys_.mend(
        "tensors \"rope_freqs.weight\" and \"rope_factors_long.weight\" must not both be there",
        "the former is used");
    rotation.long_divisors.clear();
    rotation.short_divisors.clear();
  }
}

std::string GgufScalingReader::scaling_type() {
  const std::string type_key = keys_.key("rope.scaling.type");
  std::string type = keys_.file.text(type_key).value_or("linear");
  if (type != "none" && type != "linear" && type != "yarn" && type != "longrope") {
    keys_.file.refuse_key(type_key, "be none, linear, yarn or longrope",
                          fmt::format("\"{}\"", type));
  }
  return type;
}

double GgufScalingReader::scaling_factor(const std::string& type, bool longrope) {
  const bool older = !keys_.has("rope.scaling.factor");
  const bool type_given = keys_.has("rope.scaling.type");
  const std::string name = keys_.key(older ? "rope.scale_linear" : "rope.scaling.factor");
  const std::optional<double> factor = keys_.file.number(name);
  const bool needed = type_given && type != "none" && !longrope && type != "longrope";
  if (!factor) {
    if (needed && keys_.strict()) {
      keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for scaling \"{}\"",
                                    keys_.key("rope.scaling.factor"), type));
    }
    if (needed)
      keys_.warn(fmt::format("metadata key \"{}\" is missing: nothing is divided",
                             keys_.key("rope.scaling.factor")));
    return 1.0;
  }
  if (type == "none") {
    const bool slides = architecture_.sliding_scaling == SlidingScaling::by_factor;
    const auto* what =
        slides ? "llama.cpp divides sliding layers by it all the same" : "it is not applied";
    if (*factor != 1)
      keys_.warn(fmt::format("metadata key \"{}\" is {}, and the scaling is none: {}", name,
                             *factor, what));
    file_factor_ = *factor > 0 ? *factor : 1.0;
    return 1.0;
  }
  if (*factor == 0) {
    keys_.mend(name, "be at least 1", "0", "llama.cpp takes 1");
    return 1.0;
  }
  if (!(*factor > 0)) keys_.file.refuse_key(name, "be greater than 0", fmt::format("{}", *factor));
  if (*factor < 1) keys_.mend(name, "be at least 1", fmt::format("{}", *factor), "rates grow");
  if (older)
    keys_.warn(fmt::format("metadata key \"{}\" is the older name of rope.scaling.factor", name));
  if (!type_given && !older && *factor != 1) {
    keys_.warn(fmt::format("metadata key \"{}\" is missing: the scaling is taken to be linear",
                           keys_.key("rope.scaling.type")));
  }
  return *factor;
}

Index GgufScalingReader::original_context(bool yarn) {
  const std::string name = keys_.key("rope.scaling.original_context_length");
  if (const auto given =
          keys_.integer_up_to(Index{1} << 53, "rope.scaling.original_context_length"))
    return *given;
  if (yarn && keys_.strict())
    keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for YaRN", name));
  keys_.warn(fmt::format("metadata key \"{}\" is missing: the context length, {}, is taken", name,
                         context_));
  return context_;
}

/// A key that llama.cpp reads for few architectures: what it says must be what is done where it is
/// not read.
double GgufScalingReader::yarn_number(std::string_view name, bool read, double otherwise) {
  const std::string key = keys_.key(name);
  const std::optional<double> value = keys_.file.number(key);
  if (!value || read) return value.value_or(otherwise);
  if (*value != otherwise) {
    keys_.mend(key, fmt::format("be {}: {}", otherwise, keys_.not_read()),
               fmt::format("{}", *value), fmt::format("{} is taken", otherwise));
  }
  return otherwise;
}

/// For a graph that does not scale its rotation: what the file says must not be anything else.
void GgufScalingReader::read_unscaled(GgufRotation& rotation) {
  const std::string why =
      fmt::format("llama.cpp scales nothing in architecture \"{}\"", keys_.architecture);
  const double factor = scaling_factor(type_, false);
  if (factor != 1) {
    keys_.mend(keys_.key("rope.scaling.factor"), "be 1: " + why, fmt::format("{}", factor),
               "it is not applied");
  }
  const double attention_factor =
      keys_.file.number(keys_.key("rope.scaling.attn_factor")).value_or(1.0);
  if (attention_factor != 1) {
    keys_.mend(keys_.key("rope.scaling.attn_factor"), "be 1: " + why,
               fmt::format("{}", attention_factor), "it is not applied");
  }
  if (architecture_.logits == LogitsRule::squared_magnitude) {
    GgufRotation said;
    said.factor = factor;
    said.attn_factor = keys_.positive(keys_.key("rope.scaling.attn_factor"), attention_factor);
    // YaRN's own magnitude cancels ggml's.
    const bool yarn = type_ == "yarn" && factor > 1;
    if (yarn) said.attn_factor *= mscale(factor, 1.0) / (1.0 + 0.1 * std::log(factor));
    rotation.softmax_multiplier = squared_magnitude(said);
  }
  if (rotation.base != 10000) {
    keys_.mend(keys_.key("rope.freq_base"),
               fmt::format("be 10000: llama.cpp takes no other for architecture \"{}\"",
                           keys_.architecture),
               fmt::format("{}", rotation.base), "10000 is taken");
    rotation.base = 10000;
  }
}

void GgufScalingReader::warn_of_yarn(const GgufRotation& rotation) {
  if (context_ > 0) {
    const double ratio =
        static_cast<double>(context_) / static_cast<double>(rotation.original_context);
    if (std::abs(ratio - rotation.factor) > 1e-6 * ratio) {
      keys_.warn(fmt::format("the factor is {}, and the context length over the original one is {}",
                             rotation.factor, ratio));
    }
  }
  if (keys_.architecture == "gpt-oss") {
    keys_.warn(
        "gpt-oss was published with exact ends of YaRN's ramp (truncate false): GGUF cannot say "
        "so, and ggml rounds them");
  }
}

void GgufScalingReader::read_yarn(GgufRotation& rotation, double attention_factor) {
  rotation.beta_fast =
      yarn_number("rope.scaling.yarn_beta_fast", reads_betas(), architecture_.beta_fast);
  rotation.beta_slow = yarn_number("rope.scaling.yarn_beta_slow", reads_betas(), 1.0);
  const double by_ggml = 1.0 + 0.1 * std::log(rotation.factor);
  if (!(by_ggml > 0)) {
    keys_.file.refuse_key(keys_.key("rope.scaling.factor"), "be greater than exp(-10) for YaRN",
                          fmt::format("{}", rotation.factor));
  }
  // ggml multiplies by `by_ggml` on its own, and llama.cpp divides by it first.
  const double multiplier =
      yarn_number("rope.scaling.yarn_log_multiplier",
                  architecture_.log_multiplier != LogMultiplier::not_read, 0.0);
  rotation.mscale_all_dim =
      architecture_.log_multiplier == LogMultiplier::tenth ? multiplier / 0.1 : multiplier;
  double magnitude = mscale(rotation.factor, 1.0);
  if (rotation.mscale_all_dim != 0) {
    const double mscale_of_model =
        architecture_.mscale == MscaleOfModel::as_mscale_all_dim ? rotation.mscale_all_dim : 1.0;
    magnitude =
        mscale(rotation.factor, mscale_of_model) / mscale(rotation.factor, rotation.mscale_all_dim);
  }
  rotation.attn_factor = attention_factor * (magnitude / by_ggml);
  if (architecture_.applied == AppliedScaling::rates) rotation.attn_factor = 1.0 / by_ggml;
  // Converters write the published model's whole magnitude into a key that means a multiplier:
  // where it is what is done, it is right.
  const double said = keys_.file.number(keys_.key("rope.scaling.yarn_attn_factor")).value_or(1.0);
  const bool whole =
      !reads_all() && std::abs(said - attention_factor * magnitude) <= 1e-5 * std::abs(said);
  if (!whole && yarn_number("rope.scaling.yarn_attn_factor", reads_all(), 1.0) != 1) {
    keys_.warn(fmt::format("metadata key \"{}\" is not applied: llama.cpp replaces it",
                           keys_.key("rope.scaling.yarn_attn_factor")));
  }
  warn_of_yarn(rotation);
}

GgufRotation GgufScalingReader::read(double base, Index pairs) {
  GgufRotation rotation;
  rotation.base = base;
  type_ = scaling_type();
  read_divisors(rotation, pairs);
  const bool longrope = !rotation.long_divisors.empty();
  (void)keys_.file.flag(keys_.key("rope.scaling.finetuned"));
  if (architecture_.applied == AppliedScaling::none) {
    read_unscaled(rotation);
    return rotation;
  }
  rotation.factor = scaling_factor(type_, longrope);
  rotation.file_factor = type_ == "none" ? file_factor_ : rotation.factor;
  const std::string attention_key = keys_.key("rope.scaling.attn_factor");
  const double attention_factor =
      keys_.positive(attention_key, keys_.file.number(attention_key).value_or(1.0));
  // A negative one counts as missing.
  const double by_type = type_ == "yarn" ? 1.0 : 0.0;
  const bool unset =
      keys_.file.number(keys_.key("rope.scaling.yarn_ext_factor")).value_or(-1.0) < 0;
  rotation.ext_factor =
      unset ? by_type : yarn_number("rope.scaling.yarn_ext_factor", reads_all(), by_type);
  const bool yarn = rotation.ext_factor != 0;
  if (yarn && longrope)
    keys_.file.refuse("tensor \"rope_factors_long.weight\" must not be there beside YaRN");
  if (type_ == "longrope" && !longrope) {
    keys_.mend("tensor \"rope_factors_long.weight\" must be there for scaling \"longrope\"",
               "nothing is divided");
  }
  if (longrope && type_ != "longrope" && architecture_.divisors != DivisorTensors::two) {
    keys_.mend(keys_.key("rope.scaling.type"),
               "be longrope beside tensor \"rope_factors_long.weight\"",
               fmt::format("\"{}\"", type_), "the divisors are applied");
  }
  if (yarn || longrope) {
    rotation.original_context = original_context(yarn);
    if (rotation.original_context == 0) {
      keys_.file.refuse(
          fmt::format("metadata key \"{}\" must be there", keys_.key("context_length")));
    }
    if (context_ > 0 && rotation.original_context >= context_) {
      keys_.warn(fmt::format("the original context length, {}, is not below the context length, {}",
                             rotation.original_context, context_));
    }
  }
  if (yarn) {
    read_yarn(rotation, attention_factor);
  } else {
    rotation.attn_factor =
        attention_factor * yarn_number("rope.scaling.yarn_attn_factor", reads_all(), 1.0);
    if (architecture_.applied == AppliedScaling::rates) rotation.attn_factor = 1.0;
    if (architecture_.logits == LogitsRule::squared_magnitude &&
        architecture_.log_multiplier == LogMultiplier::tenth) {
      rotation.mscale_all_dim =
          keys_.file.number(keys_.key("rope.scaling.yarn_log_multiplier")).value_or(0.0) / 0.1;
    }
  }
  if (architecture_.applied == AppliedScaling::rates && attention_factor != 1) {
    keys_.mend(
        attention_key,
        fmt::format("be 1: llama.cpp does not apply it in architecture \"{}\"", keys_.architecture),
        fmt::format("{}", attention_factor), "it is not applied");
  }
  if (longrope && rotation.factor != 1) {
    keys_.warn(fmt::format("metadata key \"{}\" is {}: llama.cpp divides LongRoPE's rates by it",
                           keys_.key("rope.scaling.factor"), rotation.factor));
  }
  if (architecture_.logits == LogitsRule::squared_magnitude)
    rotation.softmax_multiplier = squared_magnitude(rotation);
  if (longrope && !keys_.has("rope.scaling.attn_factor") && context_ > rotation.original_context) {
    keys_.warn(fmt::format("metadata key \"{}\" is missing: the magnitude is taken to be 1",
                           attention_key));
  }
  return rotation;
}

}  // namespace

GgufRotation read_gguf_rotation(GgufKeys& keys, const GgufArchitecture& architecture, double base,
                                Index context, Index rotary_dims) {
  return GgufScalingReader(keys, architecture, context).read(base, rotary_dims / 2);
}

void apply_gguf_rotation(const GgufRotation& rotation, Index context, LayerRope& layer) {
  layer.powers = Powers<>{layer.powers.rotary_dims, rotation.base};
  layer.powers.attention_factor = rotation.attn_factor;
  layer.powers.factors = rotation.divisors;
  layer.scaling = Unscaled<>{};
  layer.softmax_multiplier = rotation.softmax_multiplier;
  const bool yarn = rotation.ext_factor != 0 && rotation.factor != 1;
  if (yarn) {
    GgmlYarn<> scaling;
    scaling.ext_factor = rotation.ext_factor;
    scaling.original_context = rotation.original_context;
    scaling.beta_fast = rotation.beta_fast;
    scaling.beta_slow = rotation.beta_slow;
    layer.powers.linear_scale = 1.0 / rotation.factor;
    layer.scaling = scaling;
  } else if (!rotation.long_divisors.empty()) {
    LongRope<> longrope;
    longrope.short_factor = rotation.short_divisors;
    longrope.long_factor = rotation.long_divisors;
    longrope.original_context = rotation.original_context;
    longrope.magnitude = LongRopeMagnitude::given;
    if (context > 0)
      longrope.factor =
          static_cast<double>(context) / static_cast<double>(rotation.original_context);
    layer.scaling = std::move(longrope);
    layer.powers.linear_scale = 1.0 / rotation.factor;
  } else if (rotation.factor != 1) {
    layer.scaling = Linear<>{rotation.factor};
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
