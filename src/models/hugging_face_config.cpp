// SPDX-License-Identifier: Apache-2.0
#include "models/hugging_face_config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "eigen_rope/numbers/error.hpp"
#include "models/hugging_face_scaling.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

// Far beyond any model; so that a file cannot ask for much memory.
constexpr Index max_head_dims = 65536;
constexpr Index max_count = 65536;

const std::initializer_list<const char*> base_names{"rope_theta", "rotary_emb_base"};
const std::initializer_list<const char*> fraction_names{"partial_rotary_factor", "rotary_pct",
                                                        "rope_pct"};
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
    case Silent::not_rotated:
      text.refuse("model_type",
                  "must be of a model that rotates queries and keys, and this one does not rotate");
    case Silent::tower:
      text.refuse(
          "model_type",
          "must be of a model of text: this one is a tower for images or sound, which is not read");
    case Silent::composite:
      text.refuse(
          "model_type",
          fmt::format("must be of a model whose text rotates: the text of this one, {}, does not",
                      silent.text));
  }
}

// GPT-J, CodeGen and RoFormer have no key for the base.
bool has_fixed_base(const Family* family) {
  return family != nullptr && family->forms == Forms::fixed;
}

bool is_gptj(const Family* family) {
  return family != nullptr && (family->model_type == "gptj" || family->model_type == "codegen");
}

// GPT-NeoX names its base and its share by itself and reads no other name outside.
bool is_neox(const Family* family) {
  return family != nullptr &&
         (family->model_type == "gpt_neox" || family->model_type == "gpt_neox_japanese");
}

bool reads_rotary_dim(const Family* family) {
  return family == nullptr || is_gptj(family) || family->model_type == "minimax_m2";
}

bool is(const Family* family, std::string_view model_type) {
  return family != nullptr && family->model_type == model_type;
}

}  // namespace

ConfigReader::ConfigReader(const JsonObject& top, const JsonObject& text) : text_(text) {
  const std::string outer = top.text("model_type").value_or("");
  model_type_ = text.text("model_type").value_or(outer);
  family_ = family_of(model_type_, outer);
  if (family_ == nullptr) {
    for (const std::string& name : {model_type_, outer}) {
      if (const SilentFamily* silent = find_silent_family(name))
        refuse_silent(name == model_type_ && text.has("model_type") ? text : top, *silent);
    }
    text.notes().mind(fmt::format("{} must be one that is known", text.path("model_type")),
                      shown(model_type_), "it is taken for a Llama of unknown pairing");
  } else if (!family_->doubt.empty()) {
    text.notes().mind(fmt::format("{} must be one whose rotation is fully described ({})",
                                  text.path("model_type"), family_->doubt),
                      shown(model_type_), "that is not described");
  }
  if (text.flag("alibi").value_or(false))
    text.refuse("alibi", "must be false in a model that is rotated");
  const std::optional<std::string> positions = text.text("position_embedding_type");
  const std::string_view known = family_ == nullptr ? std::string_view() : family_->model_type;
  if (known == "esm" && positions.value_or("absolute") != "rotary") {
    text.refuse("position_embedding_type", "must be rotary in a model that rotates");
  }
  if (known == "zamba2" && !text.flag("use_mem_rope").value_or(false)) {
    text.refuse("use_mem_rope", "must be true in a model that rotates");
  }
  if (known == "granitemoehybrid" && positions.value_or("none") != "rope") {
    text.refuse("position_embedding_type", "must be rope in a model that rotates");
  }
  if (family_ == nullptr && positions && *positions != "rope" && *positions != "rotary") {
    text.refuse("position_embedding_type", "must be rope or rotary");
  }
  const char* name = text.first_of(context_names);
  context_path_ = text.path(name == nullptr ? *context_names.begin() : name);
  if (name != nullptr) context_ = *text.integer(name, 1);
  if (context_ == 0 && family_ != nullptr) {
    context_ = family_->context;
    text.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken", context_path_,
                                  known_as("context"), context_));
  }
}

LayerRule ConfigReader::rule() const {
  const LayerRule rule = family_ == nullptr ? LayerRule::alike : family_->rule;
  return rule == LayerRule::alike && text_.has("rope_local_base_freq") ? LayerRule::local_base
                                                                       : rule;
}

std::string ConfigReader::known_as(const char* key) const {
  return fmt::format("Hugging Face's {} of {}", key,
                     family_ == nullptr ? model_type_ : std::string(family_->model_type));
}

// 0 if neither the file nor the family says.
Index ConfigReader::count(std::initializer_list<const char*> names, Index family_value,
                          Index most) const {
  const char* name = text_.first_of(names);
  if (name != nullptr) {
    const Index value = *text_.integer(name, 1);
    if (value > most) text_.refuse(name, fmt::format("must be at most {}", most));
    return value;
  }
  if (family_value > 0) {
    text_.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken",
                                   text_.path(*names.begin()), known_as("default"), family_value));
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
  const Index dims = read_head_dims(kind);
  // Hunyuan's files have both names; a class that does not know this one builds heads of its own
  // width.
  if (text_.has("attention_head_dim") && *text_.integer("attention_head_dim", 1) != dims) {
    text_.mind("attention_head_dim", fmt::format("must equal the head's width ({})", dims),
               "it is ignored");
  }
  return dims;
}

Index ConfigReader::read_head_dims(const LayerKind& kind) const {
  if (const std::optional<Index> own = per_layer_head_dim(kind)) return *own;
  if (kind.global_head) {
    constexpr Index gemma4 = 512;
    return count({"global_head_dim"}, gemma4, max_head_dims);
  }
  const Index known = family_ == nullptr ? 0 : family_->head_dims;
  const bool other_name = is(family_, "hunyuan_vl_text") || is(family_, "zamba2");
  if (other_name && !text_.has("head_dim") && text_.has("attention_head_dim"))
    return count({"attention_head_dim"}, 0, max_head_dims);
  if (is(family_, "zamba2")) text_.require("attention_head_dim", "with zamba2");
  if (is(family_, "longcat_flash") && !text_.has("head_dim") &&
      text_.integer("qk_rope_head_dim", 0).value_or(known) != known) {
    text_.mind("qk_rope_head_dim",
               fmt::format("must be {} where head_dim, which this family's class reads, is missing",
                           known),
               "it is taken");
  }
  if (text_.has("qk_rope_head_dim") && text_.integer("qk_rope_head_dim", 0) != 0)
    return count({"qk_rope_head_dim"}, 0, max_head_dims);
  if (known > 0 && family_->latent) return count({"qk_rope_head_dim"}, known, max_head_dims);
  if (is(family_, "jetmoe")) return count({"kv_channels"}, known, max_head_dims);
  if (text_.has("head_dim") || known > 0) return count({"head_dim"}, known, max_head_dims);
  constexpr Index most = max_head_dims * max_count;
  const Index hidden =
      count({"hidden_size", "n_embd"}, family_ == nullptr ? 0 : family_->hidden, most);
  const Index heads =
      count({"num_attention_heads", "n_head"}, family_ == nullptr ? 0 : family_->heads, max_count);
  if (hidden == 0 || heads == 0)
    text_.require("head_dim", "where hidden_size or num_attention_heads is missing");
  if (hidden < heads)
    text_.refuse("hidden_size", fmt::format("must be at least num_attention_heads ({})", heads));
  if (hidden % heads != 0 && family_ != nullptr) {
    text_.notes().warn(
        fmt::format("{} is no multiple of num_attention_heads ({}), got {}: heads of {} are taken, "
                    "as Hugging Face does",
                    text_.path("hidden_size"), heads, hidden, hidden / heads));
  } else if (hidden % heads != 0) {
    text_.notes().mind(fmt::format("{} must be a multiple of num_attention_heads ({})",
                                   text_.path("hidden_size"), heads),
                       fmt::format("{}", hidden),
                       fmt::format("heads of {} are taken", hidden / heads));
  }
  if (hidden / heads > max_head_dims)
    text_.refuse("hidden_size", fmt::format("must make heads of at most {}", max_head_dims));
  return hidden / heads;
}

// What per_layer_config changes in a layer. Its keys are numbers of layers, which may begin with
// zeros.
std::optional<JsonObject> ConfigReader::layer_part(Index layer) const {
  const std::optional<JsonObject> parts = text_.object("per_layer_config");
  if (!parts) return {};
  for (const auto& [name, entry] : parts->json().items()) {
    const bool number =
        !name.empty() && name.size() <= 6 &&
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (number && std::stol(name) == layer) return parts->object(name.c_str());
  }
  return {};
}

// The width of this kind's heads where per_layer_config changes it.
std::optional<Index> ConfigReader::per_layer_head_dim(const LayerKind& kind) const {
  const std::optional<JsonObject> parts = text_.object("per_layer_config");
  if (!parts) return {};
  const auto width = [&](Index layer) -> std::optional<Index> {
    const std::optional<JsonObject> part = layer_part(layer);
    return part ? part->integer(part->has("qk_rope_head_dim") ? "qk_rope_head_dim" : "head_dim", 1)
                : std::nullopt;
  };
  if (kind.layers.empty()) {
    text_.mind("per_layer_config", "must stand beside layer_types", "it is ignored");
    return {};
  }
  const std::optional<Index> found = width(kind.layers.front());
  for (const Index layer : kind.layers) {
    if (width(layer) == found) continue;
    text_.notes().mind(
        fmt::format("{} must give all layers of {} heads of one width", parts->path(),
                    kind.layer_type.empty() ? "the model" : kind.layer_type),
        fmt::format("layer {}", layer), "the first layer's is taken");
    break;
  }
  if (found && *found > max_head_dims)
    detail::fail(fmt::format("{} must give heads of at most {}", parts->path(), max_head_dims),
                 *found);
  return found;
}

double ConfigReader::base(const LayerKind& kind) const {
  const bool named = rule() == LayerRule::global_local;
  const char* outside =
      named ? text_.first_of({kind.local_base ? "local_rope_theta" : "global_rope_theta"})
      : kind.local_base    ? text_.first_of({"rope_local_base_freq"})
      : is_neox(family_)   ? text_.first_of({"rotary_emb_base"})
      : family_ != nullptr ? text_.first_of({"rope_theta"})
                           : text_.first_of(base_names);
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
      text_.mind(outside,
                 fmt::format("must equal {} ({})", kind.parameters->path("rope_theta"), value),
                 "the one inside is taken");
    }
    return value;
  }
  if (outside != nullptr && kind.fixed_base && family_ != nullptr &&
      checked(text_, outside) != family_->base) {
    text_.mind(outside,
               fmt::format("must be {} or stand in rope_parameters, because the sliding layers of "
                           "{} do not read it",
                           family_->base, family_->model_type),
               fmt::format("{} is taken for sliding layers, as Hugging Face does", family_->base));
    return family_->base;
  }
  if (outside != nullptr) return checked(text_, outside);
  if (has_fixed_base(family_)) return family_->base;
  constexpr double usual = 10000;
  const double known =
      kind.local_base || family_ == nullptr || family_->base == 0 ? usual : family_->base;
  const std::string name =
      text_.path(named             ? (kind.local_base ? "local_rope_theta" : "global_rope_theta")
                 : kind.local_base ? "rope_local_base_freq"
                                   : "rope_theta");
  if (family_ == nullptr) {
    text_.notes().mind(fmt::format("{} is required where the model_type is not known", name),
                       shown(model_type_), fmt::format("{} is taken, as Hugging Face does", known));
  } else {
    text_.notes().warn(
        fmt::format("{} is not in the file: {}, {}, is taken", name, known_as("default"), known));
  }
  return known;
}

// The name outside that the family's class reads. Others are refused: they change nothing there.
const char* ConfigReader::fraction_name() const {
  const char* read =
      is_neox(family_) ? text_.first_of({"rotary_pct"}) : text_.first_of({"partial_rotary_factor"});
  if (family_ == nullptr) return text_.first_of(fraction_names);
  for (const char* name : {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_base"}) {
    const bool neox = is_neox(family_) && (std::string_view(name) == "rotary_pct" ||
                                           std::string_view(name) == "rotary_emb_base");
    if (text_.has(name) && !neox && (read == nullptr || std::string_view(name) != read))
      mind_unread(name);
  }
  if (is_neox(family_) && text_.has("rope_theta")) mind_unread("rope_theta");
  return read;
}

void ConfigReader::mind_unread(const char* name) const {
  text_.mind(name, fmt::format("is no key that Hugging Face's {} reads", family_->model_type),
             "it is ignored, as Hugging Face does");
}

double ConfigReader::fraction(const LayerKind& kind, const std::string& type,
                              Index head_dims) const {
  const char* outside = fraction_name();
  const bool inside = kind.parameters != nullptr && kind.parameters->has("partial_rotary_factor");
  const auto checked = [](const JsonObject& owner, const char* name) {
    const double value = *owner.number(name);
    if (!(value >= 0 && value <= 1)) owner.refuse(name, "must be from 0 to 1");
    return value;
  };
  if (inside || outside != nullptr) {
    const JsonObject& owner = inside ? *kind.parameters : text_;
    const char* name = inside ? "partial_rotary_factor" : outside;
    const double value = checked(owner, name);
    if (inside && outside != nullptr && !kind.nested && checked(text_, outside) != value) {
      text_.mind(
          outside,
          fmt::format("must equal {} ({})", kind.parameters->path("partial_rotary_factor"), value),
          "the one inside is taken");
    }
    return followed(kind, owner, name, value, type, head_dims);
  }
  if (family_ != nullptr && family_->latent && text_.has("head_dim") &&
      text_.has("qk_rope_head_dim") && *text_.integer("head_dim", 1) != head_dims) {
    text_.mind(
        "head_dim",
        fmt::format("must equal qk_rope_head_dim ({}) where partial_rotary_factor is missing",
                    head_dims),
        "qk_rope_head_dim is taken");
  }
  if (text_.has("rotary_dim")) {
    if (family_ != nullptr && !reads_rotary_dim(family_)) {
      const auto own = static_cast<Index>(static_cast<double>(head_dims) * family_->partial);
      if (text_.integer("rotary_dim", 1) != own) mind_unread("rotary_dim");
      return family_->partial;
    }
    const Index dims = *text_.integer("rotary_dim", 1);
    if (dims > head_dims)
      text_.refuse("rotary_dim", fmt::format("must be at most the head's ({})", head_dims));
    return static_cast<double>(dims) / static_cast<double>(head_dims);
  }
  if (is_gptj(family_)) {
    if (text_.json().contains("rotary_dim"))
      text_.require("rotary_dim", fmt::format("with {}", family_->model_type));
    constexpr Index usual = 64;
    text_.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken",
                                   text_.path("rotary_dim"), known_as("default"), usual));
    return static_cast<double>(std::min(usual, head_dims)) / static_cast<double>(head_dims);
  }
  const double known = family_ == nullptr || family_->latent ? 1 : family_->partial;
  if (known == 0 && type != "proportional") {
    const std::string name = kind.parameters == nullptr
                                 ? text_.path("partial_rotary_factor")
                                 : kind.parameters->path("partial_rotary_factor");
    text_.notes().mind(
        fmt::format("{} is required with {}, whose layer types have shares of their own", name,
                    family_->model_type),
        "none", "whole heads are rotated");
    return 1;
  }
  if (known != 1 && type != "proportional") {
    text_.notes().warn(fmt::format("{} is not in the file: {}, {}, is taken",
                                   text_.path("partial_rotary_factor"), known_as("default"),
                                   known));
  }
  return type == "proportional" ? 1 : known;
}

// What the family's class makes of a share that the file states.
double ConfigReader::followed(const LayerKind& kind, const JsonObject& owner, const char* name,
                              double value, const std::string& type, Index head_dims) const {
  if (text_.has("qk_rope_head_dim") && text_.integer("qk_rope_head_dim", 0) != 0 && value != 1) {
    // The share is one of the whole head, of which head_dims are split off.
    const std::optional<JsonObject> part =
        kind.layers.empty() ? std::nullopt : layer_part(kind.layers.front());
    const Index nope = text_.integer("qk_nope_head_dim", 0).value_or(0);
    const Index common = text_.integer("head_dim", 1)
                             .value_or(text_.integer("qk_head_dim", 1).value_or(nope + head_dims));
    const Index whole = part ? part->integer("head_dim", 1).value_or(common) : common;
    const auto shared = static_cast<Index>(static_cast<double>(whole) * value);
    if (shared != head_dims) {
      owner.mind(
          name,
          fmt::format("must leave qk_rope_head_dim ({}) of the head's {} dims", head_dims, whole),
          "it is ignored");
    }
    return 1;
  }
  if (value == 1 || type == "proportional" || family_ == nullptr ||
      family_->share == Share::honoured)
    return value;
  if (type == "default") {
    owner.mind(name,
               fmt::format("must be 1 with {}, whose class rotates whole heads whatever it says",
                           family_->model_type),
               "it is ignored, as Hugging Face does");
    return 1;
  }
  owner.mind(
      name,
      fmt::format("must be 1 with {}, whose attention rotates whole heads", family_->model_type),
      "the rates are those of the share");
  return value;
}

Index ConfigReader::rotary_dims(const LayerKind& kind, const std::string& type, Index head_dims,
                                double fraction) const {
  Index dims = head_dims;
  const bool inside = kind.parameters != nullptr && kind.parameters->has("partial_rotary_factor");
  const char* outside = family_ == nullptr || is_neox(family_)
                            ? text_.first_of(fraction_names)
                            : text_.first_of({"partial_rotary_factor"});
  std::string name = text_.path("head_dim");
  if (type == "proportional") {
    if (head_dims % 2 != 0)
      detail::fail(fmt::format("{} must be even", name), static_cast<std::int64_t>(head_dims));
    return dims;
  }
  // Truncated, as int(head_dim * partial_rotary_factor).
  if (fraction != 1) dims = static_cast<Index>(static_cast<double>(head_dims) * fraction);
  if (text_.has("rotary_dim") && reads_rotary_dim(family_)) {
    const Index given = *text_.integer("rotary_dim", 1);
    if (!inside && outside == nullptr) {
      dims = given;
      name = text_.path("rotary_dim");
    } else if (given != dims) {
      text_.mind("rotary_dim", fmt::format("must agree with the rotated share ({} dims)", dims),
                 "the share is taken");
    }
  }
  if (inside) name = kind.parameters->path("partial_rotary_factor");
  if (outside != nullptr && !inside) name = text_.path(outside);
  if (dims == 0 || dims % 2 != 0) {
    detail::fail(fmt::format("{} must leave an even number of dims, not 0, of the head's {}", name,
                             head_dims),
                 static_cast<std::int64_t>(dims));
  }
  return dims;
}

std::optional<Pairing> ConfigReader::pairing(Index head_dims, Index rotary_dims) const {
  std::optional<PairKind> pairs;
  if (family_ != nullptr) pairs = family_->pairs;
  if (const std::optional<bool> interleave = text_.flag("rope_interleave")) {
    pairs = *interleave ? PairKind::interleaved_to_split_half : PairKind::split_half;
  }
  if (!pairs) return {};
  const Pairing whole(*pairs);
  return rotary_dims == head_dims ? whole : whole.with_rotary_dims(rotary_dims);
}

// Of a file without mrope_section: the class's, where they suit the head.
std::optional<Sections> ConfigReader::default_sections(const std::string& path, Index pairs) const {
  const Family& family = *family_;
  const Index total = family.sections[0] + family.sections[1] + family.sections[2];
  if (total == 0) return {};
  const std::string values =
      fmt::format("[{}, {}, {}]", family.sections[0], family.sections[1], family.sections[2]);
  const bool interleaved = family.mrope == MropeOrder::interleaved;
  if (!interleaved && total != pairs) {
    text_.notes().warn(
        fmt::format("{} is not in the file, and {}, {}, does not add up to the number of pairs "
                    "({}): no sections are taken",
                    path, known_as("default"), values, pairs));
    return {};
  }
  text_.notes().warn(
      fmt::format("{} is not in the file: {}, {}, is taken", path, known_as("default"), values));
  return Sections(interleaved ? SectionPattern::interleaved_hf : SectionPattern::contiguous,
                  {family.sections[0], family.sections[1], family.sections[2]});
}

// HunyuanOCR's files use an older name.
const char* ConfigReader::section_name(const JsonObject& parameters) const {
  const bool older = parameters.has("xdrope_section");
  if (older && parameters.has("mrope_section") &&
      *parameters.find("mrope_section") != *parameters.find("xdrope_section")) {
    parameters.refuse("xdrope_section",
                      fmt::format("must equal {}", parameters.path("mrope_section")));
  }
  return older ? "xdrope_section" : "mrope_section";
}

std::optional<Sections> ConfigReader::sections(const JsonObject& parameters, Index pairs) const {
  const bool always = family_ != nullptr && family_->mrope == MropeOrder::interleaved;
  const std::optional<bool> said = parameters.flag("mrope_interleaved");
  const bool split = family_ != nullptr && family_->mrope == MropeOrder::split;
  const char* name = split ? section_name(parameters) : "mrope_section";
  const Json* given = parameters.list(name);
  if (given == nullptr) {
    if (said.value_or(false)) parameters.require("mrope_section", "with mrope_interleaved");
    return family_ == nullptr ? std::optional<Sections>{}
                              : default_sections(parameters.path("mrope_section"), pairs);
  }
  if (family_ != nullptr && family_->mrope == MropeOrder::none) {
    parameters.mind("mrope_section",
                    fmt::format("is no key that Hugging Face's {} reads", family_->model_type),
                    "it is ignored");
    return {};
  }
  std::vector<Index> lengths;
  for (const Json& entry : *given) {
    if (!entry.is_number_unsigned() ||
        entry.get<std::uint64_t>() > static_cast<std::uint64_t>(max_head_dims)) {
      detail::fail(fmt::format("{}[{}] must be a whole number from 0 to {}", parameters.path(name),
                               lengths.size(), max_head_dims),
                   shown(entry));
    }
    lengths.push_back(static_cast<Index>(entry.get<std::uint64_t>()));
  }
  constexpr std::size_t axes = 3;
  if (split ? lengths.size() != axes && lengths.size() != axes + 1 : lengths.size() != axes) {
    parameters.refuse(name, split ? "must have 3 or 4 lengths" : "must have 3 lengths");
  }
  const bool interleaved = said.value_or(always) || always;
  const Index total = std::accumulate(lengths.begin(), lengths.end(), Index{0});
  const std::string rule = fmt::format("must add up to the number of pairs ({})", pairs);
  if (total != pairs) {
    if (!interleaved || total == 0) parameters.refuse(name, rule);
    parameters.mind(name, rule, "the first axis turns the rest");
  }
  if (split) {
    parameters.notes().warn(
        fmt::format("{} gives the two elements of a pair different positions where a token's "
                    "differ: no sections are taken, which is right for text",
                    parameters.path(name)));
    return {};
  }
  if (always && said && !*said) {
    parameters.notes().warn(
        fmt::format("{} is not read by {}, got false: its sections are always interleaved",
                    parameters.path("mrope_interleaved"), family_->model_type));
  }
  return Sections(interleaved ? SectionPattern::interleaved_hf : SectionPattern::contiguous,
                  std::move(lengths));
}

LayerRope ConfigReader::layer(const LayerKind& kind) const {
  RopeSurroundings around;
  around.context = context_;
  around.context_path = context_path_;
  around.original_context = text_.integer("original_max_position_embeddings", 1);
  around.yarn_is_longrope = is(family_, "phi3");
  around.nested = kind.nested;
  around.alpha_scales_base = family_ != nullptr && family_->alpha == AlphaRule::scales_base;
  around.xdrope_is_dynamic = family_ != nullptr && family_->mrope == MropeOrder::split;
  around.softmax_multiplier = family_ != nullptr && family_->softmax == SoftmaxRule::mscale_all_dim;
  if (family_ == nullptr && text_.has("qk_rope_head_dim") && kind.parameters != nullptr &&
      kind.parameters->has("mscale_all_dim")) {
    around.softmax_multiplier = true;
    text_.notes().warn(fmt::format(
        "{} is taken for latent attention of DeepSeek's design: {} multiplies the logits",
        text_.path("model_type"), kind.parameters->path("mscale_all_dim")));
  }
  const std::string type = rope_type(kind.parameters, around);

  LayerRope layer;
  layer.layer_type = printable(kind.layer_type);
  layer.layers = kind.layers;
  layer.head_dims = head_dims(kind);
  layer.powers.base = base(kind);
  const double share = fraction(kind, type, layer.head_dims);
  layer.powers.rotary_dims = rotary_dims(kind, type, layer.head_dims, share);
  layer.pairing = pairing(layer.head_dims, layer.powers.rotary_dims);
  if (kind.parameters == nullptr) {
    if (family_ != nullptr)
      layer.sections = default_sections(text_.path("rope_parameters.mrope_section"),
                                        layer.powers.rotary_dims / 2);
    return layer;
  }

  require_known_keys(*kind.parameters, type);
  layer.sections = sections(*kind.parameters, layer.powers.rotary_dims / 2);
  if (type == "proportional" && !kind.parameters->has("partial_rotary_factor") &&
      !text_.has("partial_rotary_factor")) {
    text_.notes().warn(fmt::format("{} is not in the file: all pairs turn",
                                   kind.parameters->path("partial_rotary_factor")));
  }
  read_scaling(*kind.parameters, type, share, around, layer);
  return layer;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
