// SPDX-License-Identifier: Apache-2.0
//
// What a GGUF file says about its model's rotation.
//
//   eigen_rope::models::ModelRope model = eigen_rope::models::read_gguf("model.gguf");
//   eigen_rope::Cache<float> cache(model.layers.front().frequencies(tokens), positions);
//
// It is read as llama.cpp applies it: ggml's YaRN with the magnitude llama.cpp hands to it,
// frequency factors from the tensor rope_freqs.weight (Llama 3.1), LongRoPE from
// rope_factors_long.weight and rope_factors_short.weight, pairs and sliding layers by the
// architecture's name. Keys and table: docs/gguf.md. Not read: weights, tokenizers, vision
// encoders, adapters.
#pragma once

#include <filesystem>

#include "eigen_rope/models/model_rope.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::models {

/// The rotation of the model in a GGUF file of version 2 or 3, in either byte order. Of a split
/// model, give the first part: the others are opened beside it.
///
/// `layers` has one entry where all layers rotate alike, full_attention and sliding_attention where
/// they do not; layers that do not rotate are in none, and a warning names them. Units: tokens and
/// radians per token. Numbers are the file's, mostly float32, widened to double, and nothing is
/// rounded again but 1 / factor and the magnitude (to 4 ulp); llama.cpp rounds these two to
/// float32.
///
/// Strict: an architecture whose rotation is not known, a key that sounds like rotation and that
/// llama.cpp does not read for the architecture where it says something else than what is done,
/// divisors that its graph does not take, a missing part of a split model, a scaling that lacks its
/// factor or (YaRN) its original context, a factor below 1, a missing context length throw.
/// Lenient: llama.cpp's answer with a warning, where it has one. Warnings in both: whatever
/// llama.cpp fills in (rotary dims, base 10000), a factor that is not context over original
/// context, layers that do not rotate. A model none of whose layers rotates throws in both, and
/// says so.
///
/// - Errors:   eigen_rope::Error for a file that cannot be read, is not GGUF or contradicts itself,
///             one sentence naming file, key or tensor, and value; std::bad_alloc. Nothing that a
///             file claims is allocated before it is compared with the file's size.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(header), at most 256 MiB of it, plus O(rotary dims): the weights are never read.
EIGEN_ROPE_API ModelRope read_gguf(const std::filesystem::path& path,
                                   Strictness strictness = Strictness::strict);

}  // namespace eigen_rope::models
