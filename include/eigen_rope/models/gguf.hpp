// SPDX-License-Identifier: Apache-2.0
//
// The reader of what a GGUF file says about its model's rotation.
//
//   eigen_rope::models::ModelRope model = eigen_rope::models::read_gguf("model.gguf");
//   eigen_rope::Cache<float> cache(model.layers.front().frequencies(tokens), positions);
//
// It reads a file as llama.cpp applies it: ggml's YaRN with the magnitude that llama.cpp hands to
// it, frequency factors from the tensor rope_freqs.weight (Llama 3.1), LongRoPE from
// rope_factors_long.weight and rope_factors_short.weight, and pairs and sliding layers by the
// architecture's name. docs/gguf.md lists the keys and the architectures. Weights, tokenizers,
// vision encoders and adapters are not read. Programs link eigen_rope::models.
#pragma once

#include <filesystem>

#include "eigen_rope/models/model_rope.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// Reads the rotation of the model in a GGUF file of version 2 or 3, in either byte order.
///
/// \code{.cpp}
/// const er::models::ModelRope model = er::models::read_gguf("model.gguf");
/// const er::models::LayerRope& layer = model.layers.front();
/// const er::Cache<float> table(layer.frequencies(tokens), positions);
/// if (layer.pairing) y = er::rotate(x, table, *layer.pairing);
/// \endcode
///
/// \param path        the file; of a split model the first part, beside which the others are opened
/// \param strictness  what happens to unknown, missing or invalid entries
///
/// ModelRope::layers has one entry where all layers rotate alike, and otherwise full_attention and
/// sliding_attention. Layers that do not rotate are in no entry, and a warning names them.
/// Positions count tokens, and rates are radians per token. Numbers are the file's, mostly float32,
/// widened to double. Only 1 / factor and the magnitude are rounded again (to 4 ulp); llama.cpp
/// rounds these two to float32.
///
/// With Strictness::strict the function throws for an architecture whose rotation is not known; for
/// a key that sounds like rotation, that llama.cpp does not read for the architecture and that says
/// something else than what is done; for divisors that llama.cpp's graph does not take; for a
/// missing part of a split model; for a scaling that lacks its factor or (YaRN) its original
/// context; for a factor below 1; and for a missing context length. With Strictness::lenient it
/// gives llama.cpp's answer and a warning wherever llama.cpp has one. Both warn of whatever
/// llama.cpp fills in (rotary dims, base 10000), of a factor that is not context over original
/// context, and of layers that do not rotate. Both throw for a model none of whose layers rotates.
///
/// - Errors:   eigen_rope::Error for a file that cannot be read, is not GGUF or contradicts itself,
///             in one sentence that names the file, the key or tensor, and the value;
///             std::bad_alloc. The reader compares what a file claims with the file's size before
///             it allocates.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(header), at most 256 MiB of it, plus O(rotary dims): the weights are never read.
/// \see read_hugging_face(), \ref gguf "GGUF files"
EIGEN_ROPE_API ModelRope read_gguf(const std::filesystem::path& path,
                                   Strictness strictness = Strictness::strict);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
