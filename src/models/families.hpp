// SPDX-License-Identifier: Apache-2.0
//
// What Hugging Face's code knows of a model family and its configuration files leave out: how rows pair, and the values its configuration
// classes take where a key is missing.
//
// Source: configuration_*.py and modeling_*.py of transformers 5.23.0, read and not run. Numbers and names only; a family whose code could
// not be read is not in the table. Not here: what a file says.
#pragma once

#include <string_view>

#include "rope/pairing.hpp"

namespace rope::models {

/// How a family's layers differ.
enum class LayerRule {
  /// All alike, unless the file nests its parameters per layer type.
  alike,
  /// full_attention: rope_theta and rope_scaling. sliding_attention: rope_local_base_freq, unscaled. (Gemma 3)
  local_base,
  /// The same without a base of its own. (OLMo 3)
  local_unscaled,
  /// Always nested; full_attention has global_head_dim. (Gemma 4)
  global_head,
  /// Only sliding_attention is rotated. (Cohere 2)
  sliding_only,
  /// linear_attention, which is not rotated, between layers of full attention. (Qwen3-Next)
  linear_between,
  /// no_rope_layers: 1 where a layer is rotated. (Llama 4, SmolLM 3)
  listed,
};

/// Counts are 0 where the class has no value of its own.
struct Family {
  std::string_view model_type;
  PairKind pairs;
  double base = 10000;
  Index hidden = 0;
  Index heads = 0;
  /// 0: hidden / heads.
  Index head_dims = 0;
  Index context = 0;
  /// partial_rotary_factor.
  double partial = 1;
  LayerRule rule = LayerRule::alike;
  /// Every n-th layer has full attention, the others sliding or linear; 0 for none.
  Index pattern = 0;
  /// The class has a scaling of its own for files without one, which is not taken: such files are refused.
  bool needs_parameters = false;
};

/// nullptr for one that is not known.
const Family* find_family(std::string_view model_type);

/// Latent attention (DeepSeek): the row is the part of the head that is split off to be rotated, qk_rope_head_dim.
bool has_latent_attention(std::string_view model_type);

/// Whose attention multiplies its scores by yarn_softmax_multiplier(factor, mscale_all_dim).
bool has_softmax_multiplier(std::string_view model_type);

/// How the rows of a projection that makes q, k and v at once lie.
enum class FusedQkv {
  /// The family has a projection for each.
  none,
  /// For each key head: its query heads, the key, the value. (GPT-NeoX, Falcon)
  grouped,
  /// All of q, all of k, all of v. (Phi-3)
  concatenated,
  /// The family is not known, or its order is neither.
  unknown,
};

FusedQkv fused_qkv(std::string_view model_type);

/// Whose mrope is interleaved whatever the file says.
bool has_interleaved_sections(std::string_view model_type);

}  // namespace rope::models
