// SPDX-License-Identifier: Apache-2.0
//
// What a published model's files say about its rotation, as values of this library.
//
//   eigen_rope::models::ModelRope model = eigen_rope::models::read_hugging_face("config.json");
//                       hugging_face.hpp; gguf.hpp for GGUF
//   eigen_rope::Frequencies f = model.layers.front().frequencies(model.context);
//
// One LayerRope for each kind of layer: models with sliding windows have two or more, most have
// one. The headers beside this one read files. Nothing about the model is kept that does not
// concern the rotation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::models {

/// What becomes of what a file should not say.
enum class Strictness {
  /// An unknown type, a missing key, a value outside its range throw.
  strict,
  /// What Hugging Face would do about it is done, with a warning, wherever that is defined; the
  /// rest throws.
  lenient,
};

/// The rotation of one kind of layer. A value.
struct LayerRope {
  /// As the file names it (full_attention, sliding_attention), on one line; empty where all layers
  /// are alike.
  std::string layer_type{};
  /// Which layers these are, from 0, ascending; empty where the file does not say or all layers are
  /// alike.
  std::vector<Index> layers{};
  /// Width of a row, of which powers.rotary_dims are rotated; > 0.
  Index head_dims = 0;
  Powers<> powers{};  ///< Base, dims and the rest, before scaling.
  Scaling scaling{};  ///< What becomes of the powers.
  /// How rows pair, window included; empty where it is neither in the file nor known of this
  /// architecture.
  std::optional<Pairing> pairing{};
  /// Several positions a token (mrope); empty for one.
  std::optional<Sections> sections{};
  /// What the logits are multiplied by besides 1 / sqrt(d): DeepSeek's rule for YaRN
  /// (yarn_softmax_multiplier), otherwise 1. Not part of the frequencies.
  double softmax_multiplier = 1.0;

  /// For a sequence of `length` tokens. Throws eigen_rope::Error as eigen_rope::frequencies.
  EIGEN_ROPE_API Frequencies frequencies(Index length = 0) const;
};

/// A value. The counts are 0 where the file does not say.
struct ModelRope {
  /// model_type or general.architecture, on one line.
  std::string architecture{};
  /// Tokens the model is meant for (max_position_embeddings, context_length).
  Index context = 0;
  Index layer_count = 0;  ///< Layers, those that do not rotate included.
  Index heads = 0;        ///< Query heads.
  Index key_heads = 0;    ///< Key and value heads.
  /// At least one.
  std::vector<LayerRope> layers{};
  /// What a specialist would want to know of the file, a sentence each, naming the key.
  std::vector<std::string> warnings{};
};

}  // namespace eigen_rope::models
