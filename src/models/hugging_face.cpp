// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/models/hugging_face.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "models/hugging_face_config.hpp"
#include "models/hugging_face_layers.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

// What a message of ours says after its "[rope] ".
std::string_view sentence(std::string_view message) {
  constexpr std::string_view mark = "[rope] ";
  return message.substr(0, mark.size()) == mark ? message.substr(mark.size()) : message;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Multimodal files keep what concerns the text one level down.
JsonObject text_part(const JsonObject& top) {
  const char* found = nullptr;
  const std::string type = top.text("model_type").value_or("");
  const SilentFamily* silent = find_silent_family(type);
  const std::string own = silent == nullptr ? "" : std::string(silent->key);
  std::vector<const char*> names{"text_config", "thinker_config", "llm_config", "language_config"};
  if (!own.empty() && std::find(names.begin(), names.end(), own) == names.end())
    names.insert(names.begin(), own.c_str());
  for (const char* name : names) {
    if (!top.has(name)) continue;
    if (found != nullptr)
      top.refuse(name, fmt::format("must not stand beside {}", top.path(found)));
    found = name;
  }
  if (ends_with(type, "encoder-decoder")) {
    detail::fail(
        "the file must have a part about text (text_config): it is an encoder with a decoder, and "
        "neither is read");
  }
  if (found == nullptr && top.has("vision_config") && find_family(type) == nullptr &&
      !top.has("num_attention_heads")) {
    detail::fail(
        "the file must have a part about text (text_config, thinker_config, llm_config or "
        "language_config)");
  }
  if (found == nullptr) return top;
  const JsonObject inside = *top.object(found);
  if (inside.json().empty()) top.refuse(found, "must not be empty");
  JsonObject text = text_part(inside);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (!top.has(name) || top.find(name)->empty()) continue;
    if (!text.has(name) || *text.find(name) != *top.find(name)) {
      top.mind(name, fmt::format("must stand in {}, which is what is read", text.path()),
               "it is ignored, as Hugging Face does");
    }
  }
  return text;
}

std::optional<JsonObject> parameters_named(const JsonObject& text, const char* name) {
  std::optional<JsonObject> object = text.object(name);
  if (object && object->json().empty()) return {};
  return object;
}

// Whether the old form says nothing that the new one does not; types are compared when they are
// read.
bool agree(const Json& scaling, const Json& parameters) {
  const auto type = [](const Json& owner) {
    const auto by_type = owner.find("type");
    const Json found =
        owner.value("rope_type", by_type == owner.end() ? Json("default") : *by_type);
    return found == "mrope" ? Json("default") : found == "su" ? Json("longrope") : found;
  };
  if (type(scaling) != type(parameters)) return false;
  for (const auto& [key, value] : scaling.items()) {
    if (key == "type" || key == "rope_type" || value.is_null()) continue;
    const auto other = parameters.find(key);
    if (other == parameters.end() || *other != value) return false;
  }
  for (const auto& [key, value] : parameters.items()) {
    const bool beside = key == "type" || key == "rope_type" || key == "rope_theta" ||
                        key == "partial_rotary_factor";
    if (!beside && !value.is_null() && !scaling.contains(key)) return false;
  }
  return true;
}

std::optional<JsonObject> rope_parameters(const JsonObject& text) {
  std::optional<JsonObject> scaling = parameters_named(text, "rope_scaling");
  std::optional<JsonObject> parameters = parameters_named(text, "rope_parameters");
  if (!scaling) return parameters;
  if (!parameters) return scaling;
  if (agree(scaling->json(), parameters->json())) return parameters;
  text.mind("rope_scaling", "must agree with rope_parameters",
            "rope_scaling is taken, as Hugging Face does");
  return scaling;
}

bool is_nested(const JsonObject& parameters) {
  const Json& entries = parameters.json();
  return std::any_of(entries.begin(), entries.end(),
                     [](const Json& entry) { return entry.is_object(); });
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

// Whether a key's name says that it concerns the rotation.
bool is_rope_like(std::string_view key) {
  for (const char* part : {"rope", "rotary", "theta", "nope", "per_layer_config"}) {
    if (key.find(part) != std::string_view::npos) return true;
  }
  return ends_with(key, "head_dim");
}

// Keys that are read here or are of no rotation: widths of values, of the unrotated part, of
// indexers and of linear attention.
constexpr std::string_view read_keys[] = {"rope_theta",
                                          "rope_scaling",
                                          "rope_parameters",
                                          "rotary_emb_base",
                                          "rope_local_base_freq",
                                          "partial_rotary_factor",
                                          "rotary_pct",
                                          "rope_pct",
                                          "rotary_dim",
                                          "head_dim",
                                          "attention_head_dim",
                                          "qk_rope_head_dim",
                                          "qk_nope_head_dim",
                                          "qk_head_dim",
                                          "v_head_dim",
                                          "global_head_dim",
                                          "layer_rope_theta",
                                          "linear_head_dim",
                                          "rope_interleave",
                                          "no_rope_layers",
                                          "no_rope_layer_interval",
                                          "index_head_dim",
                                          "indexer_head_dim",
                                          "use_mem_rope",
                                          "linear_key_head_dim",
                                          "linear_value_head_dim",
                                          "global_rope_theta",
                                          "local_rope_theta",
                                          "per_layer_config",
                                          "mamba_head_dim"};

void mind_unread_keys(const JsonObject& text, LayerRule rule) {
  for (const auto& [key, value] : text.json().items()) {
    const bool nothing =
        value.is_null() || value == Json(false) || (value.is_structured() && value.empty());
    if (nothing || !is_rope_like(key)) continue;
    const bool bases = key == "layer_rope_theta" && rule != LayerRule::layer_bases;
    if (!bases && std::find(std::begin(read_keys), std::end(read_keys), key) != std::end(read_keys))
      continue;
    if (key == "use_rotary_pos_emb" && value == Json(true))
      continue;  // it says what the model does
    const Json* layers = text.find("num_hidden_layers");
    if (key == "rope_scaling_layers" && layers != nullptr && value.is_array() &&
        *layers == Json(value.size()))
      continue;  // all of them
    text.mind(key.c_str(), "is a key of the rotation that is not read", "it is ignored");
  }
}

// Layers of these kinds have no rotation to describe.
bool is_never_rotated(const std::string& layer_type) {
  return layer_type == "linear_attention" || layer_type == "conv" || layer_type == "mamba" ||
         layer_type == "recurrent";
}

class LayerReader {
 public:
  LayerReader(const ConfigReader& config, ModelRope& model)
      : config_(config),
        text_(config.text()),
        model_(model),
        rule_(config.rule()),
        types_(layer_types(text_, config.family(), rule_, model.layer_count)) {
    // Where the file does not say how many layers there are, its lists do.
    const Json* listed = rule_ == LayerRule::listed ? text_.list("no_rope_layers") : nullptr;
    if (model_.layer_count == 0)
      model_.layer_count = static_cast<Index>(listed != nullptr ? listed->size() : types_.size());
  }

  void read() {
    const Family* known = config_.family();
    if (types_.empty() && known != nullptr && (known->nested || !known->resting.empty()) &&
        rule_ == LayerRule::alike) {
      text_.notes().mind(fmt::format("{} is required with {}, whose layers differ",
                                     text_.path("layer_types"), known->model_type),
                         "none", "all layers are taken as rotated");
    }
    const std::optional<JsonObject> parameters = rope_parameters(text_);
    require_form(parameters.has_value());
    if (parameters && is_nested(*parameters)) {
      read_nested(*parameters);
    } else {
      read_flat(parameters ? &*parameters : nullptr);
    }
    if (model_.layers.empty()) detail::fail("the file must have a layer that is rotated");
  }

 private:
  void add(const LayerKind& kind) {
    LayerRope layer = config_.layer(kind);
    const std::string path =
        kind.parameters == nullptr ? "the configuration" : kind.parameters->path();
    try {
      for (const Index length : {Index{0}, model_.context}) {
        detail::require_finite("the magnitude",
                               static_cast<double>(layer.frequencies(length).attention_factor()));
      }
      detail::require_finite("the softmax multiplier", layer.softmax_multiplier);
    } catch (const Error& error) {
      detail::fail(fmt::format("{} must make frequencies: {}", path, sentence(error.what())));
    }
    model_.layers.push_back(std::move(layer));
  }

  // Some classes have a scaling or bases of their own, which a file without parameters leaves to
  // them.
  void require_form(bool has_parameters) const {
    const Family* family = config_.family();
    if (family == nullptr || family->forms == Forms::any) return;
    if (family->forms == Forms::fixed || family->forms == Forms::outside) {
      for (const char* name : {"rope_scaling", "rope_parameters", "rope_theta"}) {
        const bool read = family->forms == Forms::outside && std::string_view(name) == "rope_theta";
        if (text_.has(name) && !read) {
          text_.mind(name,
                     fmt::format("is no key that Hugging Face's {} reads", family->model_type),
                     "it is read as most classes do");
        }
      }
      return;
    }
    if (!has_parameters)
      text_.require("rope_parameters", fmt::format("with {}", family->model_type));
    if (family->forms != Forms::saved) return;
    for (const char* name : {"rope_scaling", "rope_theta"}) {
      const bool beside = std::string_view(name) == "rope_theta" && text_.has("rope_parameters");
      if (text_.has(name) && !beside) {
        text_.mind(
            name,
            fmt::format(
                "must stand in rope_parameters with {}, whose class reads this key in its own way",
                family->model_type),
            "it is read as most classes do");
      }
    }
  }

  bool has_layers(const char* type) const {
    return types_.empty() || std::find(types_.begin(), types_.end(), type) != types_.end();
  }

  void read_nested(const JsonObject& parameters) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : parameters.json().items()) {
      if (entry.is_object()) names.push_back(name);
      if (!entry.is_object() && !entry.is_null()) {
        parameters.mind(name.c_str(), "must be an object, as others beside it are",
                        "it is ignored, as Hugging Face does");
      }
    }
    if (!types_.empty()) names = named_by_layers(parameters, names);
    for (const std::string& name : names) {
      const JsonObject part = *parameters.object(name.c_str());
      LayerKind kind;
      kind.parameters = &part;
      kind.layer_type = name;
      kind.layers = layers_of_type(types_, name);
      kind.nested = true;
      kind.local_base = (rule_ == LayerRule::local_base || rule_ == LayerRule::global_local) &&
                        name == sliding_attention;
      kind.global_base = rule_ == LayerRule::global_local && name == full_attention;
      kind.global_head = (rule_ == LayerRule::global_head || text_.has("global_head_dim")) &&
                         name == full_attention;
      add(kind);
    }
  }

  // The parts that layers name, full_attention first, the others in the order of the layers.
  std::vector<std::string> named_by_layers(const JsonObject& parameters,
                                           const std::vector<std::string>& parts) {
    std::vector<std::string> seen;
    std::vector<std::string> used;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const std::string& type = types_[i];
      if (std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
      seen.push_back(type);
      if (std::find(parts.begin(), parts.end(), type) != parts.end()) {
        used.push_back(type);
      } else if (parameters.json().contains(type)) {
        if (rule_ == LayerRule::local_base || rule_ == LayerRule::local_unscaled ||
            rule_ == LayerRule::global_local) {
          parameters.mind(type.c_str(), "must be an object in this family",
                          "its layers are left out");
        }
        text_.notes().warn(
            fmt::format("{} is null: its layers are not rotated", parameters.path(type)));
      } else if (!is_never_rotated(type)) {
        text_.notes().mind(fmt::format("{}[{}] must name a part of {}", text_.path("layer_types"),
                                       i, parameters.path()),
                           shown(type), "its layers are left out");
      }
    }
    for (const std::string& part : parts) {
      if (std::find(used.begin(), used.end(), part) == used.end()) {
        text_.notes().warn(
            fmt::format("{} is named by no layer: it is ignored", parameters.path(part)));
      }
    }
    std::stable_partition(used.begin(), used.end(),
                          [](const std::string& name) { return name == full_attention; });
    return used;
  }

  void read_flat(const JsonObject* parameters) {
    const bool per_type = rule_ == LayerRule::local_base || rule_ == LayerRule::local_unscaled ||
                          rule_ == LayerRule::global_local || rule_ == LayerRule::global_head;
    if (parameters != nullptr && config_.family() != nullptr && config_.family()->nested &&
        !per_type) {
      detail::fail(
          fmt::format("{} must be nested by layer type in this family", parameters->path()),
          shown(parameters->json()));
    }
    if (per_type && parameters != nullptr &&
        (rule_ == LayerRule::global_head || parameters->path() == text_.path("rope_parameters"))) {
      detail::fail(
          fmt::format("{} must be nested by layer type in this family", parameters->path()),
          shown(parameters->json()));
    }
    switch (rule_) {
      case LayerRule::cross_listed:
      case LayerRule::attention_listed:
      case LayerRule::blocks:
      case LayerRule::layer_bases:
        read_some(parameters, "",
                  own_layers(text_, rule_, model_.layer_count, config_.base_of(parameters)));
        break;
      case LayerRule::alike:
      case LayerRule::linear_between: read_rotated(parameters); break;
      case LayerRule::local_base:
      case LayerRule::local_unscaled:
      case LayerRule::global_local: read_local(parameters); break;
      case LayerRule::global_head: read_global_head(); break;
      case LayerRule::sliding_only:
        read_some(parameters, sliding_attention, layers_of_type(types_, sliding_attention));
        break;
      case LayerRule::listed:
        read_some(parameters, "", listed_layers(text_, model_.layer_count));
        break;
    }
  }

  void read_local(const JsonObject* parameters) {
    const bool both = rule_ == LayerRule::global_local;
    if (parameters != nullptr && parameters->has("type") && !parameters->has("rope_type")) {
      parameters->mind("type", "must be called rope_type in this family, which does not read it",
                       "it is ignored, as Hugging Face does");
      parameters = nullptr;
    }
    LayerKind full{parameters, full_attention, layers_of_type(types_, full_attention)};
    full.global_base = both;
    if (has_layers(full_attention)) add(full);
    if (!has_layers(sliding_attention)) return;
    LayerKind local{both ? parameters : nullptr, sliding_attention,
                    layers_of_type(types_, sliding_attention)};
    local.local_base = rule_ == LayerRule::local_base || both;
    local.fixed_base = rule_ == LayerRule::local_unscaled;
    add(local);
  }

  void read_global_head() {
    static const Json defaults{
        {full_attention,
         {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1e6}}},
        {sliding_attention, {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
    text_.notes().warn(fmt::format("{} is not in the file: Hugging Face's default of {} is taken",
                                   text_.path("rope_parameters"), config_.family()->model_type));
    read_nested(JsonObject(defaults, text_.path("rope_parameters"), text_.notes()));
  }

  // By the family's lists; a type that is in neither has no rule.
  bool rotates(const std::string& type, std::size_t layer) const {
    const Family* family = config_.family();
    if (is_never_rotated(type)) return false;
    if (family != nullptr && has_word(family->resting, type)) return false;
    if (family != nullptr && has_word(family->rotated, type)) return true;
    const bool usual =
        type == full_attention || type == sliding_attention || type == "chunked_attention";
    const bool listed = family != nullptr && !(family->rotated.empty() && family->resting.empty());
    if (!usual || listed) {
      text_.notes().mind(
          fmt::format("{}[{}] must be a layer type that is known of {}", text_.path("layer_types"),
                      layer, family == nullptr ? "any model" : family->model_type),
          shown(type), "its layers are taken as rotated");
    }
    return true;
  }

  void read_rotated(const JsonObject* parameters) {
    if (types_.empty()) return add({parameters, "", {}});
    std::vector<Index> layers;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (rotates(types_[i], i)) layers.push_back(static_cast<Index>(i));
    }
    read_some(parameters, "", std::move(layers));
  }

  void read_some(const JsonObject* parameters, const char* type, std::vector<Index> layers) {
    const auto rotated = static_cast<Index>(layers.size());
    const Index all = model_.layer_count;
    if (rotated < all)
      text_.notes().warn(
          fmt::format("{} of {} layers are rotated, the others not at all", rotated, all));
    if (rotated == 0 && all > 0) return;
    if (rotated == all && *type == '\0') layers.clear();
    add({parameters, type, std::move(layers)});
  }

  const ConfigReader& config_;
  const JsonObject& text_;
  ModelRope& model_;
  LayerRule rule_;
  std::vector<std::string> types_;
};

std::string read_text(const std::filesystem::path& path) {
  constexpr std::uintmax_t most = std::uintmax_t{64} << 20;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) detail::fail("there must be such a file");
  if (!std::filesystem::is_regular_file(status)) detail::fail("it must be a file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) detail::fail(fmt::format("it must be readable: {}", error.message()));
  if (size > most)
    detail::fail("a configuration must have at most 64 MiB", fmt::format("{} bytes", size));
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size)))
    detail::fail("it must be readable");
  return text;
}

}  // namespace

ModelRope parse_hugging_face(std::string_view json, Strictness strictness) {
  const Json file = parse_json(json);
  Notes notes(strictness);
  const JsonObject top(file, "", notes);
  const JsonObject text = text_part(top);
  const ConfigReader config(top, text);
  ModelRope model = config.model();
  mind_unread_keys(text, config.rule());
  LayerReader(config, model).read();
  model.warnings = notes.take();
  return model;
}

ModelRope read_hugging_face(const std::filesystem::path& path, Strictness strictness) {
  std::error_code error;
  const std::filesystem::path file =
      std::filesystem::is_directory(path, error) ? path / "config.json" : path;
  try {
    return parse_hugging_face(read_text(file), strictness);
  } catch (const Error& refusal) {
    detail::fail(fmt::format("{}: {}", file.string(), sentence(refusal.what())));
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
