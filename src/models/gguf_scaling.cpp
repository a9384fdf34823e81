// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_scaling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "models/gguf_architectures.hpp"

namespace rope::models {
namespace {

/// A divisor from here on leaves a pair at rest: how converters write rates of 0 (Gemma 4).
constexpr double kRestingDivisor = 1e20;

/// The tensors' values, empty where there are none.
struct FactorTensors {
  std::vector<double> all;
  std::vector<double> long_context;
  std::vector<double> short_context;
};

/// scaling.*, as read.
struct ScalingKeys {
  std::string type;
  double factor = 1.0;
  double attention_factor = 1.0;
  double ext_factor = 0.0;
  Index original_context = 0;
};

/// 1 if factor <= 1, else 1 + scale ln(factor) / 10.
double mscale(double factor, double scale) { return factor <= 1 ? 1.0 : 1.0 + 0.1 * scale * std::log(factor); }

class ScalingReader {
 public:
  ScalingReader(GgufKeys& keys, Index context) : keys_(keys), context_(context) {}

  void apply(LayerRope& layer);

 private:
  FactorTensors factor_tensors(Index pairs);
  std::vector<double> factors_of(std::string_view tensor, Index pairs);
  ScalingKeys scaling_keys(const FactorTensors& factors);
  double scaling_factor(const std::string& type, bool type_given, const FactorTensors& factors);
  Index original_context(bool yarn);
  void apply_yarn(LayerRope& layer, const ScalingKeys& keys);
  void apply_longrope(LayerRope& layer, const ScalingKeys& keys, FactorTensors factors);

  GgufKeys& keys_;
  Index context_;
};

std::vector<double> ScalingReader::factors_of(std::string_view tensor, Index pairs) {
  const std::optional<std::vector<double>> values = keys_.file.tensor_values(tensor);
  if (!values) return {};
  if (static_cast<Index>(values->size()) != pairs) {
    keys_.file.refuse(fmt::format("tensor \"{}\" must have one value per pair, {}", tensor, pairs), fmt::format("{}", values->size()));
  }
  Index resting = 0;
  for (std::size_t k = 0; k < values->size(); ++k) {
    const double value = (*values)[k];
    if (!std::isfinite(value) || !(value > 0)) {
      keys_.file.refuse(fmt::format("value {} of tensor \"{}\" must be finite and greater than 0", k, tensor),
                        std::isnan(value) ? "nan" : fmt::format("{}", value));
    }
    if (value >= kRestingDivisor) ++resting;
  }
  if (resting > 0) keys_.warn(fmt::format("{} of the {} divisors in tensor \"{}\" leave their pairs at rest", resting, pairs, tensor));
  return *values;
}

FactorTensors ScalingReader::factor_tensors(Index pairs) {
  FactorTensors factors{factors_of("rope_freqs.weight", pairs), factors_of("rope_factors_long.weight", pairs),
                        factors_of("rope_factors_short.weight", pairs)};
  if (factors.long_context.empty() != factors.short_context.empty()) {
    const auto* missing = factors.long_context.empty() ? "long" : "short";
    keys_.file.refuse(fmt::format("tensor \"rope_factors_{}.weight\" must be there, as the other list of LongRoPE is", missing));
  }
  if (!factors.all.empty() && !factors.long_context.empty()) {
    constexpr std::string_view rule = "tensors \"rope_freqs.weight\" and \"rope_factors_long.weight\" must not both be there";
    if (keys_.strict()) keys_.file.refuse(rule);
    keys_.warn(fmt::format("{}: the former is used", rule));
    factors.long_context.clear();
    factors.short_context.clear();
  }
  return factors;
}

double ScalingReader::scaling_factor(const std::string& type, bool type_given, const FactorTensors& factors) {
  const bool older = !keys_.has("rope.scaling.factor");
  const std::string name = keys_.key(older ? "rope.scale_linear" : "rope.scaling.factor");
  const std::optional<double> factor = keys_.file.number(name);
  const bool needed = type_given && type != "none" && factors.long_context.empty() && type != "longrope";
  if (!factor) {
    if (needed && keys_.strict()) {
      keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for scaling \"{}\"", keys_.key("rope.scaling.factor"), type));
    }
    if (needed) keys_.warn(fmt::format("metadata key \"{}\" is missing: nothing is divided", keys_.key("rope.scaling.factor")));
    return 1.0;
  }
  if (type == "none") {
    if (*factor != 1) keys_.warn(fmt::format("metadata key \"{}\" is {}, and the scaling is none: it is not applied", name, *factor));
    return 1.0;
  }
  if (*factor == 0) {
    keys_.mend(name, "be at least 1", "0", "llama.cpp takes 1");
    return 1.0;
  }
  if (!(*factor > 0)) keys_.file.refuse_key(name, "be greater than 0", fmt::format("{}", *factor));
  if (*factor < 1) keys_.mend(name, "be at least 1", fmt::format("{}", *factor), "rates grow");
  if (older) keys_.warn(fmt::format("metadata key \"{}\" is the older name of rope.scaling.factor", name));
  if (!type_given && !older && *factor != 1) {
    keys_.warn(fmt::format("metadata key \"{}\" is missing: the scaling is taken to be linear", keys_.key("rope.scaling.type")));
  }
  return *factor;
}

Index ScalingReader::original_context(bool yarn) {
  const std::string name = keys_.key("rope.scaling.original_context_length");
  if (const auto given = keys_.integer_up_to(Index{1} << 53, "rope.scaling.original_context_length")) return *given;
  if (yarn && keys_.strict()) keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for YaRN", name));
  keys_.warn(fmt::format("metadata key \"{}\" is missing: the context length, {}, is taken", name, context_));
  return context_;
}

ScalingKeys ScalingReader::scaling_keys(const FactorTensors& factors) {
  ScalingKeys keys;
  const std::string type_key = keys_.key("rope.scaling.type");
  const std::optional<std::string> type = keys_.file.text(type_key);
  keys.type = type.value_or("linear");
  if (keys.type != "none" && keys.type != "linear" && keys.type != "yarn" && keys.type != "longrope") {
    keys_.file.refuse_key(type_key, "be none, linear, yarn or longrope", fmt::format("\"{}\"", keys.type));
  }
  keys.factor = scaling_factor(keys.type, type.has_value(), factors);
  const std::string attention_key = keys_.key("rope.scaling.attn_factor");
  keys.attention_factor = keys_.positive(attention_key, keys_.file.number(attention_key).value_or(1.0));
  (void)keys_.file.flag(keys_.key("rope.scaling.finetuned"));
  const double alpha = keys_.file.number(keys_.key("rope.scaling.alpha")).value_or(0.0);
  if (alpha != 0)
    keys_.mend(keys_.key("rope.scaling.alpha"), "be 0: what it does is not known here", fmt::format("{}", alpha), "it is not applied");
  // llama.cpp reads a negative one as missing.
  const double ext_factor = keys_.file.number(keys_.key("rope.scaling.yarn_ext_factor")).value_or(-1.0);
  keys.ext_factor = ext_factor >= 0 ? ext_factor : keys.type == "yarn" ? 1.0 : 0.0;
  const bool yarn = keys.ext_factor != 0;
  const bool longrope = !factors.long_context.empty();
  if (yarn && longrope) keys_.file.refuse("tensor \"rope_factors_long.weight\" must not be there beside YaRN");
  if (keys.type == "longrope" && !longrope) {
    constexpr std::string_view rule = "tensor \"rope_factors_long.weight\" must be there for scaling \"longrope\"";
    if (keys_.strict()) keys_.file.refuse(rule);
    keys_.warn(fmt::format("{}: nothing is divided", rule));
  }
  if (yarn || longrope) {
    keys.original_context = original_context(yarn);
    if (keys.original_context == 0) keys_.file.refuse(fmt::format("metadata key \"{}\" must be there", keys_.key("context_length")));
    if (context_ > 0 && keys.original_context >= context_) {
      keys_.warn(fmt::format("the original context length, {}, is not below the context length, {}", keys.original_context, context_));
    }
  }
  return keys;
}

void ScalingReader::apply(LayerRope& layer) {
  FactorTensors factors = factor_tensors(layer.powers.rotary_dims / 2);
  const ScalingKeys keys = scaling_keys(factors);
  layer.powers.factors = std::move(factors.all);
  if (keys.ext_factor != 0) {
    apply_yarn(layer, keys);
    return;
  }
  layer.powers.attention_factor = keys.attention_factor * keys_.file.number(keys_.key("rope.scaling.yarn_attn_factor")).value_or(1.0);
  if (!factors.long_context.empty()) {
    apply_longrope(layer, keys, std::move(factors));
  } else if (keys.factor != 1) {
    layer.scaling = Linear{keys.factor};
  }
}

void ScalingReader::apply_yarn(LayerRope& layer, const ScalingKeys& keys) {
  Yarn yarn;
  yarn.ext_factor = keys.ext_factor;
  yarn.original_context = keys.original_context;
  yarn.beta_fast = keys_.file.number(keys_.key("rope.scaling.yarn_beta_fast")).value_or(yarn.beta_fast);
  yarn.beta_slow = keys_.file.number(keys_.key("rope.scaling.yarn_beta_slow")).value_or(yarn.beta_slow);
  layer.powers.linear_scale = 1.0 / keys.factor;
  layer.scaling = yarn;

  const double by_ggml = 1.0 + 0.1 * std::log(keys.factor);
  if (!(by_ggml > 0))
    keys_.file.refuse_key(keys_.key("rope.scaling.factor"), "be greater than exp(-10) for YaRN", fmt::format("{}", keys.factor));
  const bool latent = gguf_has_latent_attention(keys_.architecture);
  const double multiplier = keys_.file.number(keys_.key("rope.scaling.yarn_log_multiplier")).value_or(0.0);
  const double mscale_all_dim = latent ? multiplier / 0.1 : multiplier;
  double magnitude = mscale(keys.factor, 1.0);
  if (mscale_all_dim != 0) {
    const double mscale_of_model = keys_.architecture == "deepseek2" ? mscale_all_dim : 1.0;
    magnitude = mscale(keys.factor, mscale_of_model) / mscale(keys.factor, mscale_all_dim);
  }
  // ggml multiplies by `by_ggml` on its own, and llama.cpp divides by it first.
  layer.powers.attention_factor = keys.attention_factor * (magnitude / by_ggml);
  if (latent && mscale_all_dim != 0) {
    const double m = keys.attention_factor * magnitude;
    layer.softmax_multiplier = yarn_softmax_multiplier(keys.factor, mscale_all_dim) * (m * m);
  }

  if (keys_.file.number(keys_.key("rope.scaling.yarn_attn_factor")).value_or(1.0) != 1) {
    keys_.warn(fmt::format("metadata key \"{}\" is not applied: llama.cpp replaces it", keys_.key("rope.scaling.yarn_attn_factor")));
  }
  if (context_ > 0) {
    const double ratio = static_cast<double>(context_) / static_cast<double>(keys.original_context);
    if (std::abs(ratio - keys.factor) > 1e-6 * ratio) {
      keys_.warn(fmt::format("the factor is {}, and the context length over the original one is {}", keys.factor, ratio));
    }
  }
  if (keys_.architecture == "gpt-oss") {
    keys_.warn("gpt-oss was published with exact ends of YaRN's ramp (truncate false): GGUF cannot say so, and ggml rounds them");
  }
}

void ScalingReader::apply_longrope(LayerRope& layer, const ScalingKeys& keys, FactorTensors factors) {
  LongRope longrope;
  longrope.short_factor = std::move(factors.short_context);
  longrope.long_factor = std::move(factors.long_context);
  longrope.original_context = keys.original_context;
  longrope.magnitude = LongRopeMagnitude::given;
  if (context_ > 0) longrope.factor = static_cast<double>(context_) / static_cast<double>(keys.original_context);
  layer.scaling = std::move(longrope);
  if (keys.factor != 1) {
    layer.powers.linear_scale = 1.0 / keys.factor;
    keys_.warn(
        fmt::format("metadata key \"{}\" is {}: llama.cpp divides LongRoPE's rates by it", keys_.key("rope.scaling.factor"), keys.factor));
  }
  if (!keys_.has("rope.scaling.attn_factor") && context_ > keys.original_context) {
    keys_.warn(fmt::format("metadata key \"{}\" is missing: the magnitude is taken to be 1", keys_.key("rope.scaling.attn_factor")));
  }
}

}  // namespace

void apply_gguf_scaling(GgufKeys& keys, Index context, LayerRope& layer) { ScalingReader(keys, context).apply(layer); }

}  // namespace rope::models
