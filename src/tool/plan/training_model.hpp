// SPDX-License-Identifier: Apache-2.0
//
// What a plan must know of a model: the widths of its matrices, and which layers rotate how much
// and see how far, from its config.json.
//
//   parameters   head and embedding      vocabulary * width, once where they are tied
//                a layer                  width * (2 heads + 2 key heads) * head dims
//                                         + (2 or 3) width * mlp width + 2 width
//
// The rotation comes from models::read_hugging_face, the widths from the same part of the file.
// Biases, and norms of heads, are not counted. Models that are not a stack of dense layers
// (mixtures of experts, latent or linear attention) are refused.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::tool {

/// The matrices of a layer's MLP: up and down, or gate, up and down.
enum class MlpKind { plain, gated };

/// Whether the head multiplies by the embedding's matrix or by one of its own.
enum class HeadMatrix { own, tied };

/// Layers that cost the same.
struct LayerGroup {
  std::string layer_type{};  ///< As the file names it; empty where all are alike.
  eigen_rope::Index count = 0;
  eigen_rope::Index head_dims = 0;
  eigen_rope::Index rotary_dims = 0;  ///< 0 for layers that do not rotate.
  /// How many tokens a query sees, itself among them; 0 for all before it.
  eigen_rope::Index window = 0;
  int table = 0;  ///< Layers with the same number share a table of cos and sin.
};

struct TrainingModel {
  std::string architecture{};
  eigen_rope::Index context = 0;  ///< Tokens that the model is meant for; 0 where it is not said.
  eigen_rope::Index width = 0, mlp_width = 0, vocabulary = 0, heads = 0, key_heads = 0;
  MlpKind mlp = MlpKind::gated;
  HeadMatrix head = HeadMatrix::own;
  PairKind pairing = PairKind::split_half;
  std::vector<LayerGroup> layers{};
  std::vector<std::string> warnings{};

  eigen_rope::Index layer_count() const;
};

/// Reads config.json, or that of a folder. `mlp` is for families whose MLP a plan does not know.
///
/// Throws eigen_rope::Error as models::read_hugging_face, and FileError in one sentence for a model
/// without a rotation, a width that is missing or past 2^24, and models of other kinds.
TrainingModel read_training_model(const std::filesystem::path& path, models::Strictness strictness,
                                  std::optional<MlpKind> mlp = std::nullopt);

}  // namespace eigen_rope::tool
