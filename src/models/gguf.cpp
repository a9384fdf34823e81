// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/models/gguf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "models/gguf_architectures.hpp"
#include "models/gguf_keys.hpp"
#include "models/gguf_layers.hpp"
#include "models/gguf_parts.hpp"
#include "models/gguf_scaling.hpp"
#include "models/gguf_unread.hpp"
#include "models/notes.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

constexpr Index kMostHeadDims = 65536;
constexpr Index kMostLayers = 65536;
constexpr double kDefaultBase = 10000.0;

/// Whether two layers rotate rows of the same width by the same numbers.
bool rotate_alike(const LayerRope& a, const LayerRope& b) {
  return a.head_dims == b.head_dims && a.powers.rotary_dims == b.powers.rotary_dims &&
         a.powers.base == b.powers.base && a.powers.linear_scale == b.powers.linear_scale &&
         a.powers.attention_factor == b.powers.attention_factor &&
         a.powers.factors == b.powers.factors && a.scaling.index() == b.scaling.index() &&
         a.softmax_multiplier == b.softmax_multiplier;
}

class ModelReader {
 public:
  ModelReader(const std::filesystem::path& path, Strictness strictness)
      : path_(path), keys_(path, strictness) {}

  ModelRope read();

 private:
  void read_architecture();
  void refuse_unknown_architecture();
  void read_counts();
  std::vector<Index> head_counts(std::string_view name);
  Index head_dims();
  Index rotary_dims(std::string_view name, Index in_rows_of, Index otherwise);
  double full_base(const LayerRope& layer);
  LayerRope full_layer();
  LayerRope sliding_layer(const LayerRope& full);
  GgufRotation sliding_rotation(const LayerRope& full);
  void share_rows(LayerRope& full, LayerRope& sliding, bool first_slides) const;
  void add_sections(LayerRope& layer);
  std::optional<SectionPattern> section_pattern(const std::vector<Index>& lengths) const;
  void add_layers(LayerRope full, const std::vector<GgufLayer>& layers);
  void warn_of_unused_sliding_keys(const LayerRope& full);
  void require_rotation(const std::vector<GgufLayer>& layers);
  void require_computable() const;
  Pairing window(Pairing pairing, Index head, Index rotary) const;

  std::filesystem::path path_;
  GgufKeys keys_;
  ModelRope model_;
  GgufArchitecture architecture_;
  GgufRotation rotation_;
  // One for all layers, or one each.
  std::vector<Index> heads_;
  std::vector<Index> key_heads_;
};

ModelRope ModelReader::read() {
  add_gguf_parts(keys_, path_);
  read_architecture();
  read_counts();
  const std::vector<GgufLayer> layers =
      gguf_layers(keys_, architecture_, model_.layer_count, key_heads_);
  require_rotation(layers);
  LayerRope full = full_layer();
  add_sections(full);
  add_layers(std::move(full), layers);
  require_computable();
  mend_unread_gguf_keys(keys_, architecture_);
  model_.warnings = std::move(keys_.warnings);
  return std::move(model_);
}

void ModelReader::refuse_unknown_architecture() {
  keys_.mend(fmt::format("metadata key \"general.architecture\" must be an architecture whose "
                         "rotation is known, got \"{}\"",
                         keys_.architecture),
             "the pairing is empty, and all layers are taken to be alike");
}

void ModelReader::read_architecture() {
  const std::optional<std::string> name = keys_.file.text("general.architecture");
  if (!name || name->empty())
    keys_.file.refuse("metadata key \"general.architecture\" must be there");
  keys_.architecture = *name;
  model_.architecture = printable(*name);
  const GgufArchitecture* found = find_architecture(*name);
  // What is not known is read as llama.cpp reads every architecture, and its tensors are taken.
  architecture_.name = keys_.architecture;
  architecture_.rope = GgufRope::unrecorded;
  architecture_.divisors = DivisorTensors::one_or_two;
  if (found != nullptr && found->rope != GgufRope::unrecorded) architecture_ = *found;
  switch (architecture_.rope) {
    case GgufRope::unrecorded: refuse_unknown_architecture(); break;
    case GgufRope::vision_tower:
      keys_.file.refuse(
          fmt::format("is the vision tower of a model (architecture \"{}\", an mmproj file), and "
                      "rotates positions of an image: give the language "
                      "model's file",
                      *name));
    case GgufRope::none:
      keys_.file.refuse(
          fmt::format("metadata key \"general.architecture\" is \"{}\": this model does not rotate "
                      "queries and keys",
                      *name));
    case GgufRope::normal:
    case GgufRope::neox:
    case GgufRope::mrope:
    case GgufRope::imrope:
    case GgufRope::normal_or_mrope:
    case GgufRope::neox_or_mrope:
    case GgufRope::neox_or_mrope_by_any: break;
  }
}

std::vector<Index> ModelReader::head_counts(std::string_view name) {
  const std::string full_key = keys_.key(name);
  const GgufValue* value = keys_.file.find(full_key);
  if (value == nullptr) return {};
  if (value->type != GgufType::array) return {*keys_.file.integer(full_key)};
  std::vector<Index> counts = *keys_.file.integers(full_key);
  const auto count = static_cast<Index>(counts.size());
  if (count == 0 || (model_.layer_count > 0 && count != model_.layer_count)) {
    keys_.file.refuse_key(full_key,
                          fmt::format("have one element per layer, {}", model_.layer_count),
                          fmt::format("{}", count));
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (*least != *most) {
    keys_.warn(
        fmt::format("metadata key \"{}\" differs by layer, from {} to {}: the largest is reported",
                    full_key, *least, *most));
  }
  return counts;
}

void ModelReader::read_counts() {
  const std::optional<Index> context = keys_.integer_up_to(Index{1} << 53, "context_length");
  if (!context && keys_.strict())
    keys_.file.refuse(
        fmt::format("metadata key \"{}\" must be there", keys_.key("context_length")));
  if (!context)
    keys_.warn(fmt::format("metadata key \"{}\" is missing", keys_.key("context_length")));
  model_.context = context.value_or(0);
  model_.layer_count = keys_.integer_up_to(kMostLayers, "block_count").value_or(0);
  heads_ = head_counts("attention.head_count");
  key_heads_ = head_counts("attention.head_count_kv");
  model_.heads = heads_.empty() ? 0 : *std::max_element(heads_.begin(), heads_.end());
  model_.key_heads =
      key_heads_.empty() ? model_.heads : *std::max_element(key_heads_.begin(), key_heads_.end());
}

Index ModelReader::head_dims() {
  if (const auto latent = keys_.integer_up_to(kMostHeadDims, "attention.key_length_mla"))
    return *latent;
  if (const auto given = keys_.integer_up_to(kMostHeadDims, "attention.key_length")) return *given;
  const std::optional<Index> embedding = keys_.file.integer(keys_.key("embedding_length"));
  if (!embedding || heads_.empty()) {
    keys_.file.refuse(fmt::format("metadata key \"{}\" must be there, or \"{}\" and \"{}\"",
                                  keys_.key("attention.key_length"), keys_.key("embedding_length"),
                                  keys_.key("attention.head_count")));
  }
  const Index count = heads_.front();
  const bool divides =
      count > 0 && *embedding > 0 && *embedding % count == 0 && *embedding / count <= kMostHeadDims;
  if (!divides) {
    keys_.file.refuse_key(keys_.key("embedding_length"),
                          fmt::format("be a multiple of \"{}\", from 1 to {} times it",
                                      keys_.key("attention.head_count"), kMostHeadDims),
                          fmt::format("{} and {}", *embedding, count));
  }
  return *embedding / count;
}

Index ModelReader::rotary_dims(std::string_view name, Index in_rows_of, Index otherwise) {
  const Index dims = keys_.file.integer(keys_.key(name)).value_or(otherwise);
  const std::string got = fmt::format("{}", dims);
  if (dims < 1 || dims > in_rows_of)
    keys_.file.refuse_key(keys_.key(name), fmt::format("be from 1 to the row's {}", in_rows_of),
                          got);
  if (dims % 2 != 0) keys_.file.refuse_key(keys_.key(name), "be even", got);
  return dims;
}

Pairing ModelReader::window(Pairing pairing, Index head, Index rotary) const {
  const bool at_the_end =
      architecture_.part == RotatedPart::last || keys_.has("attention.key_length_mla");
  return pairing.with_rotary_dims(rotary).with_offset(at_the_end ? head - rotary : 0);
}

/// hunyuan_vl's alpha, as XDRoPE has it: base * alpha^(d / (d - 2)).
double ModelReader::full_base(const LayerRope& layer) {
  const bool compressed = architecture_.sliding == SlidingLayers::uncompressed;
  const std::string name =
      keys_.key(compressed ? "attention.compress_rope_freq_base" : "rope.freq_base");
  const std::optional<double> given = keys_.file.number(name);
  if (!given && compressed)
    keys_.file.refuse(fmt::format("metadata key \"{}\" must be there", name));
  if (!given)
    keys_.warn(fmt::format("metadata key \"{}\" is missing: the base is taken to be 10000", name));
  double base = keys_.positive(name, given.value_or(kDefaultBase));
  const std::string alpha_key = keys_.key("rope.scaling.alpha");
  const double alpha = keys_.file.number(alpha_key).value_or(0.0);
  if (architecture_.alpha == AlphaKey::scales_base) {
    const auto dims = static_cast<double>(layer.head_dims);
    if (alpha > 0 && dims > 2) base *= std::pow(alpha, dims / (dims - 2));
  } else if (alpha != 0) {
    keys_.mend(alpha_key, fmt::format("be 0: {}", keys_.not_read()), fmt::format("{}", alpha),
               "it is not applied");
  }
  return base;
}

LayerRope ModelReader::full_layer() {
  LayerRope layer;
  layer.head_dims = head_dims();
  if (!keys_.has("rope.dimension_count")) {
    keys_.warn(
        fmt::format("metadata key \"{}\" is missing: all {} elements of a row are taken to rotate",
                    keys_.key("rope.dimension_count"), layer.head_dims));
  }
  layer.powers.rotary_dims = rotary_dims("rope.dimension_count", layer.head_dims, layer.head_dims);
  if (architecture_.partial == PartialRows::refused &&
      layer.powers.rotary_dims != layer.head_dims) {
    keys_.mend(keys_.key("rope.dimension_count"),
               fmt::format("be the row's {}: llama.cpp refuses architecture \"{}\" otherwise",
                           layer.head_dims, keys_.architecture),
               fmt::format("{}", layer.powers.rotary_dims), "it is taken as it is");
  }
  if (architecture_.partial == PartialRows::not_read &&
      layer.powers.rotary_dims != layer.head_dims) {
    keys_.mend(keys_.key("rope.dimension_count"),
               fmt::format("be the row's {}: llama.cpp rotates whole rows in architecture \"{}\"",
                           layer.head_dims, keys_.architecture),
               fmt::format("{}", layer.powers.rotary_dims), "whole rows are taken");
    layer.powers.rotary_dims = layer.head_dims;
  }
  layer.powers.rotary_dims /= architecture_.full_dims_divisor;
  rotation_ = read_gguf_rotation(keys_, architecture_, full_base(layer), model_.context,
                                 layer.powers.rotary_dims);
  apply_gguf_rotation(rotation_, model_.context, layer);
  if (architecture_.rope != GgufRope::unrecorded) {
    const bool adjacent =
        architecture_.rope == GgufRope::normal || architecture_.rope == GgufRope::normal_or_mrope;
    layer.pairing =
        window(adjacent ? interleaved : split_half, layer.head_dims, layer.powers.rotary_dims);
  }
  return layer;
}

std::optional<SectionPattern> ModelReader::section_pattern(
    const std::vector<Index>& lengths) const {
  const bool several = lengths[0] > 0 && lengths[1] > 0;
  switch (architecture_.rope) {
    case GgufRope::mrope: return SectionPattern::contiguous;
    case GgufRope::imrope: return SectionPattern::interleaved_ggml;
    case GgufRope::normal_or_mrope:
    case GgufRope::neox_or_mrope:
      return several ? std::optional(SectionPattern::contiguous) : std::nullopt;
    case GgufRope::neox_or_mrope_by_any: return SectionPattern::contiguous;
    case GgufRope::none:
    case GgufRope::unrecorded:
    case GgufRope::vision_tower:
    case GgufRope::normal:
    case GgufRope::neox: break;
  }
  return {};
}

void ModelReader::add_sections(LayerRope& layer) {
  const std::string name = keys_.key("rope.dimension_sections");
  const bool needed =
      architecture_.rope == GgufRope::mrope || architecture_.rope == GgufRope::imrope;
  const std::optional<std::vector<Index>> lengths = keys_.file.integers(name);
  if (!lengths) {
    if (needed)
      keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for architecture \"{}\"",
                                    name, keys_.architecture));
    return;
  }
  if (lengths->size() != 4)
    keys_.file.refuse_key(name, "have 4 elements", fmt::format("{}", lengths->size()));
  const std::string got = detail::joined(*lengths, ", ");
  for (const Index length : *lengths) {
    if (length > kMostHeadDims)
      keys_.file.refuse_key(name, fmt::format("have elements up to {}", kMostHeadDims), got);
  }
  const std::optional<SectionPattern> pattern = section_pattern(*lengths);
  const Index total = std::accumulate(lengths->begin(), lengths->end(), Index{0});
  if (!pattern) {
    if (total > 0)
      keys_.warn(fmt::format(
          "metadata key \"{}\" is not applied: the architecture takes one position a token", name));
    return;
  }
  if ((*lengths)[0] + (*lengths)[1] + (*lengths)[2] == 0)
    keys_.file.refuse_key(name, "have a first, second or third element above 0", got);
  layer.sections = Sections(*pattern, *lengths);
  layer.pairing = window(split_half, layer.head_dims, layer.powers.rotary_dims);
  if (total != layer.powers.rotary_dims / 2) {
    keys_.warn(fmt::format("the sections {} have {} pairs, and {} rotate", got, total,
                           layer.powers.rotary_dims / 2));
  }
}

GgufRotation ModelReader::sliding_rotation(const LayerRope& full) {
  GgufRotation rotation = rotation_;
  if (architecture_.sliding_scaling == SlidingScaling::by_factor)
    rotation.factor = rotation.file_factor;
  if (architecture_.sliding_scaling == SlidingScaling::undivided ||
      architecture_.sliding_scaling == SlidingScaling::none) {
    rotation.factor = 1;
  }
  if (architecture_.sliding_scaling == SlidingScaling::none) {
    rotation.ext_factor = 0;
    rotation.attn_factor = 1;
  }
  if (architecture_.sliding_divisors == DivisorTensors::none) {
    rotation.divisors.clear();
    rotation.long_divisors.clear();
    rotation.short_divisors.clear();
  }
  const std::string name = keys_.key("rope.freq_base_swa");
  const std::optional<double> given = keys_.file.number(name);
  double otherwise =
      architecture_.sliding_base == SlidingBase::file_or_10000 ? kDefaultBase : full.powers.base;
  if (architecture_.sliding == SlidingLayers::uncompressed) {
    otherwise =
        keys_.positive(keys_.key("rope.freq_base"),
                       keys_.file.number(keys_.key("rope.freq_base")).value_or(kDefaultBase));
  }
  rotation.base = otherwise;
  if (architecture_.sliding_base != SlidingBase::same)
    rotation.base = keys_.positive(name, given.value_or(otherwise));
  return rotation;
}

LayerRope ModelReader::sliding_layer(const LayerRope& full) {
  LayerRope layer = full;
  layer.head_dims =
      keys_.integer_up_to(kMostHeadDims, "attention.key_length_swa").value_or(full.head_dims);
  if (keys_.has("attention.key_length_mla")) {
    layer.head_dims =
        keys_.integer_up_to(kMostHeadDims, "attention.key_length_mla_swa").value_or(full.head_dims);
  }
  const Index otherwise = full.powers.rotary_dims * architecture_.full_dims_divisor;
  layer.powers.rotary_dims = rotary_dims("rope.dimension_count_swa", layer.head_dims, otherwise);
  apply_gguf_rotation(sliding_rotation(full), model_.context, layer);
  if (full.pairing)
    layer.pairing =
        window(Pairing(full.pairing->kind()), layer.head_dims, layer.powers.rotary_dims);
  return layer;
}

/// Where the graph takes the width of rows and windows of layer 0 for all.
void ModelReader::share_rows(LayerRope& full, LayerRope& sliding, bool first_slides) const {
  const SlidingRows rows = architecture_.sliding_rows;
  if (rows == SlidingRows::own) return;
  const bool takes_sliding = rows == SlidingRows::always_sliding || first_slides;
  if (!takes_sliding && rows == SlidingRows::full_as_first) return;
  const LayerRope& of = takes_sliding ? sliding : full;
  LayerRope& to = takes_sliding ? full : sliding;
  to.head_dims = of.head_dims;
  to.powers.rotary_dims = of.powers.rotary_dims;
  if (to.pairing && to.powers.rotary_dims <= to.head_dims) {
    to.pairing = window(Pairing(to.pairing->kind()), to.head_dims, to.powers.rotary_dims);
  }
}

/// A model none of whose layers rotates is refused in words that say so.
void ModelReader::require_rotation(const std::vector<GgufLayer>& layers) {
  const bool none =
      !layers.empty() && std::none_of(layers.begin(), layers.end(), [](GgufLayer layer) {
        return layer == GgufLayer::full || layer == GgufLayer::sliding;
      });
  if (!none) return;
  const std::string finetuned = keys_.key("rope.scaling.finetuned");
  if (architecture_.rotated == RotatedLayers::by_finetuned && keys_.has("rope.scaling.finetuned") &&
      !*keys_.file.flag(finetuned)) {
    keys_.file.refuse(fmt::format(
        "metadata key \"{}\" is false: this model does not rotate queries and keys", finetuned));
  }
  keys_.file.refuse("no layer rotates: this model does not rotate queries and keys");
}

/// Keys of sliding layers in a file none of whose layers slides, or in whose architecture llama.cpp
/// does not read them.
void ModelReader::warn_of_unused_sliding_keys(const LayerRope& full) {
  const bool known = architecture_.rope != GgufRope::unrecorded;
  const std::string why = known ? "llama.cpp does not apply it to this model" : keys_.not_read();
  const std::string base = keys_.key("rope.freq_base_swa");
  const std::optional<double> given = keys_.file.number(base);
  if (given && *given != full.powers.base) {
    keys_.mend(base, fmt::format("be {}: {}", full.powers.base, why), fmt::format("{}", *given),
               "it is not applied");
  }
  const std::string dims = keys_.key("rope.dimension_count_swa");
  const std::optional<Index> rotary = keys_.file.integer(dims);
  if (rotary && *rotary != full.powers.rotary_dims) {
    keys_.mend(dims, fmt::format("be {}: {}", full.powers.rotary_dims, why),
               fmt::format("{}", *rotary), "it is not applied");
  }
}

/// The numbers of the layers of a kind.
std::vector<Index> layers_of(const std::vector<GgufLayer>& layers, GgufLayer kind) {
  std::vector<Index> result;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] == kind) result.push_back(static_cast<Index>(i));
  }
  return result;
}

void ModelReader::add_layers(LayerRope full, const std::vector<GgufLayer>& layers) {
  std::vector<Index> full_layers = layers_of(layers, GgufLayer::full);
  std::vector<Index> sliding_layers = layers_of(layers, GgufLayer::sliding);
  const std::vector<Index> resting = layers_of(layers, GgufLayer::resting);
  const std::vector<Index> further = layers_of(layers, GgufLayer::further);
  if (!resting.empty())
    keys_.warn(fmt::format("layers {} do not rotate", detail::joined(resting, ", ")));
  if (!further.empty()) {
    keys_.warn(
        fmt::format("layers {} predict further tokens (metadata key \"{}\"), and are not described",
                    detail::joined(further, ", "), keys_.key("nextn_predict_layers")));
  }
  if (sliding_layers.empty()) {
    warn_of_unused_sliding_keys(full);
    if (!resting.empty() || !further.empty()) full.layers = std::move(full_layers);
    model_.layers.push_back(std::move(full));
    return;
  }
  LayerRope other = sliding_layer(full);
  share_rows(full, other, layers.front() == GgufLayer::sliding);
  if (architecture_.sliding_base == SlidingBase::same) {
    const std::optional<double> base = keys_.file.number(keys_.key("rope.freq_base_swa"));
    if (base && *base != other.powers.base) {
      keys_.mend(keys_.key("rope.freq_base_swa"),
                 fmt::format("be {}: llama.cpp does not apply it to this model", other.powers.base),
                 fmt::format("{}", *base), "it is not applied");
    }
  }
  if (rotate_alike(full, other)) {
    if (!resting.empty() || !further.empty()) {
      full_layers.insert(full_layers.end(), sliding_layers.begin(), sliding_layers.end());
      std::sort(full_layers.begin(), full_layers.end());
      full.layers = std::move(full_layers);
    }
    model_.layers.push_back(std::move(full));
    return;
  }
  if (!full_layers.empty()) {
    full.layer_type = architecture_.sliding == SlidingLayers::uncompressed ? "compressed_attention"
                                                                           : "full_attention";
    full.layers = std::move(full_layers);
    model_.layers.push_back(std::move(full));
  }
  other.layer_type = "sliding_attention";
  other.layers = std::move(sliding_layers);
  model_.layers.push_back(std::move(other));
}

void ModelReader::require_computable() const {
  for (const LayerRope& layer : model_.layers) {
    try {
      (void)layer.frequencies();
    } catch (const Error& error) {
      constexpr std::string_view prefix = "[rope] ";
      const std::string_view sentence = error.what();
      keys_.file.refuse(
          sentence.substr(sentence.substr(0, prefix.size()) == prefix ? prefix.size() : 0));
    }
  }
}

}  // namespace

ModelRope read_gguf(const std::filesystem::path& path, Strictness strictness) {
  return ModelReader(path, strictness).read();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
