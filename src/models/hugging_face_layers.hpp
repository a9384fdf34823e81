// SPDX-License-Identifier: Apache-2.0
//
// Which layers of a configuration are alike: layer_types and the patterns families have instead.
// Other headers say what each kind's rotation is.
#pragma once

#include <string>
#include <vector>

#include "models/families.hpp"
#include "models/json_object.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

inline constexpr const char* full_attention = "full_attention";
inline constexpr const char* sliding_attention = "sliding_attention";

/// One entry per layer, from layer_types or the family's pattern; empty where neither says. `count`
/// is the number of layers, 0 if unknown.
std::vector<std::string> layer_types(const JsonObject& text, const Family* family, LayerRule rule,
                                     Index count);

/// The layers, from 0, whose type is `name`.
std::vector<Index> layers_of_type(const std::vector<std::string>& types, const std::string& name);

/// Llama 4 and SmolLM 3: the layers that no_rope_layers (or every no_rope_layer_interval-th) leaves
/// rotated.
std::vector<Index> listed_layers(const JsonObject& text, Index count);

/// The layers that cross_attention_layers, attn_layer_indices, block_types or layer_rope_theta
/// leave rotated. `base` is the one of rope_parameters, which layer_rope_theta must repeat.
std::vector<Index> own_layers(const JsonObject& text, LayerRule rule, Index count, double base);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
