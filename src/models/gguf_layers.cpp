// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_layers.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

constexpr std::string_view kWindow = "attention.sliding_window";
constexpr std::string_view kPattern = "attention.sliding_window_pattern";
constexpr std::string_view kRatios = "attention.compress_ratios";

class LayerRules {
 public:
  LayerRules(GgufKeys& keys, const GgufArchitecture& architecture, Index count,
             const std::vector<Index>& key_heads)
      : keys_(keys), architecture_(architecture), count_(count), key_heads_(key_heads) {}

  std::vector<GgufLayer> read();

 private:
  bool needs_count() const;
  Index own_count();
  bool any_may_slide();
  std::vector<bool> flags(std::string_view name);
  std::vector<bool> sliding(const std::vector<bool>& without_attention);
  std::vector<bool> without_attention();
  std::vector<bool> by_interval(Index otherwise);
  std::vector<bool> resting(const std::vector<bool>& sliding);
  std::vector<bool> every(Index period, Index place, Index own) const;

  GgufKeys& keys_;
  const GgufArchitecture& architecture_;
  Index count_;
  const std::vector<Index>& key_heads_;
  Index own_count_ = 0;
};

bool LayerRules::needs_count() const {
  return architecture_.sliding != SlidingLayers::none ||
         architecture_.rotated != RotatedLayers::all ||
         architecture_.recurrent != RecurrentLayers::by_key_heads;
}

/// Layers of the model's own graph: those behind them predict further tokens.
Index LayerRules::own_count() {
  const std::string name = keys_.key("nextn_predict_layers");
  const Index further = keys_.file.integer(name).value_or(0);
  const bool has_tensors =
      keys_.file.has_tensor(fmt::format("blk.{}.nextn.eh_proj.weight", count_ - further));
  if (architecture_.further == FurtherLayers::by_tensors && !has_tensors) return count_;
  if (further > count_)
    keys_.file.refuse_key(name, fmt::format("be at most the {} layers", count_),
                          fmt::format("{}", further));
  return count_ - further;
}

/// One flag for each layer; an array of numbers counts as flags where they are not 0.
std::vector<bool> LayerRules::flags(std::string_view name) {
  const std::vector<Index> values = *keys_.file.integers(keys_.key(name));
  if (static_cast<Index>(values.size()) < count_ ||
      (static_cast<Index>(values.size()) > count_ && keys_.strict())) {
    keys_.file.refuse_key(keys_.key(name), fmt::format("have one element per layer, {}", count_),
                          fmt::format("{}", values.size()));
  }
  std::vector<bool> result(static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = values[i] != 0;
  return result;
}

/// True where i % period == place, for i below `own`.
std::vector<bool> LayerRules::every(Index period, Index place, Index own) const {
  std::vector<bool> result(static_cast<std::size_t>(count_), false);
  for (Index i = 0; i < own; ++i) result[static_cast<std::size_t>(i)] = i % period == place;
  return result;
}

bool LayerRules::any_may_slide() {
  const std::optional<Index> width = keys_.file.integer(keys_.key(kWindow));
  switch (architecture_.when) {
    case SlidingWhen::window: return width.value_or(0) > 0;
    case SlidingWhen::unless_zero: return width.value_or(1) > 0;
    case SlidingWhen::depth_64: return count_ == 64;
    case SlidingWhen::regardless: return true;
    case SlidingWhen::always:
      if (!width && architecture_.sliding != SlidingLayers::none) {
        keys_.mend(fmt::format("metadata key \"{}\" must be there: llama.cpp refuses architecture "
                               "\"{}\" without it",
                               keys_.key(kWindow), keys_.architecture),
                   "layers are taken to slide");
      }
      return true;
  }
  return false;
}

std::vector<bool> LayerRules::sliding(const std::vector<bool>& without_attention) {
  std::vector<bool> none(static_cast<std::size_t>(count_), false);
  if (architecture_.sliding == SlidingLayers::none || !any_may_slide()) return none;
  const GgufValue* given = keys_.file.find(keys_.key(kPattern));
  const bool has_flags = given != nullptr && given->type == GgufType::array;
  switch (architecture_.sliding) {
    case SlidingLayers::none: return none;
    case SlidingLayers::all: {
      std::vector<bool> result(static_cast<std::size_t>(count_));
      std::transform(without_attention.begin(), without_attention.end(), result.begin(),
                     [](bool rests) { return !rests; });
      return result;
    }
    case SlidingLayers::uncompressed: {
      if (!keys_.has(kRatios)) {
        keys_.mend(fmt::format("metadata key \"{}\" must be there, with one element per layer",
                               keys_.key(kRatios)),
                   "no layer is taken to slide");
        return none;
      }
      std::vector<bool> result = flags(kRatios);
      result.flip();
      return result;
    }
    case SlidingLayers::flags:
      if (has_flags) return flags(kPattern);
      keys_.mend(fmt::format("metadata key \"{}\" must be there, with one element per layer: "
                             "llama.cpp refuses architecture \"{}\" without",
                             keys_.key(kPattern), keys_.architecture),
                 "no layer is taken to slide");
      return none;
    case SlidingLayers::last_is_full:
    case SlidingLayers::first_is_full: break;
  }
  if (has_flags) return flags(kPattern);
  const Index period = keys_.file.integer(keys_.key(kPattern)).value_or(architecture_.period);
  const bool first = architecture_.sliding == SlidingLayers::first_is_full;
  std::vector<bool> result(static_cast<std::size_t>(count_), false);
  for (Index i = 0; i < own_count_; ++i) {
    result[static_cast<std::size_t>(i)] = period == 0 || i % period != (first ? 0 : period - 1);
  }
  return result;
}

/// All but the last of each interval, unless the file says which.
std::vector<bool> LayerRules::by_interval(Index otherwise) {
  if (keys_.has("attention.recurrent_layers")) return flags("attention.recurrent_layers");
  const std::string name = keys_.key("full_attention_interval");
  const Index interval = keys_.file.integer(name).value_or(otherwise);
  if (interval < 1) keys_.file.refuse_key(name, "be at least 1", fmt::format("{}", interval));
  std::vector<bool> full = every(interval, interval - 1, own_count_);
  full.flip();
  std::fill(full.begin() + own_count_, full.end(), false);
  return full;
}

std::vector<bool> LayerRules::without_attention() {
  std::vector<bool> result(static_cast<std::size_t>(count_), false);
  if (architecture_.recurrent == RecurrentLayers::by_interval_4) result = by_interval(4);
  if (architecture_.recurrent == RecurrentLayers::by_interval_8) result = by_interval(8);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (key_heads_.size() > 1 && key_heads_[i] == 0) result[i] = true;
  }
  return result;
}

std::vector<bool> LayerRules::resting(const std::vector<bool>& sliding) {
  const auto all = static_cast<std::size_t>(count_);
  std::vector<bool> none(all, false);
  const bool any_slides = std::find(sliding.begin(), sliding.end(), true) != sliding.end();
  const std::optional<Index> width = keys_.file.integer(keys_.key(kWindow));
  switch (architecture_.rotated) {
    case RotatedLayers::all: return none;
    case RotatedLayers::sliding:
    case RotatedLayers::sliding_and_leading: {
      const bool leads = architecture_.rotated == RotatedLayers::sliding_and_leading;
      const Index leading =
          leads ? keys_.file.integer(keys_.key("leading_dense_block_count")).value_or(0) : 0;
      std::vector<bool> result(all, false);
      const bool by_depth = architecture_.when == SlidingWhen::depth_64 && !any_slides;
      for (std::size_t i = 0; i < all; ++i)
        result[i] = !by_depth && !sliding[i] && static_cast<Index>(i) >= leading;
      return result;
    }
    case RotatedLayers::not_every_fourth_unless_zero:
      if (width && *width == 0) return none;
      return every(4, 3, count_);
    case RotatedLayers::not_every_fourth: return every(4, 3, count_);
    case RotatedLayers::not_every_first: return width.value_or(0) > 0 ? every(4, 0, count_) : none;
    case RotatedLayers::by_finetuned: {
      const bool finetuned = keys_.file.flag(keys_.key("rope.scaling.finetuned")).value_or(true);
      return std::vector<bool>(all, !finetuned);
    }
    case RotatedLayers::by_rope_pattern: {
      if (!keys_.has("attention.rope_pattern")) return none;
      std::vector<bool> result = flags("attention.rope_pattern");
      result.flip();
      return result;
    }
    case RotatedLayers::depth_32: return std::vector<bool>(all, count_ != 32);
  }
  return none;
}

std::vector<GgufLayer> LayerRules::read() {
  if (count_ == 0 && needs_count()) {
    keys_.file.refuse(fmt::format("metadata key \"{}\" must be there for architecture \"{}\"",
                                  keys_.key("block_count"), keys_.architecture));
  }
  own_count_ = own_count();
  const std::vector<bool> no_attention = without_attention();
  const std::vector<bool> slides = sliding(no_attention);
  const std::vector<bool> rests = resting(slides);
  std::vector<GgufLayer> result(static_cast<std::size_t>(count_), GgufLayer::full);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (static_cast<Index>(i) >= own_count_) {
      result[i] = GgufLayer::further;
    } else if (no_attention[i] || rests[i]) {
      result[i] = GgufLayer::resting;
    } else if (slides[i]) {
      result[i] = GgufLayer::sliding;
    }
  }
  return result;
}

}  // namespace

std::vector<GgufLayer> gguf_layers(GgufKeys& keys, const GgufArchitecture& architecture,
                                   Index count, const std::vector<Index>& key_heads) {
  return LayerRules(keys, architecture, count, key_heads).read();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
