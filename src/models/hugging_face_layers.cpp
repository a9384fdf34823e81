// SPDX-License-Identifier: Apache-2.0
#include "models/hugging_face_layers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

constexpr const char* linear = "linear_attention";

/// How many of the entries are of layers.
std::size_t counted(std::size_t entries, Index count) {
  return count == 0 ? entries : std::min(entries, static_cast<std::size_t>(count));
}

void require_count(const JsonObject& text, const char* name, std::size_t entries, Index count) {
  if (count == 0 || static_cast<Index>(entries) == count) return;
  text.notes().mind(
      fmt::format("{} must have one entry per layer ({})", text.path(name), count),
      fmt::format("{}", entries),
      counted(entries, count) < entries ? "those beyond are ignored" : "it is taken as it is");
}

}  // namespace

std::vector<std::string> layer_types(const JsonObject& text, const Family* family, LayerRule rule,
                                     Index count) {
  std::vector<std::string> types;
  const char* name =
      text.has("layer_types") ? "layer_types" : "layers_block_type";  // Zamba2's name
  if (const Json* given = text.list(name)) {
    for (const Json& entry : *given) {
      if (!entry.is_string())
        detail::fail(fmt::format("{}[{}] must be a string", text.path(name), types.size()),
                     shown(entry));
      types.push_back(entry.get<std::string>());
    }
    require_count(text, name, types.size(), count);
  } else if (rule == LayerRule::global_local) {
    // ModernBERT begins with full attention.
    const Index every = text.integer("global_attn_every_n_layers", 1)
                            .value_or(family == nullptr ? 0 : family->pattern);
    if (every == 0) return {};
    for (Index layer = 0; layer < count; ++layer)
      types.emplace_back(layer % every == 0 ? full_attention : sliding_attention);
  } else if (rule != LayerRule::alike && rule != LayerRule::listed) {
    const bool between = rule == LayerRule::linear_between;
    const char* period = between                              ? "full_attention_interval"
                         : text.has("sliding_window_pattern") ? "sliding_window_pattern"
                                                              : "_sliding_window_pattern";
    const Index known = family == nullptr ? 0 : family->pattern;
    Index pattern = text.integer(period, 1).value_or(known);
    if (*period == '_' && pattern != known && known != 0) {
      text.mind(period,
                fmt::format("must be {}, or layer_types must be in the file: Hugging Face does not "
                            "read this name",
                            known),
                fmt::format("{} is taken, as Hugging Face does", known));
      pattern = known;
    }
    if (pattern == 0) return {};
    for (Index layer = 0; layer < count; ++layer)
      types.emplace_back((layer + 1) % pattern == 0 ? full_attention
                         : between                  ? linear
                                                    : sliding_attention);
  }
  if (rule == LayerRule::global_head && !types.empty() && types.back() != full_attention) {
    text.notes().mind(
        fmt::format("the last layer of {} must be {}", text.path("layer_types"), full_attention),
        types.back(), "it is made so, as Hugging Face does");
    types.back() = full_attention;
  }
  types.resize(counted(types.size(), count));
  return types;
}

std::vector<Index> layers_of_type(const std::vector<std::string>& types, const std::string& name) {
  std::vector<Index> layers;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == name) layers.push_back(static_cast<Index>(i));
  }
  return layers;
}

std::vector<Index> listed_layers(const JsonObject& text, Index count) {
  std::vector<Index> layers;
  const Json* given = text.list("no_rope_layers");
  if (given != nullptr && !given->empty()) {
    require_count(text, "no_rope_layers", given->size(), count);
    for (std::size_t i = 0; i < counted(given->size(), count); ++i) {
      const Json& entry = (*given)[i];
      if (entry != Json(0) && entry != Json(1))
        detail::fail(fmt::format("{}[{}] must be 0 or 1", text.path("no_rope_layers"), i),
                     shown(entry));
      if (entry == Json(1)) layers.push_back(static_cast<Index>(i));
    }
    return layers;
  }
  const Index interval = text.integer("no_rope_layer_interval", 1).value_or(4);
  for (Index layer = 0; layer < count; ++layer) {
    if ((layer + 1) % interval != 0) layers.push_back(layer);
  }
  return layers;
}

std::vector<Index> own_layers(const JsonObject& text, LayerRule rule, Index count, double base) {
  const bool listed = rule == LayerRule::cross_listed || rule == LayerRule::attention_listed;
  const char* name = rule == LayerRule::cross_listed       ? "cross_attention_layers"
                     : rule == LayerRule::attention_listed ? "attn_layer_indices"
                     : rule == LayerRule::blocks           ? "block_types"
                                                           : "layer_rope_theta";
  const Json* given = text.list(name);
  if (given == nullptr || (given->empty() && !listed))
    text.require(name, "in this family, whose layers differ");
  if (count == 0) text.require("num_hidden_layers", fmt::format("with {}", name));
  if (rule == LayerRule::layer_bases) require_count(text, name, given->size(), count);
  std::vector<Index> layers;
  for (Index layer = 0; layer < count; ++layer) {
    const auto place = static_cast<std::size_t>(layer);
    if (listed) {
      const bool named = std::find(given->begin(), given->end(), Json(layer)) != given->end();
      if (named == (rule == LayerRule::attention_listed)) layers.push_back(layer);
      continue;
    }
    if (rule == LayerRule::blocks) {
      if ((*given)[place % given->size()] == Json("attention")) layers.push_back(layer);
      continue;
    }
    const Json entry = place < given->size() ? (*given)[place] : Json(base);
    if (!entry.is_number())
      detail::fail(fmt::format("{}[{}] must be a number", text.path(name), layer), shown(entry));
    if (entry.get<double>() == 0) continue;
    layers.push_back(layer);
    if (entry.get<double>() != base) {
      text.notes().mind(
          fmt::format("{}[{}] must be 0 or the base ({})", text.path(name), layer, base),
          shown(entry), "the base is taken");
    }
  }
  return layers;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
