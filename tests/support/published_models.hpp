// SPDX-License-Identifier: Apache-2.0
//
// Published models' rotations as values, made by hand: no reader of files is involved.
#pragma once

#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::tool::test {

inline models::LayerRope layer_of(eigen_rope::Index dims, double base, const Scaling& scaling) {
  models::LayerRope layer;
  layer.head_dims = dims;
  layer.powers.rotary_dims = dims;
  layer.powers.base = base;
  layer.scaling = scaling;
  layer.pairing = split_half;
  return layer;
}

inline models::ModelRope model_of(const char* architecture, eigen_rope::Index context,
                                  const models::LayerRope& layer) {
  models::ModelRope model;
  model.architecture = architecture;
  model.context = context;
  model.layers.push_back(layer);
  return model;
}

inline models::ModelRope llama2() {
  return model_of("llama", 4096, layer_of(128, 1e4, Unscaled<>{}));
}
inline models::ModelRope llama31() {
  return model_of("llama", 131072, layer_of(128, 5e5, Llama3<>{8.0, 1.0, 4.0, 8192}));
}

inline models::ModelRope gpt_oss(RampEnds ends) {
  Yarn<> yarn;
  yarn.factor = 32;
  yarn.original_context = 4096;
  yarn.ends = ends;
  return model_of("gpt_oss", 131072, layer_of(64, 150000, yarn));
}

inline models::ModelRope deepseek_v3() {
  Yarn<> yarn;
  yarn.factor = 40;
  yarn.original_context = 4096;
  yarn.mscale = 1.0;
  yarn.mscale_all_dim = 1.0;
  models::LayerRope layer = layer_of(64, 1e4, yarn);
  layer.softmax_multiplier = yarn_softmax_multiplier(40, 1.0);
  return model_of("deepseek_v3", 163840, layer);
}

/// The lists are made up; the factor and the contexts are Phi-3's.
inline models::ModelRope longrope() {
  LongRope<> scaling;
  scaling.factor = 32;
  scaling.original_context = 4096;
  for (int k = 0; k < 48; ++k) {
    scaling.short_factor.push_back(1.05 + 0.03 * k);
    scaling.long_factor.push_back(1.07 + 1.25 * k);
  }
  return model_of("phi3", 131072, layer_of(96, 1e4, scaling));
}

inline models::ModelRope dynamic() {
  return model_of("llama", 2048, layer_of(128, 1e4, DynamicNtkScaling<>{10.0, 2048}));
}
inline models::ModelRope proportional() {
  return model_of("gemma4", 262144, layer_of(512, 1e6, Proportional<>{1.0, 64}));
}

/// Gemma 3's two kinds of layers.
inline models::ModelRope two_kinds() {
  models::ModelRope model = model_of("gemma3", 131072, layer_of(256, 1e6, Linear<>{8.0}));
  model.layers.push_back(layer_of(256, 1e4, Unscaled<>{}));
  model.layers[0].layer_type = "full_attention";
  model.layers[0].layers = {5, 11};
  model.layers[1].layer_type = "sliding_attention";
  model.layers[1].layers = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10};
  return model;
}

}  // namespace eigen_rope::tool::test
