// SPDX-License-Identifier: Apache-2.0
//
// What a layer rotates with, in ggml's own numbers, and what they are in this library's.
//
//   ggml applies YaRN's magnitude 1 + 0.1 ln(factor) on its own; llama.cpp divides by it and
//       multiplies by the model's own
//
// As llama.cpp has it: the keys rope.scaling.* that its loader reads for the architecture, and the
// tensors of divisors that its graph takes. A key or a tensor that it does not read is refused
// where it says something else than what is done. Not which layers: gguf_layers.
#pragma once

#include <vector>

#include "models/gguf_architectures.hpp"
#include "models/gguf_keys.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// The parameters of ggml's node, in double.
struct GgufRotation {
  double base = 0;
  /// What rates are divided by: 1 / freq_scale.
  double factor = 1;
  double ext_factor = 0;
  /// ggml's attn_factor, which it multiplies by 1 + 0.1 ln(factor) where ext_factor is not 0.
  double attn_factor = 1;
  double beta_fast = 32;
  double beta_slow = 1;
  Index original_context = 0;
  /// What the file divides by, also where its type is none.
  double file_factor = 1;
  /// DeepSeek's mscale_all_dim, 0 where the file or the architecture has none.
  double mscale_all_dim = 0;
  double softmax_multiplier = 1;
  std::vector<double> divisors{};
  std::vector<double> long_divisors{};
  std::vector<double> short_divisors{};
};

/// That of full layers, whose rotary dims are given; `base` is set. `context` is the model's, 0
/// where it is not known.
GgufRotation read_gguf_rotation(GgufKeys& keys, const GgufArchitecture& architecture, double base,
                                Index context, Index rotary_dims);

/// Sets base, scaling, factors, linear scale, attention factor and softmax multiplier of a layer
/// whose rotary dims are set.
void apply_gguf_rotation(const GgufRotation& rotation, Index context, LayerRope& layer);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
