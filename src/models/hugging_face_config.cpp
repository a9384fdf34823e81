// SPDX-License-Identifier: Apache-2.0
#include "hugging_face_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "hugging_face_scaling.hpp"
#include "rope/error.hpp"

namespace rope::models {
namespace {

// Far beyond any model; so that a file cannot ask for much memory.
constexpr Index max_head_dims = 65536;
constexpr Index max_count = 65536;

const std::initializer_list<const char*> base_names{"rope_theta", "rotary_emb_base"};
const std::initializer_list<const char*> fraction_names{"partial_rotary_factor", "rotary_pct", "rope_pct"};
const std::initializer_list<const char*> context_names{"max_position_embeddings", "n_positions"};

// A file of text alone may carry the name of the composite it belongs to.
const Family* family_of(const std::string& text_type, const std::string& top_type) {
  for (const std::string& name : {text_type, top_type}) {
    if (const Family* family = find_family(name)) return family;
    const SilentFamily* silent = find_silent_family(name);
    if (silent != nullptr && silent->kind == Silent::composite) return find_family(silent->text);
    if (silent != nullptr) return nullptr;
  }
  return nullptr;
}

void refuse_silent(const JsonObject& text, const SilentFamily& silent) {
  switch (silent.kind) {
    case Silent::not_rotated: text.refuse("model_type", "must be of a model that rotates queries and keys, and this one does not rotate");
    case Silent::tower: text.refuse("model_type", "must be of a model of text: this one is a tower for images or sound, which is not read");
    case Silent::composite:
      text.refuse("model_type", fmt::format("must be of a model whose text rotates: the text of this one, {}, does not", silent.text));
  }
}

// bert-like classes and these two take the rotation from position_embedding_type; others do not read it.
bool reads_position_type(const Family* family, std::string_view model_type) {
  return family == nullptr || model_type == "esm" || model_type == "granitemoehybrid";
}

// GPT-J and CodeGen have no key for the base.
bool has_fixed_base(const Family* family) { return family != nullptr && (family->model_type == "gptj" || family->model_type == "codegen"); }

// GPT-NeoX names its base and its share by itself and reads no other name outside.
bool is_neox(const Family* family) {
  return family != nullptr && (family->model_type == "gpt_neox" || family->model_type == "gpt_neox_japanese");
}

bool is(const Family* family, std::string_view model_type) { return family != nullptr && family->model_type == model_type; }

}  // namespace

ConfigReader::ConfigReader(const JsonObject& top, const JsonObject& text) : text_(text) {
  const std::string outer = top.text("model_type").value_or("");
  model_type_ = text.text("model_type").value_or(outer);
  family_ = family_of(model_type_, outer);
  if (family_ == nullptr) {
    for (const std::string& name : {model_type_, outer}) {
      if (const SilentFamily* silent = find_silent_family(name)) refuse_silent(name == model_type_ && text.has("model_type") ? text : top, *silent);
    }
    text.notes().mind(fmt::format("{} must be one that is known (read leniently, it is taken for a Llama of unknown pairing)",
                                  text.path("model_type")),
                      shown(model_type_), "it is read as a Llama of unknown pairing");
  } else if (!family_->doubt.empty()) {
    text.notes().mind(fmt::format("{} must be one whose rotation is fully described ({})", text.path("model_type"), family_->doubt),
                      shown(model_type_), "that is not described");
  }
  if (text.flag("alibi").value_or(false)) text.refuse("alibi", "must be false in a model that is rotated");
  const std::optional<std::string> positions = text.text("position_embedding_type");
  if (reads_position_type(family_, model_type_) && positions && *positions != "rope" && *positions != "rotary") text.refuse("position_embedding_type", "must be rope or rotary");
  const char* name = text.first_of(context_names);
  context_path_ = text.path(name == nullptr ? *context_names.begin() : name);
  if (name != nullptr) context_ = *text.integer(name, 1);
  if (context_ == 0 && family_ != nullptr) {
    context_ = family_->context;
    text.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken", context_path_, known_as("context"), context_));
  }
}

LayerRule ConfigReader::rule() const {
  const LayerRule rule = family_ == nullptr ? LayerRule::alike : family_->rule;
  return rule == LayerRule::alike && text_.has("rope_local_base_freq") ? LayerRule::local_base : rule;
}

std::string ConfigReader::known_as(const char* key) const {
  return fmt::format("Hugging Face's {} of {}", key, family_ == nullptr ? model_type_ : std::string(family_->model_type));
}

// 0 if neither the file nor the family says.
Index ConfigReader::count(std::initializer_list<const char*> names, Index family_value, Index most) const {
  const char* name = text_.first_of(names);
  if (name != nullptr) {
    const Index value = *text_.integer(name, 1);
    if (value > most) text_.refuse(name, fmt::format("must be at most {}", most));
    return value;
  }
  if (family_value > 0) {
    text_.notes().warn(
        fmt::format("{} is not in the file: {}, {}, is taken", text_.path(*names.begin()), known_as("default"), family_value));
  }
  return family_value;
}

ModelRope ConfigReader::model() const {
  ModelRope model;
  model.architecture = printable(model_type_);
  model.context = context_;
  model.layer_count = count({"num_hidden_layers", "n_layer", "num_layers"}, 0, max_count);
  model.heads = count({"num_attention_heads", "n_head"}, 0, max_count);
  model.key_heads = count({"num_key_value_heads", "num_kv_heads"}, 0, max_count);
  return model;
}

Index ConfigReader::head_dims(const LayerKind& kind) const {
  if (kind.global_head) {
    constexpr Index gemma4 = 512;
    return count({"global_head_dim"}, gemma4, max_head_dims);
  }
  if (text_.has("qk_rope_head_dim") && text_.integer("qk_rope_head_dim", 0) != 0) return count({"qk_rope_head_dim"}, 0, max_head_dims);
  const Index known = family_ == nullptr ? 0 : family_->head_dims;
  if (known > 0 && family_->latent) return count({"qk_rope_head_dim"}, known, max_head_dims);
  if (text_.has("head_dim") || known > 0) return count({"head_dim"}, known, max_head_dims);
  constexpr Index most = max_head_dims * max_count;
  const Index hidden = count({"hidden_size", "n_embd"}, family_ == nullptr ? 0 : family_->hidden, most);
  const Index heads = count({"num_attention_heads", "n_head"}, family_ == nullptr ? 0 : family_->heads, max_count);
  if (hidden == 0 || heads == 0) text_.require("head_dim", "where hidden_size or num_attention_heads is missing");
  if (hidden < heads) text_.refuse("hidden_size", fmt::format("must be at least num_attention_heads ({})", heads));
  if (hidden % heads != 0) {
    text_.notes().mind(fmt::format("{} must be a multiple of num_attention_heads ({})", text_.path("hidden_size"), heads),
                       fmt::format("{}", hidden), fmt::format("heads of {} are taken", hidden / heads));
  }
  if (hidden / heads > max_head_dims) text_.refuse("hidden_size", fmt::format("must make heads of at most {}", max_head_dims));
  return hidden / heads;
}

double ConfigReader::base(const LayerKind& kind) const {
  const bool named = rule() == LayerRule::global_local;
  const char* outside = named             ? text_.first_of({kind.local_base ? "local_rope_theta" : "global_rope_theta"})
                        : kind.local_base ? text_.first_of({"rope_local_base_freq"})
                        : is_neox(family_) ? text_.first_of({"rotary_emb_base"})
                                           : text_.first_of({"rope_theta"});
  const bool inside = kind.parameters != nullptr && kind.parameters->has("rope_theta");
  const auto checked = [](const JsonObject& owner, const char* name) {
    const double value = *owner.number(name);
    if (!(value > 0)) owner.refuse(name, "must be greater than 0");
    return value;
  };
  if (inside) {
    const double value = checked(*kind.parameters, "rope_theta");
    // Nested parameters stand beside the base of an older form.
    if (outside != nullptr && !kind.nested && checked(text_, outside) != value) {
      text_.mind(outside, fmt::format("must equal {} ({})", kind.parameters->path("rope_theta"), value), "the one inside is taken");
    }
    return value;
  }
  if (outside != nullptr) return checked(text_, outside);
  if (has_fixed_base(family_)) return family_->base;
  constexpr double usual = 10000;
  const double known = kind.local_base || family_ == nullptr || family_->base == 0 ? usual : family_->base;
  const std::string name = kind.local_base ? text_.path("rope_local_base_freq") : text_.path("rope_theta");
  if (family_ == nullptr) {
    text_.notes().mind(fmt::format("{} is required where the model_type is not known", name), shown(model_type_),
                       fmt::format("{} is taken, as Hugging Face does", known));
  } else {
    text_.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken", name, known_as("default"), known));
  }
  return known;
}

double ConfigReader::fraction(const LayerKind& kind, Index head_dims) const {
  const char* outside = text_.first_of(fraction_names);
  const bool inside = kind.parameters != nullptr && kind.parameters->has("partial_rotary_factor");
  const auto checked = [](const JsonObject& owner, const char* name) {
    const double value = *owner.number(name);
    if (!(value >= 0 && value <= 1)) owner.refuse(name, "must be from 0 to 1");
    return value;
  };
  if (inside) {
    const double value = checked(*kind.parameters, "partial_rotary_factor");
    if (outside != nullptr && !kind.nested && checked(text_, outside) != value) {
      text_.mind(outside, fmt::format("must equal {} ({})", kind.parameters->path("partial_rotary_factor"), value),
                 "the one inside is taken");
    }
    return value;
  }
  if (outside != nullptr) return checked(text_, outside);
  if (text_.has("rotary_dim")) {
    const Index dims = *text_.integer("rotary_dim", 1);
    if (dims > head_dims) text_.refuse("rotary_dim", fmt::format("must be at most the head's ({})", head_dims));
    return static_cast<double>(dims) / static_cast<double>(head_dims);
  }
  if (has_fixed_base(family_)) {
    if (text_.json().contains("rotary_dim")) text_.require("rotary_dim", fmt::format("with {}", family_->model_type));
    constexpr Index usual = 64;
    text_.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken", text_.path("rotary_dim"), known_as("default"), usual));
    return static_cast<double>(std::min(usual, head_dims)) / static_cast<double>(head_dims);
  }
  const double known = family_ == nullptr ? 1 : family_->partial;
  if (known != 1 && family_->rule != LayerRule::global_head) {
    text_.notes().warn(
        fmt::format("{} is not in the file: {}, {}, is taken", text_.path("partial_rotary_factor"), known_as("default"), known));
  }
  return known;
}

Index ConfigReader::rotary_dims(const LayerKind& kind, const std::string& type, Index head_dims, double fraction) const {
  Index dims = head_dims;
  const bool inside = kind.parameters != nullptr && kind.parameters->has("partial_rotary_factor");
  const char* outside = text_.first_of(fraction_names);
  std::string name = text_.path("head_dim");
  if (type == "proportional") {
    if (head_dims % 2 != 0) detail::fail(fmt::format("{} must be even", name), static_cast<std::int64_t>(head_dims));
    return dims;
  }
  // Truncated, as int(head_dim * partial_rotary_factor).
  if (fraction != 1) dims = static_cast<Index>(static_cast<double>(head_dims) * fraction);
  if (text_.has("rotary_dim")) {
    const Index given = *text_.integer("rotary_dim", 1);
    if (!inside && outside == nullptr) {
      dims = given;
      name = text_.path("rotary_dim");
    } else if (given != dims) {
      text_.mind("rotary_dim", fmt::format("must agree with the rotated share ({} dims)", dims), "the share is taken");
    }
  }
  if (inside) name = kind.parameters->path("partial_rotary_factor");
  if (outside != nullptr && !inside) name = text_.path(outside);
  if (dims == 0 || dims % 2 != 0) {
    detail::fail(fmt::format("{} must leave an even number of dims, not 0, of the head's {}", name, head_dims),
                 static_cast<std::int64_t>(dims));
  }
  return dims;
}

std::optional<Pairing> ConfigReader::pairing(Index head_dims, Index rotary_dims) const {
  std::optional<PairKind> pairs;
  if (family_ != nullptr) pairs = family_->pairs;
  if (const std::optional<bool> interleave = text_.flag("rope_interleave")) {
    pairs = *interleave ? PairKind::interleaved_to_half : PairKind::half;
  }
  if (!pairs) return {};
  const Pairing whole(*pairs);
  return rotary_dims == head_dims ? whole : whole.with_rotary_dims(rotary_dims);
}

std::optional<Sections> ConfigReader::sections(const JsonObject& parameters, Index pairs) const {
  const bool always = family_ != nullptr && family_->mrope == MropeOrder::interleaved;
  const std::optional<bool> said = parameters.flag("mrope_interleaved");
  const Json* given = parameters.list("mrope_section");
  if (given == nullptr) {
    if (said.value_or(false)) parameters.require("mrope_section", "with mrope_interleaved");
    return {};
  }
  std::vector<Index> lengths;
  for (const Json& entry : *given) {
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() > static_cast<std::uint64_t>(max_head_dims)) {
      detail::fail(
          fmt::format("{}[{}] must be a whole number from 0 to {}", parameters.path("mrope_section"), lengths.size(), max_head_dims),
          shown(entry));
    }
    lengths.push_back(static_cast<Index>(entry.get<std::uint64_t>()));
  }
  constexpr std::size_t axes = 3;
  if (lengths.size() != axes) parameters.refuse("mrope_section", "must have 3 lengths");
  const bool interleaved = said.value_or(always) || always;
  const Index total = std::accumulate(lengths.begin(), lengths.end(), Index{0});
  const std::string rule = fmt::format("must add up to the number of pairs ({})", pairs);
  if (total != pairs) {
    if (!interleaved || total == 0) parameters.refuse("mrope_section", rule);
    parameters.mind("mrope_section", rule, "the first axis turns the rest");
  }
  if (always && said && !*said) {
    parameters.notes().warn(fmt::format("{} is not read by {}, got false: its sections are always interleaved",
                                        parameters.path("mrope_interleaved"), family_->model_type));
  }
  return Sections(interleaved ? SectionPattern::interleaved_hf : SectionPattern::contiguous, std::move(lengths));
}

LayerRope ConfigReader::layer(const LayerKind& kind) const {
  RopeSurroundings around;
  around.context = context_;
  around.context_path = context_path_;
  around.original_context = text_.integer("original_max_position_embeddings", 1);
  around.yarn_is_longrope = is(family_, "phi3");
  around.nested = kind.nested;
  around.softmax_multiplier = family_ != nullptr && family_->softmax == SoftmaxRule::mscale_all_dim;
  const std::string type = rope_type(kind.parameters, around);

  LayerRope layer;
  layer.layer_type = printable(kind.layer_type);
  layer.layers = kind.layers;
  layer.head_dims = head_dims(kind);
  layer.powers.base = base(kind);
  const double share = fraction(kind, layer.head_dims);
  layer.powers.rotary_dims = rotary_dims(kind, type, layer.head_dims, share);
  layer.pairing = pairing(layer.head_dims, layer.powers.rotary_dims);
  if (kind.parameters == nullptr) return layer;

  require_known_keys(*kind.parameters, type);
  layer.sections = sections(*kind.parameters, layer.powers.rotary_dims / 2);
  if (type == "proportional" && !kind.parameters->has("partial_rotary_factor") && !text_.has("partial_rotary_factor")) {
    text_.notes().warn(fmt::format("{} is not in the file: all pairs turn", kind.parameters->path("partial_rotary_factor")));
  }
  read_scaling(*kind.parameters, type, share, around, layer);
  return layer;
}

}  // namespace rope::models
