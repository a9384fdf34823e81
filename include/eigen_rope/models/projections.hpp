// SPDX-License-Identifier: Apache-2.0
//
// The order of the weights that make q, k and v in a model type of transformers, which a program
// that permutes them must know and no file says.
//
//   eigen_rope::models::FusedQkv order = eigen_rope::models::fused_qkv("phi3");        concatenated
//
// The rules are those of transformers 5.23.0. hugging_face.hpp says how rows pair and what is
// rotated. Programs link eigen_rope::models.
#pragma once

#include <string_view>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// The order of the rows of a fused projection of q, k and v.
enum class FusedQkv {
  /// There is no fused projection: q, k and v have one each.
  none,
  /// For each key head its query heads, the key and the value, as in GPT-NeoX.
  grouped,
  /// All of q, all of k, all of v, as in Phi-3.
  concatenated,
  /// The order is neither, depends on the configuration, or is not known.
  unknown,
};

/// Returns the order of the rows of a model type's fused projection.
///
/// It is FusedQkv::unknown for a model type that is not in the table.
/// \code{.cpp}
/// const er::models::FusedQkv order = er::models::fused_qkv("phi3");
/// const bool can_be_split = order == er::models::FusedQkv::concatenated;
/// \endcode
///
/// \param model_type  the name in config.json
///
/// - Errors:   throws nothing.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(log of the table).
/// \see \ref convert "eigen-rope convert"
EIGEN_ROPE_API FusedQkv fused_qkv(std::string_view model_type);

/// Returns whether a model type has latent attention: whether the row that is rotated is a part of
/// the head that is split off (DeepSeek's qk_rope_head_dim).
///
/// It returns false for a model type that is not in the table.
/// \code{.cpp}
/// const bool split_off = er::models::has_latent_attention("deepseek_v3");
/// \endcode
///
/// \param model_type  the name in config.json
///
/// - Errors:   throws nothing.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(log of the table).
/// \see \ref configurations "Reading configurations"
EIGEN_ROPE_API bool has_latent_attention(std::string_view model_type);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
