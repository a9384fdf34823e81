// SPDX-License-Identifier: Apache-2.0
//
// One object of rope parameters (rope_scaling, rope_parameters or a layer type's part of it) as
// Powers and a Scaling, by the rules of Hugging Face's modeling_rope_utils.py. The callers find the
// object, and add what a family adds.
#pragma once

#include <optional>
#include <string>

#include "eigen_rope/models/model_rope.hpp"
#include "models/json_object.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// What lies outside the object of parameters.
struct RopeSurroundings {
  /// max_position_embeddings; 0 if unknown.
  Index context = 0;
  std::string context_path = "max_position_embeddings";
  /// original_max_position_embeddings beside the object (Phi-3).
  std::optional<Index> original_context{};
  /// "yarn" means longrope, as in early files of Phi-3.
  bool yarn_is_longrope = false;
  /// One of several layer types.
  bool nested = false;
  /// The family reads dynamic with alpha as another base; so rope_type() gives "alpha" for it.
  bool alpha_scales_base = false;
  /// "xdrope" means dynamic, as in files of HunyuanOCR.
  bool xdrope_is_dynamic = false;
  /// The family multiplies attention scores by yarn_softmax_multiplier.
  bool softmax_multiplier = false;
};

/// rope_type or type, synonyms resolved: default, linear, dynamic, alpha, yarn, deepseek_yarn,
/// llama3, longrope or proportional; default where there is no object. Throws eigen_rope::Error for
/// any other.
std::string rope_type(const JsonObject* parameters, const RopeSurroundings& surroundings);

/// Refuses keys the type does not read.
void require_known_keys(const JsonObject& parameters, const std::string& type);

/// Fills in layer.scaling, powers.attention_factor and softmax_multiplier. layer.head_dims and
/// powers.rotary_dims must be there. `fraction` is partial_rotary_factor, which proportional reads
/// as a share of the pairs.
void read_scaling(const JsonObject& parameters, const std::string& type, double fraction,
                  const RopeSurroundings& surroundings, LayerRope& layer);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
