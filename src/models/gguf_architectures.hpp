// SPDX-License-Identifier: Apache-2.0
//
// What llama.cpp knows of an architecture and its files do not say: how rows pair, which layers slide or do not rotate, and what sliding
// layers rotate with.
//
// Read from llama.cpp's source in versions of autumn 2026 (llama_model_rope_type in src/llama-model.cpp, src/llama-arch.cpp, the loaders
// of src/models); docs/gguf.md says which. Facts only. Not the meaning of keys: that is gguf.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "rope/shape.hpp"

namespace rope::models {

/// llama.cpp's rope types.
enum class GgufRope {
  /// The architecture has no rotation.
  none,
  /// Pairs (2k, 2k+1).
  normal,
  /// Pairs (k, k + n/2).
  neox,
  /// neox with four positions a token, sections one after the other; or taken in turn.
  mrope,
  imrope,
  /// mrope where the file has sections.
  normal_or_mrope,
  neox_or_mrope,
};

/// Which layers slide where the file does not say.
enum class SlidingPattern {
  /// As the file says, otherwise none.
  from_file,
  /// All but the last layer of each period.
  last_is_full,
  /// All but the first.
  first_is_full,
};

/// What sliding layers rotate with where the file gives them no base.
enum class SlidingRates {
  /// What the other layers rotate with.
  same,
  /// Their base, nothing scaled.
  unscaled,
  /// Base 10000, nothing scaled.
  unscaled_10000,
};

/// Which layers rotate at all.
enum class RotatedLayers {
  all,
  /// Those that slide, where any does.
  sliding,
  /// Those, and the first leading_dense_block_count.
  sliding_and_leading,
  /// All but every fourth: 3, 7, 11, ...
  not_every_fourth,
};

struct GgufArchitecture {
  std::string_view name;
  GgufRope rope = GgufRope::normal;
  SlidingPattern pattern = SlidingPattern::from_file;
  Index period = 0;
  SlidingRates rates = SlidingRates::same;
  RotatedLayers rotated = RotatedLayers::all;
};

/// nullptr for a name that is not in the table.
const GgufArchitecture* find_architecture(std::string_view name);

/// Whether the rotated elements are the last of each row where the file has no attention.key_length_mla, which says so itself.
bool gguf_rotates_the_end(std::string_view name);

/// Whether rope.scaling.yarn_log_multiplier is a tenth of mscale_all_dim and the logits are multiplied (DeepSeek's latent attention).
bool gguf_has_latent_attention(std::string_view name);

}  // namespace rope::models
