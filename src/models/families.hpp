// SPDX-License-Identifier: Apache-2.0
//
// What Hugging Face's code knows of a model type and its configuration files leave out: how rows
// pair, which layers rotate, and the values its configuration class takes where a key is missing.
//
// The rows (families_table.inc) are written by scripts/record_models/hugging_face_table.py from
// what transformers' own classes answered; tests/models/hugging_face_recorded_test.cpp compares
// them in every run. What a file says is read elsewhere.
#pragma once

#include <string_view>

#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/models/projections.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// How a family's layers differ.
enum class LayerRule {
  /// All alike, unless the file nests its parameters per layer type.
  alike,
  /// full_attention: rope_theta and rope_scaling. sliding_attention: rope_local_base_freq,
  /// unscaled. (Gemma 3)
  local_base,
  /// The same without a base of its own. (OLMo 3)
  local_unscaled,
  /// full_attention: global_rope_theta. sliding_attention: local_rope_theta. rope_scaling for both.
  /// (ModernBERT)
  global_local,
  /// Always nested; full_attention has global_head_dim. (Gemma 4)
  global_head,
  /// Only sliding_attention is rotated. (Cohere 2)
  sliding_only,
  /// linear_attention, which is not rotated, between layers of full attention. (Qwen3-Next)
  linear_between,
  /// no_rope_layers: 1 where a layer is rotated. (Llama 4, SmolLM 3)
  listed,
  /// cross_attention_layers: those that are not rotated. (Llama 3.2 Vision)
  cross_listed,
  /// attn_layer_indices: those that are rotated. (Bamba)
  attention_listed,
  /// block_types, repeated: those called attention are rotated. (RecurrentGemma)
  blocks,
  /// layer_rope_theta: a base per layer, 0 where it is not rotated. (Granite with sliding windows)
  layer_bases,
};

/// What a class does with partial_rotary_factor when the rope type is default.
enum class Share { ignored, honoured };

/// Which configurations of a class are read: `any` is the old form (rope_theta, rope_scaling), the
/// new one (rope_parameters) and none of them; `with_parameters` needs one of the two forms,
/// because the class has a scaling of its own; `saved` needs rope_parameters; `fixed` reads neither
/// base nor scaling; `outside` reads rope_theta alone.
enum class Forms { any, with_parameters, saved, fixed, outside };

/// What the logits are multiplied by besides 1 / sqrt(d): nothing, or DeepSeek's rule for
/// mscale_all_dim.
enum class SoftmaxRule { none, mscale_all_dim };

/// How position sections are dealt to pairs where the class takes several positions a token. split:
/// the two elements of a pair may lie in different sections, so that only equal positions on all
/// axes make a rotation.
enum class MropeOrder { none, contiguous, interleaved, split, other };

/// What becomes of alpha beside the rope type dynamic: nothing, or the base is multiplied by
/// alpha^(d / (d - 2)) once and for all.
enum class AlphaRule { none, scales_base };

/// Counts are 0 where the class has no value of its own.
struct Family {
  std::string_view model_type;
  PairKind pairs;
  /// 0 where every layer type has its own.
  double base = 10000;
  Index hidden = 0;
  Index heads = 0;
  /// 0: hidden / heads.
  Index head_dims = 0;
  Index context = 0;
  /// partial_rotary_factor; 0 where each layer type has its own.
  double partial = 1;
  Share share = Share::ignored;
  LayerRule rule = LayerRule::alike;
  /// Every n-th layer has full attention, the others sliding or linear; 0 for none.
  Index pattern = 0;
  Forms forms = Forms::any;
  /// rope_parameters stand per layer type.
  bool nested = false;
  /// The row is the part of the head that is split off to be rotated, qk_rope_head_dim (latent
  /// attention).
  bool latent = false;
  SoftmaxRule softmax = SoftmaxRule::none;
  MropeOrder mrope = MropeOrder::none;
  AlphaRule alpha = AlphaRule::none;
  /// mrope_section where the file has none.
  Index sections[3] = {0, 0, 0};
  /// Layer types that rotate and those that do not, separated by blanks; others have no rule. Both
  /// empty: the class reads no layer types.
  std::string_view rotated{};
  std::string_view resting{};
  FusedQkv fused = FusedQkv::none;
  /// What the strict reader refuses it for; empty for nothing.
  std::string_view doubt{};
};

/// Model types without rotated text of their own.
enum class Silent {
  /// Nothing rotates.
  not_rotated,
  /// A part of it is text: its model_type is `text`.
  composite,
  /// It takes pixels or sound.
  tower,
};

struct SilentFamily {
  std::string_view model_type;
  Silent kind;
  /// The model_type of a composite's text.
  std::string_view text{};
  /// Where it stands.
  std::string_view key{};
};

/// nullptr for one that is not known.
const Family* find_family(std::string_view model_type);

/// nullptr for one that is not known.
const SilentFamily* find_silent_family(std::string_view model_type);

/// The whole table, in the order of names.
const Family* families_begin();
const Family* families_end();

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
