// SPDX-License-Identifier: Apache-2.0
//
// What the keys rope.scaling.* and the tensors of divisors make of a layer's powers: linear, YaRN, LongRoPE or divisors for all lengths.
//
//   ggml applies YaRN's magnitude 1 + 0.1 ln(factor) on its own; llama.cpp divides by it and multiplies by the model's own
//
// As llama.cpp has it. Not which layers are scaled: that is gguf.cpp.
#pragma once

#include "models/gguf_keys.hpp"

namespace rope::models {

/// Sets scaling, factors, linear scale, attention factor and softmax multiplier of a layer whose rotary dims are set. `context` is the
/// model's, 0 where it is not known.
void apply_gguf_scaling(GgufKeys& keys, Index context, LayerRope& layer);

}  // namespace rope::models
