// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a published model as values of this library, as the readers find it in the
// model's files.
//
//   eigen_rope::models::ModelRope model = eigen_rope::models::read_hugging_face("config.json");
//                       hugging_face.hpp; gguf.hpp for GGUF
//   eigen_rope::Frequencies f = model.layers.front().frequencies(model.context);
//
// A ModelRope has one LayerRope for each kind of layer: models with sliding windows have two or
// more, most have one. Only what concerns the rotation is kept. Programs link eigen_rope::models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// The treatment of unknown, missing or invalid entries of a file.
enum class Strictness {
  /// An unknown type, a missing key or a value outside its range throws.
  strict,
  /// The reader does what the file's own system would do (transformers or llama.cpp), with a
  /// warning, wherever that is defined; the rest throws.
  lenient,
};

/// The rotation of one kind of layer.
///
/// \code{.cpp}
/// const er::models::ModelRope model = er::models::read_hugging_face("config.json");
/// for (const er::models::LayerRope& layer : model.layers)
///   std::cout << layer.layer_type << ": " << layer.frequencies(model.context) << '\n';
/// \endcode
struct LayerRope {
  /// The layer type as the file names it (full_attention, sliding_attention), on one line; empty
  /// where all layers are alike.
  std::string layer_type{};
  /// The numbers of these layers, from 0 and ascending; empty where the file does not say or all
  /// layers are alike.
  std::vector<Index> layers{};
  /// The width of a row, of which powers.rotary_dims elements are rotated; positive.
  Index head_dims = 0;
  Powers<> powers{};  ///< Base, dims and the rest, before scaling.
  Scaling scaling{};  ///< The scaling of the powers.
  /// The way rows pair, with the window; empty where it is neither in the file nor known of this
  /// architecture.
  std::optional<Pairing> pairing{};
  /// The sections of models whose tokens have several positions (mrope); empty for one position.
  std::optional<Sections> sections{};
  /// The factor of the logits besides 1 / sqrt(d): DeepSeek's rule for YaRN
  /// (yarn_softmax_multiplier), otherwise 1. It is no part of the frequencies.
  double softmax_multiplier = 1.0;

  /// Returns the rates and the attention factor of these layers.
  ///
  /// \code{.cpp}
  /// const er::models::ModelRope model = er::models::read_gguf("model.gguf");
  /// const er::Frequencies f = model.layers.front().frequencies(model.context);
  /// \endcode
  ///
  /// \param length  the number of tokens of the sequence, for scalings that depend on it
  ///
  /// - Errors:   eigen_rope::Error in the cases of Frequencies(powers, scaling, length).
  /// - Cost:     O(rotary dims).
  EIGEN_ROPE_API Frequencies frequencies(Index length = 0) const;
};

/// The rotation of a model; counts are 0 where the file does not say.
///
/// \code{.cpp}
/// const er::models::ModelRope model = er::models::read_hugging_face("config.json");
/// std::cout << model.architecture << ", " << model.layer_count << " layers\n";
/// \endcode
/// \see \ref configurations "Reading configurations", \ref gguf "GGUF files"
struct ModelRope {
  /// The file's model_type or general.architecture, on one line.
  std::string architecture{};
  /// The number of tokens the model is meant for (max_position_embeddings, context_length).
  Index context = 0;
  Index layer_count = 0;  ///< The number of layers, those that do not rotate included.
  Index heads = 0;        ///< The number of query heads.
  Index key_heads = 0;    ///< The number of key and value heads.
  /// The kinds of layers that rotate; at least one.
  std::vector<LayerRope> layers{};
  /// Remarks on the file for specialists, one sentence each, which names the key.
  std::vector<std::string> warnings{};
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
