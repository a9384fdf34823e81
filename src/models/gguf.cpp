// SPDX-License-Identifier: Apache-2.0
#include "rope/models/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/gguf_architectures.hpp"
#include "models/gguf_keys.hpp"
#include "models/gguf_scaling.hpp"
#include "models/notes.hpp"
#include "rope/error.hpp"

namespace rope::models {
namespace {

constexpr Index kMostHeadDims = 65536;
constexpr Index kMostLayers = 65536;
constexpr double kDefaultBase = 10000.0;

bool nothing_scaled(const LayerRope& layer) {
  return std::holds_alternative<Unscaled>(layer.scaling) && layer.powers.linear_scale == 1 && layer.powers.attention_factor == 1 &&
         layer.powers.factors.empty();
}

class ModelReader {
 public:
  ModelReader(const std::filesystem::path& path, Strictness strictness) : keys_(path, strictness) {}

  ModelRope read();

 private:
  void read_architecture();
  void read_counts();
  std::vector<Index> head_counts(std::string_view name);
  Index head_dims();
  Index rotary_dims(std::string_view name, Index in_rows_of, Index otherwise);
  LayerRope full_layer();
  void add_sections(LayerRope& layer);
  std::optional<SectionPattern> section_pattern(const std::vector<Index>& lengths) const;
  std::vector<bool> sliding_layers();
  LayerRope sliding_layer(const LayerRope& full);
  void add_layers(LayerRope full);
  void require_computable() const;
  Pairing window(Pairing pairing, Index head, Index rotary) const;

  GgufKeys keys_;
  ModelRope model_;
  const GgufArchitecture* architecture_ = nullptr;
  // One for all layers, or one each.
  std::vector<Index> heads_;
  std::vector<Index> key_heads_;
};

ModelRope ModelReader::read() {
  read_architecture();
  read_counts();
  LayerRope full = full_layer();
  add_sections(full);
  add_layers(std::move(full));
  require_computable();
  model_.warnings = std::move(keys_.warnings);
  return std::move(model_);
}

void ModelReader::read_architecture() {
  const std::optional<std::string> name = keys_.file.text("general.architecture");
  const Index part = keys_.file.integer("split.no").value_or(0);
  const Index parts = keys_.file.integer("split.count").value_or(1);
  if (!name && part > 0) keys_.file.refuse(fmt::format("is part {} of {}, and the metadata are in part 1", part + 1, parts));
  if (!name || name->empty()) keys_.file.refuse("metadata key \"general.architecture\" must be there");
  keys_.architecture = *name;
  model_.architecture = printable(*name);
  architecture_ = find_architecture(*name);
  if (architecture_ == nullptr) {
    keys_.warn(fmt::format("architecture \"{}\" is not known: the pairing is empty, and all layers are taken to be alike", *name));
  } else if (architecture_->rope == GgufRope::none) {
    keys_.file.refuse_key("general.architecture", "be of a language model that rotates queries and keys", fmt::format("\"{}\"", *name));
  }
  if (parts > 1) keys_.warn(fmt::format("the model is split into {} parts: divisors are looked for in this one only", parts));
}

std::vector<Index> ModelReader::head_counts(std::string_view name) {
  const std::string full_key = keys_.key(name);
  const GgufValue* value = keys_.file.find(full_key);
  if (value == nullptr) return {};
  if (value->type != GgufType::array) return {*keys_.file.integer(full_key)};
  std::vector<Index> counts = *keys_.file.integers(full_key);
  const auto count = static_cast<Index>(counts.size());
  if (count == 0 || (model_.layer_count > 0 && count != model_.layer_count)) {
    keys_.file.refuse_key(full_key, fmt::format("have one element per layer, {}", model_.layer_count), fmt::format("{}", count));
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (*least != *most) {
    keys_.warn(fmt::format("metadata key \"{}\" differs by layer, from {} to {}: the largest is reported", full_key, *least, *most));
  }
  return counts;
}

void ModelReader::read_counts() {
  const std::optional<Index> context = keys_.integer_up_to(Index{1} << 53, "context_length");
  if (!context && keys_.strict()) keys_.file.refuse(fmt::format("metadata key \"{}\" must be there", keys_.key("context_length")));
  if (!context) keys_.warn(fmt::format("metadata key \"{}\" is missing", keys_.key("context_length")));
  model_.context = context.value_or(0);
  model_.layer_count = keys_.integer_up_to(kMostLayers, "block_count").value_or(0);
  heads_ = head_counts("attention.head_count");
  key_heads_ = head_counts("attention.head_count_kv");
  model_.heads = heads_.empty() ? 0 : *std::max_element(heads_.begin(), heads_.end());
  model_.key_heads = key_heads_.empty() ? model_.heads : *std::max_element(key_heads_.begin(), key_heads_.end());
}

Index ModelReader::head_dims() {
  if (const auto latent = keys_.integer_up_to(kMostHeadDims, "attention.key_length_mla")) return *latent;
  if (const auto given = keys_.integer_up_to(kMostHeadDims, "attention.key_length")) return *given;
  const std::optional<Index> embedding = keys_.file.integer(keys_.key("embedding_length"));
  if (!embedding || heads_.empty()) {
    keys_.file.refuse(fmt::format("metadata key \"{}\" must be there, or \"{}\" and \"{}\"", keys_.key("attention.key_length"),
                                  keys_.key("embedding_length"), keys_.key("attention.head_count")));
  }
  const Index count = heads_.front();
  const bool divides = count > 0 && *embedding > 0 && *embedding % count == 0 && *embedding / count <= kMostHeadDims;
  if (!divides) {
    keys_.file.refuse_key(keys_.key("embedding_length"),
                          fmt::format("be a multiple of \"{}\", from 1 to {} times it", keys_.key("attention.head_count"), kMostHeadDims),
                          fmt::format("{} and {}", *embedding, count));
  }
  return *embedding / count;
}

Index ModelReader::rotary_dims(std::string_view name, Index in_rows_of, Index otherwise) {
  const Index dims = keys_.file.integer(keys_.key(name)).value_or(otherwise);
  const std::string got = fmt::format("{}", dims);
  if (dims < 1 || dims > in_rows_of) keys_.file.refuse_key(keys_.key(name), fmt::format("be from 1 to the row's {}", in_rows_of), got);
  if (dims % 2 != 0) keys_.file.refuse_key(keys_.key(name), "be even", got);
  return dims;
}

Pairing ModelReader::window(Pairing pairing, Index head, Index rotary) const {
  const bool at_the_end = keys_.has("attention.key_length_mla") || gguf_rotates_the_end(keys_.architecture);
  return pairing.with_rotary_dims(rotary).with_offset(at_the_end ? head - rotary : 0);
}

LayerRope ModelReader::full_layer() {
  LayerRope layer;
  layer.head_dims = head_dims();
  if (!keys_.has("rope.dimension_count")) {
    keys_.warn(fmt::format("metadata key \"{}\" is missing: all {} elements of a row are taken to rotate",
                           keys_.key("rope.dimension_count"), layer.head_dims));
  }
  layer.powers.rotary_dims = rotary_dims("rope.dimension_count", layer.head_dims, layer.head_dims);
  const std::optional<double> base = keys_.file.number(keys_.key("rope.freq_base"));
  if (!base) keys_.warn(fmt::format("metadata key \"{}\" is missing: the base is taken to be 10000", keys_.key("rope.freq_base")));
  layer.powers.base = keys_.positive(keys_.key("rope.freq_base"), base.value_or(kDefaultBase));
  if (architecture_ != nullptr) {
    const bool adjacent = architecture_->rope == GgufRope::normal || architecture_->rope == GgufRope::normal_or_mrope;
    layer.pairing = window(adjacent ? interleaved : half, layer.head_dims, layer.powers.rotary_dims);
  }
  apply_gguf_scaling(keys_, model_.context, layer);
  return layer;
}

std::optional<SectionPattern> ModelReader::section_pattern(const std::vector<Index>& lengths) const {
  if (architecture_ == nullptr) return {};
  const bool several = lengths[0] > 0 && lengths[1] > 0;
  switch (architecture_->rope) {
    case GgufRope::mrope: return SectionPattern::contiguous;
    case GgufRope::imrope: return SectionPattern::interleaved_ggml;
    case GgufRope::normal_or_mrope:
    case GgufRope::neox_or_mrope: return several ? std::optional(SectionPattern::contiguous) : std::nullopt;
    case GgufRope::none:
    case GgufRope::normal:
    case GgufRope::neox: break;
  }
  return {};
}

void ModelReader::add_sections(LayerRope& layer) {
  const std::string name = keys_.key("rope.dimension_sections");
  const bool needed = architecture_ != nullptr && (architecture_->rope == GgufRope::mrope || architecture_->rope == GgufRope::imrope);
  const std::optional<std::vector<Index>> lengths = keys_.file.integers(name);
  if (!lengths) {
    if (needed) keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for architecture \"{}\"", name, keys_.architecture));
    return;
  }
  if (lengths->size() != 4) keys_.file.refuse_key(name, "have 4 elements", fmt::format("{}", lengths->size()));
  const std::string got = fmt::format("{}", fmt::join(*lengths, ", "));
  for (const Index length : *lengths) {
    if (length > kMostHeadDims) keys_.file.refuse_key(name, fmt::format("have elements up to {}", kMostHeadDims), got);
  }
  const std::optional<SectionPattern> pattern = section_pattern(*lengths);
  const Index total = std::accumulate(lengths->begin(), lengths->end(), Index{0});
  if (!pattern) {
    if (total > 0) keys_.warn(fmt::format("metadata key \"{}\" is not applied: the architecture takes one position a token", name));
    return;
  }
  if ((*lengths)[0] + (*lengths)[1] + (*lengths)[2] == 0) keys_.file.refuse_key(name, "have a first, second or third element above 0", got);
  layer.sections = Sections(*pattern, *lengths);
  layer.pairing = window(half, layer.head_dims, layer.powers.rotary_dims);
  if (total != layer.powers.rotary_dims / 2) {
    keys_.warn(fmt::format("the sections {} have {} pairs, and {} rotate", got, total, layer.powers.rotary_dims / 2));
  }
}

std::vector<bool> ModelReader::sliding_layers() {
  const std::string name = keys_.key("attention.sliding_window_pattern");
  const auto count = static_cast<std::size_t>(model_.layer_count);
  const GgufValue* given = keys_.file.find(name);
  const std::optional<Index> width = keys_.file.integer(keys_.key("attention.sliding_window"));
  const bool by_name = architecture_ != nullptr && architecture_->pattern != SlidingPattern::from_file;
  const bool needs_count = (by_name && width.value_or(0) > 0) || (architecture_ != nullptr && architecture_->rotated != RotatedLayers::all);
  if (needs_count && count == 0) {
    keys_.file.refuse(
        fmt::format("metadata key \"{}\" must be there for architecture \"{}\"", keys_.key("block_count"), keys_.architecture));
  }
  if (given != nullptr && given->type == GgufType::array) {
    const std::vector<Index> flags = *keys_.file.integers(name);
    if (flags.size() != count) {
      keys_.file.refuse_key(name, fmt::format("have one element per layer, {}", count), fmt::format("{}", flags.size()));
    }
    std::vector<bool> sliding(count);
    std::transform(flags.begin(), flags.end(), sliding.begin(), [](Index flag) { return flag != 0; });
    return sliding;
  }
  if (!by_name || width.value_or(0) == 0) return std::vector<bool>(count, false);
  const Index period = keys_.file.integer(name).value_or(architecture_->period);
  std::vector<bool> sliding(count, true);
  for (std::size_t i = 0; i < count && period > 0; ++i) {
    const Index place = static_cast<Index>(i) % period;
    sliding[i] = architecture_->pattern == SlidingPattern::first_is_full ? place != 0 : place != period - 1;
  }
  return sliding;
}

LayerRope ModelReader::sliding_layer(const LayerRope& full) {
  LayerRope layer = full;
  const SlidingRates rates = architecture_ == nullptr ? SlidingRates::same : architecture_->rates;
  if (rates != SlidingRates::same) {
    layer.powers = Powers{full.powers.rotary_dims, full.powers.base};
    layer.scaling = Unscaled{};
    layer.softmax_multiplier = 1.0;
  }
  const double otherwise = rates == SlidingRates::unscaled_10000 ? kDefaultBase : full.powers.base;
  layer.powers.base =
      keys_.positive(keys_.key("rope.freq_base_swa"), keys_.file.number(keys_.key("rope.freq_base_swa")).value_or(otherwise));
  layer.head_dims = keys_.integer_up_to(kMostHeadDims, "attention.key_length_swa").value_or(full.head_dims);
  layer.powers.rotary_dims = rotary_dims("rope.dimension_count_swa", layer.head_dims, full.powers.rotary_dims);
  if (full.pairing) layer.pairing = window(Pairing(full.pairing->kind()), layer.head_dims, layer.powers.rotary_dims);
  return layer;
}

void ModelReader::add_layers(LayerRope full) {
  const std::vector<bool> sliding = sliding_layers();
  const bool any_slides = std::find(sliding.begin(), sliding.end(), true) != sliding.end();
  const RotatedLayers rotated = architecture_ == nullptr ? RotatedLayers::all : architecture_->rotated;
  const bool fourth_rests =
      rotated == RotatedLayers::not_every_fourth && keys_.file.integer(keys_.key("attention.sliding_window")).value_or(1) > 0;
  const bool full_rests = any_slides && (rotated == RotatedLayers::sliding || rotated == RotatedLayers::sliding_and_leading);
  const Index leading =
      rotated == RotatedLayers::sliding_and_leading ? keys_.file.integer(keys_.key("leading_dense_block_count")).value_or(0) : 0;
  std::vector<Index> full_layers;
  std::vector<Index> sliding_ones;
  std::vector<Index> resting;
  for (Index i = 0; i < model_.layer_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool no_attention = key_heads_.size() > 1 && key_heads_[at] == 0;
    const bool rests = no_attention || (fourth_rests && i % 4 == 3) || (full_rests && !sliding[at] && i >= leading);
    (rests ? resting : sliding[at] ? sliding_ones : full_layers).push_back(i);
  }
  if (!sliding.empty() && resting.size() == sliding.size()) keys_.file.refuse("no layer rotates");
  if (!resting.empty()) keys_.warn(fmt::format("layers {} do not rotate", fmt::join(resting, ", ")));

  const bool has_swa_keys = keys_.has("rope.freq_base_swa") || keys_.has("rope.dimension_count_swa");
  const bool unplaced = has_swa_keys && !any_slides;
  LayerRope other = sliding_layer(full);
  const bool by_rule = architecture_ != nullptr && architecture_->rates != SlidingRates::same && !nothing_scaled(full);
  const bool differ = by_rule || other.powers.base != full.powers.base || other.head_dims != full.head_dims ||
                      other.powers.rotary_dims != full.powers.rotary_dims;
  if (unplaced && differ) {
    keys_.warn("the file has keys of sliding layers, and does not say which layers slide");
    full.layer_type = "full_attention";
    other.layer_type = "sliding_attention";
    model_.layers = {std::move(full), std::move(other)};
    return;
  }
  if (!any_slides || !differ) {
    if (!resting.empty()) {
      full_layers.insert(full_layers.end(), sliding_ones.begin(), sliding_ones.end());
      std::sort(full_layers.begin(), full_layers.end());
      full.layers = std::move(full_layers);
    }
    model_.layers.push_back(std::move(full));
    return;
  }
  if (!full_layers.empty()) {
    full.layer_type = "full_attention";
    full.layers = std::move(full_layers);
    model_.layers.push_back(std::move(full));
  }
  if (!sliding_ones.empty()) {
    other.layer_type = "sliding_attention";
    other.layers = std::move(sliding_ones);
    model_.layers.push_back(std::move(other));
  }
}

void ModelReader::require_computable() const {
  for (const LayerRope& layer : model_.layers) {
    try {
      (void)layer.frequencies();
    } catch (const Error& error) {
      constexpr std::string_view prefix = "[rope] ";
      const std::string_view sentence = error.what();
      keys_.file.refuse(sentence.substr(sentence.substr(0, prefix.size()) == prefix ? prefix.size() : 0));
    }
  }
}

}  // namespace

ModelRope read_gguf(const std::filesystem::path& path, Strictness strictness) { return ModelReader(path, strictness).read(); }

}  // namespace rope::models
