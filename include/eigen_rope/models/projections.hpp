// SPDX-License-Identifier: Apache-2.0
//
// How the weights that make q, k and v lie in a model type of transformers: what a program that
// permutes them must know, and no file says.
//
//   eigen_rope::models::FusedQkv order = eigen_rope::models::fused_qkv("phi3");        concatenated
//
// Rules of transformers 5.23.0. hugging_face.hpp says how rows pair and what is rotated.
#pragma once

#include <string_view>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::models {

/// How the rows of a fused projection of q, k and v lie.
enum class FusedQkv {
  /// The family has a projection for each.
  none,
  /// For each key head: its query heads, the key, the value. (GPT-NeoX)
  grouped,
  /// All of q, all of k, all of v. (Phi-3)
  concatenated,
  /// The order is neither, depends on the configuration, or is not known.
  unknown,
};

/// unknown for a model type that is not in the table.
///
/// - Errors:   throws nothing.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(log of the table).
EIGEN_ROPE_API FusedQkv fused_qkv(std::string_view model_type);

/// Whether the row that is rotated is a part of the head that is split off (DeepSeek's
/// qk_rope_head_dim); false for a model type that is not in the table.
///
/// - Errors:   throws nothing.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(log of the table).
EIGEN_ROPE_API bool has_latent_attention(std::string_view model_type);

}  // namespace eigen_rope::models
