// SPDX-License-Identifier: Apache-2.0
#include "models/hugging_face_scaling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

using Names = std::initializer_list<const char*>;

constexpr const char* original = "original_max_position_embeddings";

std::string canonical(std::string type, const RopeSurroundings& surroundings) {
  if (type == "mrope") return "default";
  if (type == "xdrope" && surroundings.xdrope_is_dynamic) return "dynamic";
  if (type == "su" || (type == "yarn" && surroundings.yarn_is_longrope)) return "longrope";
  return type;
}

bool is_one_of(std::string_view name, Names names) {
  return std::any_of(names.begin(), names.end(), [&](const char* known) { return name == known; });
}

bool is_known_key(std::string_view key, std::string_view type) {
  if (is_one_of(key, {"rope_type", "type", "rope_theta", "partial_rotary_factor", "mrope_section",
                      "mrope_interleaved"}))
    return true;
  // Ministral 3 has both in this place.
  if (is_one_of(key, {"max_position_embeddings", "llama_4_scaling_beta"})) return true;
  if (type == "linear" || type == "proportional") return key == "factor";
  if (type == "dynamic") return is_one_of(key, {"factor", original});
  if (type == "alpha")
    return is_one_of(key, {"alpha", "factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim",
                           "xdrope_section"});
  if (type == "llama3")
    return is_one_of(key, {"factor", original, "low_freq_factor", "high_freq_factor"});
  if (type == "longrope")
    return is_one_of(key, {"factor", original, "short_factor", "long_factor", "attention_factor"});
  if (type == "yarn" || type == "deepseek_yarn") {
    return is_one_of(key, {"factor", original, "attention_factor", "beta_fast", "beta_slow",
                           "mscale", "mscale_all_dim", "truncate"});
  }
  return false;
}

// Reads one type's keys; refusals name them.
class ScalingReader {
 public:
  ScalingReader(const JsonObject& parameters, const RopeSurroundings& around)
      : parameters_(parameters), around_(around) {}

  double factor() const {
    if (!parameters_.has("factor")) parameters_.require("factor", "with this rope type");
    return checked_factor();
  }

  // A file may leave it to the ratio of the contexts.
  double factor_or_ratio(Index original_context) const {
    if (parameters_.has("factor")) {
      const double given = checked_factor();
      compare_with_ratio(given, original_context);
      return given;
    }
    if (around_.context == 0) {
      detail::fail(fmt::format("{} is required where {} is missing", around_.context_path,
                               parameters_.path("factor")),
                   "none");
    }
    return static_cast<double>(around_.context) / static_cast<double>(original_context);
  }

  double checked_factor() const {
    const double factor = *parameters_.number("factor");
    if (!(factor > 0)) parameters_.refuse("factor", "must be at least 1");
    if (factor < 1) parameters_.mind("factor", "must be at least 1", "it is taken as it is");
    return factor;
  }

  Index original_context() const {
    const std::optional<Index> inside = parameters_.integer(original, 1);
    if (around_.original_context) {
      if (inside && *inside != *around_.original_context) {
        parameters_.mind(original,
                         fmt::format("must equal the one outside ({})", *around_.original_context),
                         "the one outside is taken");
      }
      return *around_.original_context;
    }
    if (inside) return *inside;
    if (around_.context == 0) parameters_.require(original, "with this rope type");
    parameters_.mind(original, "is required with this rope type",
                     fmt::format("{} ({}) is taken", around_.context_path, around_.context));
    return around_.context;
  }

  // Published files have both: the factor wins, as in Hugging Face.
  void compare_with_ratio(double factor, Index original_context) const {
    if (around_.context == 0) return;
    const double ratio =
        static_cast<double>(around_.context) / static_cast<double>(original_context);
    if (around_.context <= original_context) {
      if (factor == 1 && ratio == 1) return;
      parameters_.notes().warn(
          fmt::format("{} is not less than {} ({}), got {}: the context after scaling, {} tokens, "
                      "is not in the file",
                      parameters_.path(original), around_.context_path, around_.context,
                      original_context, factor * static_cast<double>(original_context)));
    } else if (ratio != factor) {
      parameters_.notes().warn(fmt::format(
          "{} is not {} over {} ({}), got {}: the factor is taken, as Hugging Face does",
          parameters_.path("factor"), around_.context_path, original, ratio, factor));
    }
  }

  std::optional<double> attention_factor() const {
    const std::optional<double> given = parameters_.number("attention_factor");
    if (given && !(*given > 0))
      parameters_.mind("attention_factor", "must be greater than 0", "it is taken as it is");
    return given;
  }

  // Hugging Face writes `beta_fast or 32`.
  double beta(const char* name, double otherwise) const {
    const std::optional<double> given = parameters_.number(name);
    if (!given) return otherwise;
    if (*given < 0) parameters_.refuse(name, "must be greater than 0");
    if (*given > 0) return *given;
    parameters_.mind(name, "must be greater than 0",
                     fmt::format("{} is taken, as Hugging Face does", otherwise));
    return otherwise;
  }

  Scaling dynamic() const {
    if (around_.context == 0)
      detail::fail(fmt::format("{} is required with dynamic", around_.context_path), "none");
    const std::optional<Index> unused = parameters_.integer(original, 1);
    if (unused && *unused != around_.context) {
      parameters_.notes().warn(
          fmt::format("{} is not read with dynamic, got {}: the rates change past {} ({} tokens)",
                      parameters_.path(original), *unused, around_.context_path, around_.context));
    }
    return DynamicNtkScaling<>{factor(), around_.context};
  }

  // Beside alpha the class reads nothing else; published files hold the values that change nothing.
  double base_by_alpha(const LayerRope& layer) const {
    const double alpha = *parameters_.number("alpha");
    if (!(alpha > 0)) parameters_.refuse("alpha", "must be greater than 0");
    if (layer.powers.rotary_dims <= 2)
      parameters_.refuse("alpha", "must not stand beside heads of 2 dims");
    for (const auto& [name, neutral] : {std::pair{"factor", 1.0},
                                        {"beta_fast", 32.0},
                                        {"beta_slow", 1.0},
                                        {"mscale", 1.0},
                                        {"mscale_all_dim", 1.0}}) {
      const double value = parameters_.number(name).value_or(neutral);
      if (value != neutral && value != 0) {
        parameters_.mind(
            name,
            fmt::format("must be {} beside alpha, where Hugging Face reads alpha alone", neutral),
            "it is ignored");
      }
    }
    return ntk_base(layer.powers.rotary_dims, layer.powers.base, alpha);
  }

  Scaling llama3() const {
    Llama3<> llama3;
    llama3.factor = factor();
    llama3.original_context = original_context();
    llama3.low_freq_factor = positive("low_freq_factor");
    llama3.high_freq_factor = positive("high_freq_factor");
    if (llama3.high_freq_factor < llama3.low_freq_factor)
      parameters_.refuse("high_freq_factor", "must be greater than low_freq_factor");
    if (llama3.high_freq_factor == llama3.low_freq_factor) {
      parameters_.notes().warn(
          fmt::format("{} equals low_freq_factor, got {}: the band between them is a step, as "
                      "Hugging Face does",
                      parameters_.path("high_freq_factor"), llama3.high_freq_factor));
    }
    compare_with_ratio(llama3.factor, llama3.original_context);
    return llama3;
  }

  Scaling longrope(LayerRope& layer) const {
    LongRope<> longrope;
    longrope.short_factor = divisors("short_factor", layer.powers.rotary_dims / 2);
    longrope.long_factor = divisors("long_factor", layer.powers.rotary_dims / 2);
    longrope.original_context = original_context();
    if (const std::optional<double> given = attention_factor()) {
      longrope.magnitude = LongRopeMagnitude::given;
      layer.powers.attention_factor = *given;
      if (parameters_.has("factor")) longrope.factor = checked_factor();
    } else {
      longrope.factor = factor_or_ratio(longrope.original_context);
    }
    return longrope;
  }

  Scaling yarn(YarnMagnitude magnitude, LayerRope& layer) const {
    Yarn<> yarn;
    yarn.magnitude = magnitude;
    yarn.original_context = original_context();
    // Null is filled in, a missing key is not.
    if (!parameters_.json().contains("factor")) {
      parameters_.mind("factor", "is required with this rope type",
                       "the ratio of the contexts is taken");
    }
    yarn.factor = factor_or_ratio(yarn.original_context);
    yarn.beta_fast = beta("beta_fast", yarn.beta_fast);
    yarn.beta_slow = beta("beta_slow", yarn.beta_slow);
    if (yarn.beta_fast < yarn.beta_slow) {
      parameters_.mind("beta_fast",
                       fmt::format("must not be less than beta_slow ({})", yarn.beta_slow),
                       "the ramp is turned round");
    }
    yarn.ends = parameters_.flag("truncate").value_or(true) ? RampEnds::rounded : RampEnds::exact;
    if (around_.nested && yarn.ends == RampEnds::exact) {
      parameters_.mind("truncate",
                       "must be true within a layer type, where Hugging Face does not read it",
                       "true is taken, as Hugging Face does");
      yarn.ends = RampEnds::rounded;
    }
    yarn.mscale = parameters_.number("mscale");
    yarn.mscale_all_dim = parameters_.number("mscale_all_dim").value_or(0.0);
    if (const std::optional<double> given = attention_factor()) {
      yarn.magnitude = YarnMagnitude::given;
      layer.powers.attention_factor = *given;
      warn_of_unread_mscale("attention_factor is there");
    } else if (magnitude == YarnMagnitude::hugging_face &&
               (yarn.mscale.value_or(0.0) == 0) != (yarn.mscale_all_dim == 0)) {
      warn_of_unread_mscale("Hugging Face wants both; DeepSeek's rule reads it");
    }
    if (around_.softmax_multiplier)
      layer.softmax_multiplier = yarn_softmax_multiplier(yarn.factor, yarn.mscale_all_dim);
    return yarn;
  }

 private:
  double positive(const char* name) const {
    const std::optional<double> given = parameters_.number(name);
    if (!given) parameters_.require(name, "with this rope type");
    if (!(*given > 0)) parameters_.refuse(name, "must be greater than 0");
    return *given;
  }

  std::vector<double> divisors(const char* name, Index pairs) const {
    std::optional<std::vector<double>> given = parameters_.numbers(name);
    if (!given) parameters_.require(name, "with this rope type");
    if (static_cast<Index>(given->size()) != pairs) {
      detail::fail(fmt::format("{} must be a list of one number per pair ({})",
                               parameters_.path(name), pairs),
                   static_cast<std::int64_t>(given->size()));
    }
    for (std::size_t k = 0; k < given->size(); ++k) {
      if ((*given)[k] == 0)
        detail::fail(fmt::format("{}[{}] must not be 0", parameters_.path(name), k), (*given)[k]);
    }
    return std::move(*given);
  }

  void warn_of_unread_mscale(std::string_view why) const {
    if (const char* name = parameters_.first_of({"mscale", "mscale_all_dim"})) {
      parameters_.notes().warn(fmt::format("{} is not read for the magnitude, got {}: {}",
                                           parameters_.path(name), shown(*parameters_.find(name)),
                                           why));
    }
  }

  const JsonObject& parameters_;
  const RopeSurroundings& around_;
};

}  // namespace

std::string rope_type(const JsonObject* parameters, const RopeSurroundings& surroundings) {
  if (parameters == nullptr) return "default";
  const std::optional<std::string> first = parameters->text("rope_type");
  const std::optional<std::string> second = parameters->text("type");
  if (first && second && canonical(*first, surroundings) != canonical(*second, surroundings)) {
    parameters->mind("type", fmt::format("must agree with rope_type ({})", *first),
                     "rope_type is taken");
  }
  const char* name = first ? "rope_type" : "type";
  std::string type = canonical(first ? *first : second.value_or("default"), surroundings);
  if (!is_one_of(type, {"default", "linear", "dynamic", "yarn", "deepseek_yarn", "llama3",
                        "longrope", "proportional"})) {
    parameters->refuse(name,
                       "must be default, linear, dynamic, yarn, llama3, longrope or proportional");
  }
  const bool has_alpha = type == "dynamic" && surroundings.alpha_scales_base &&
                         parameters->number("alpha").value_or(0.0) != 0;
  return has_alpha ? "alpha" : type;
}

void require_known_keys(const JsonObject& parameters, const std::string& type) {
  for (const auto& [key, value] : parameters.json().items()) {
    // Saved files hold null where a value was left out.
    if (value.is_null() || is_known_key(key, type)) continue;
    parameters.mind(key.c_str(), fmt::format("is no key of rope type {}", type), "it is ignored");
  }
}

void read_scaling(const JsonObject& parameters, const std::string& type, double fraction,
                  const RopeSurroundings& surroundings, LayerRope& layer) {
  const ScalingReader reader(parameters, surroundings);
  const std::optional<Index> context = parameters.integer("max_position_embeddings", 1);
  if (context && *context != surroundings.context) {
    parameters.mind("max_position_embeddings",
                    fmt::format("must equal the one outside ({})", surroundings.context),
                    "it is ignored");
  }
  if (parameters.has("llama_4_scaling_beta")) {
    parameters.notes().warn(
        fmt::format("{} scales queries by their position: it is left to the attention",
                    parameters.path("llama_4_scaling_beta")));
  }
  if (type == "linear") layer.scaling = Linear<>{reader.factor()};
  if (type == "dynamic") layer.scaling = reader.dynamic();
  if (type == "alpha") layer.powers.base = reader.base_by_alpha(layer);
  if (type == "llama3") layer.scaling = reader.llama3();
  if (type == "longrope") layer.scaling = reader.longrope(layer);
  if (type == "yarn") layer.scaling = reader.yarn(YarnMagnitude::hugging_face, layer);
  if (type == "deepseek_yarn") {
    parameters.notes().warn(fmt::format(
        "{} is deepseek_yarn, which vLLM knows and Hugging Face does not: m is DeepSeek's ratio",
        parameters.path(parameters.has("rope_type") ? "rope_type" : "type")));
    layer.scaling = reader.yarn(YarnMagnitude::deepseek, layer);
  }
  if (type == "proportional") {
    const double factor = parameters.has("factor") ? reader.checked_factor() : 1.0;
    layer.scaling = Proportional<>{factor, proportional_pairs(layer.head_dims, fraction)};
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
