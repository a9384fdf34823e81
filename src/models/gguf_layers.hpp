// SPDX-License-Identifier: Apache-2.0
//
// What kind each layer of a GGUF file is: with full attention, sliding, or without rotation, by the
// file's keys and the architecture's rules. Not what they rotate with: that is gguf_scaling.cpp.
#pragma once

#include <vector>

#include "models/gguf_architectures.hpp"
#include "models/gguf_keys.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

enum class GgufLayer {
  full,
  sliding,
  resting,
  /// Predicts tokens further on (nextn_predict_layers): no part of the model's own graph.
  further,
};

/// One for each layer, `count` of them. `key_heads` has one element for all layers or one each, or
/// none.
///
/// Throws for flags of another number than the layers', and in strict for keys that llama.cpp asks
/// for and the file does not have.
std::vector<GgufLayer> gguf_layers(GgufKeys& keys, const GgufArchitecture& architecture,
                                   Index count, const std::vector<Index>& key_heads);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
