// SPDX-License-Identifier: Apache-2.0
//
// What llama.cpp knows of an architecture and its files do not say: how rows pair, which layers
// slide or do not rotate, what sliding layers rotate with, and which keys are read at all.
//
// Each fact is checked in every test run against the graphs that llama.cpp executed
// (tests/data/models/recorded/llama_cpp.json, written by scripts/record_models/llama_cpp.sh). Facts
// only. Not the meaning of keys: that is gguf.cpp, gguf_layers.cpp and gguf_rotation.cpp.
#pragma once

#include <string_view>

#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// How rows pair, in llama.cpp's words.
enum class GgufRope {
  /// No layer of any file rotates.
  none,
  /// llama.cpp has the name, and what it does has not been recorded.
  unrecorded,
  /// Not a language model: the vision tower of one (mmproj).
  vision_tower,
  /// Pairs (2k, 2k+1).
  normal,
  /// Pairs (k, k + n/2).
  neox,
  /// neox with four positions a token, sections one after the other; or taken in turn.
  mrope,
  imrope,
  /// mrope where the file has two sections or more.
  normal_or_mrope,
  neox_or_mrope,
  /// mrope where the file has any section.
  neox_or_mrope_by_any,
};

/// Which layers slide.
enum class SlidingLayers {
  none,
  /// All but the last, or the first, of each period: the table's, unless the file has a period or
  /// flags of its own.
  last_is_full,
  first_is_full,
  /// The flags of the file, which must be there.
  flags,
  /// All layers with attention.
  all,
  /// Those whose attention.compress_ratios is 0.
  uncompressed,
};

/// What makes them slide.
enum class SlidingWhen {
  /// attention.sliding_window above 0.
  window,
  /// Nothing: the key must be there, and its value does not matter.
  always,
  /// Nothing, and the key may be missing.
  regardless,
  /// The key is missing or above 0.
  unless_zero,
  /// 64 layers.
  depth_64,
};

/// The base of sliding layers.
enum class SlidingBase {
  /// That of the others; rope.freq_base_swa is not read.
  same,
  /// rope.freq_base_swa, otherwise that of the others, or 10000.
  file_or_same,
  file_or_10000,
};

/// What becomes of the file's scaling in sliding layers.
enum class SlidingScaling {
  /// As in the others.
  same,
  /// The same, and rates are divided even where the type is none.
  by_factor,
  /// Rates are not divided; the magnitude stays.
  undivided,
  /// Nothing is scaled.
  none,
};

/// How wide rows and windows of sliding layers (key_length_swa, dimension_count_swa) and of the
/// others are.
enum class SlidingRows {
  /// Each kind has its own.
  own,
  /// All have those of layer 0's kind; all slide in deepseek4's cache.
  first_layers,
  always_sliding,
  /// Sliding layers have their own, the others those of layer 0's kind.
  full_as_first,
};

/// Which layers predict further tokens.
enum class FurtherLayers {
  /// The last nextn_predict_layers.
  by_key,
  /// Those, where their tensors are in the file.
  by_tensors,
};

/// Which layers rotate at all, besides those that have no attention.
enum class RotatedLayers {
  all,
  /// Those that slide, where any does.
  sliding,
  /// Those, and the first leading_dense_block_count.
  sliding_and_leading,
  /// All but 3, 7, 11, ...
  not_every_fourth,
  /// The same, unless attention.sliding_window is 0.
  not_every_fourth_unless_zero,
  /// All but 0, 4, 8, ..., where attention.sliding_window is above 0.
  not_every_first,
  /// All, and none where rope.scaling.finetuned is false.
  by_finetuned,
  /// Those that attention.rope_pattern says, all where it is missing.
  by_rope_pattern,
  /// All in a model of 32 layers, otherwise none.
  depth_32,
};

/// Which layers have no attention (they are recurrent), besides those without key heads where
/// `by_key_heads`.
enum class RecurrentLayers {
  /// attention.head_count_kv 0.
  by_key_heads,
  /// attention.recurrent_layers, otherwise all but the last of each full_attention_interval: 4, or
  /// 8, where the file has none.
  by_interval_4,
  by_interval_8,
};

/// Where the rotated elements lie in a row that has more.
enum class RotatedPart { first, last };

/// What of rope.scaling.* is applied.
enum class AppliedScaling {
  all,
  /// Rates; the magnitude is 1.
  rates,
  /// Nothing, and the base is 10000.
  none,
};

/// What rope.scaling.yarn_log_multiplier is.
enum class LogMultiplier { not_read, as_it_is, tenth };

/// DeepSeek's mscale, which GGUF does not have.
enum class MscaleOfModel { one, as_mscale_all_dim };

/// Whether the logits are multiplied as DeepSeek's latent attention does.
enum class LogitsRule { plain, squared_magnitude };

/// Which of the keys yarn_ext_factor, yarn_attn_factor, yarn_beta_fast and yarn_beta_slow are read.
enum class YarnKeys { none, betas, all };

/// Which tensors of divisors the graph takes.
enum class DivisorTensors {
  none,
  /// rope_freqs.weight
  one,
  /// That; or rope_factors_long.weight and rope_factors_short.weight for scaling longrope.
  one_or_two,
  /// The latter two.
  two,
};

/// What rope.scaling.alpha does.
enum class AlphaKey {
  not_read,
  /// The base times alpha^(d / (d - 2)), d the row's width.
  scales_base,
};

/// Whether rope.dimension_count may be less than the row.
enum class PartialRows {
  allowed,
  /// llama.cpp refuses it.
  refused,
  /// The key is not read: whole rows rotate.
  not_read,
};

struct GgufArchitecture {
  std::string_view name;
  GgufRope rope = GgufRope::normal;
  SlidingLayers sliding = SlidingLayers::none;
  Index period = 0;
  SlidingWhen when = SlidingWhen::window;
  SlidingBase sliding_base = SlidingBase::same;
  SlidingScaling sliding_scaling = SlidingScaling::same;
  /// Those of sliding layers.
  DivisorTensors sliding_divisors = DivisorTensors::none;
  SlidingRows sliding_rows = SlidingRows::own;
  FurtherLayers further = FurtherLayers::by_key;
  RotatedLayers rotated = RotatedLayers::all;
  RecurrentLayers recurrent = RecurrentLayers::by_key_heads;
  RotatedPart part = RotatedPart::first;
  /// What full layers' rope.dimension_count is divided by.
  Index full_dims_divisor = 1;
  AppliedScaling applied = AppliedScaling::all;
  YarnKeys yarn_keys = YarnKeys::none;
  double beta_fast = 32;
  LogMultiplier log_multiplier = LogMultiplier::not_read;
  MscaleOfModel mscale = MscaleOfModel::one;
  LogitsRule logits = LogitsRule::plain;
  DivisorTensors divisors = DivisorTensors::none;
  AlphaKey alpha = AlphaKey::not_read;
  PartialRows partial = PartialRows::allowed;
};

/// nullptr for a name that is not in the table.
const GgufArchitecture* find_architecture(std::string_view name);

/// All of them, by name.
struct GgufArchitectureRange {
  const GgufArchitecture* first;
  const GgufArchitecture* last;
  const GgufArchitecture* begin() const { return first; }
  const GgufArchitecture* end() const { return last; }
};
GgufArchitectureRange gguf_architectures();

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
