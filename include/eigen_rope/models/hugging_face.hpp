// SPDX-License-Identifier: Apache-2.0
//
// The reader of a model's rotation from its config.json, as Hugging Face's transformers understands
// it.
//
//   eigen_rope::models::ModelRope model = eigen_rope::models::read_hugging_face("config.json");
//   eigen_rope::Frequencies f = model.layers.front().frequencies(model.context);
//
// It reads the old form (rope_theta, rope_scaling) and the new one (rope_parameters, flat or one
// part per layer type), at the top of the file or in its text_config; every rope type of
// transformers (default, linear, dynamic, yarn, llama3, longrope, proportional) with su, mrope and
// vLLM's deepseek_yarn; partial rotation, latent attention, mrope sections and layer types. Rules
// and class defaults are those of transformers 5.23.0 (modeling_rope_utils.py, configuration_*.py,
// modeling_*.py). docs/configurations.md lists which of its behaviours are kept, refused and
// mended. Weights, tokenizers, and the code that some repositories bring along are not read.
// Programs link eigen_rope::models.
#pragma once

#include <filesystem>
#include <string_view>

#include "eigen_rope/models/model_rope.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// Reads the rotation of a model from the text of its config.json.
///
/// \code{.cpp}
/// const auto model = er::models::parse_hugging_face(
///     R"({"model_type": "llama", "head_dim": 128, "rope_theta": 500000.0})",
///     er::models::Strictness::lenient);
/// for (const std::string& warning : model.warnings) std::cerr << warning << '\n';
/// \endcode
///
/// \param json        the text, in UTF-8
/// \param strictness  what happens to unknown, missing or invalid entries
///
/// ModelRope::layers holds one LayerRope where all layers are alike, and otherwise one for each
/// layer type, full_attention first; layers that are not rotated have none. With latent attention
/// (qk_rope_head_dim), head_dims is the width of the part that is split off to be rotated. The
/// pairing is that of transformers' code, and empty for families for which that is not known. The
/// window of a row begins at its first element.
///
/// With either strictness the model's warnings name values that the file leaves to a family's
/// defaults, factors that are not the ratio of the contexts, layers that are not rotated, and keys
/// that are there but not read. depends_on_length() of the scaling says whether the rates change
/// with the length.
///
/// - Errors:   eigen_rope::Error, whose one sentence names the key from the file's top and the
///             value: `[rope] rope_scaling.factor must be at least 1, got 0.5`. Strictness::strict
///             refuses whatever transformers refuses, warns of or overlooks, and two keys that
///             contradict each other. Strictness::lenient takes transformers' choice, with a
///             warning, where transformers would only warn. Both refuse text that is not JSON (NaN
///             and numbers past double included), a key that stands twice in one object, nesting
///             past 64 levels, a type of rotation or a missing or mistyped value for which there is
///             no rule, and parameters that make no frequencies.
/// - Threads:  safe to call from several threads; the text may change afterwards.
/// - Cost:     O(size of the text).
/// \see read_hugging_face() for files, \ref configurations "Reading configurations"
EIGEN_ROPE_API ModelRope parse_hugging_face(std::string_view json,
                                            Strictness strictness = Strictness::strict);

/// Reads the rotation of a model from its config.json, a file or the folder that has it.
///
/// The result is that of parse_hugging_face() for the file's text. Messages begin with the file's
/// name: `[rope] model/config.json: rope_theta ...`.
/// \code{.cpp}
/// const er::models::ModelRope model = er::models::read_hugging_face("Llama-3.1-8B");
/// const er::models::LayerRope& layer = model.layers.front();
/// const er::Cache<float> table(layer.frequencies(tokens), positions);
/// if (layer.pairing) y = er::rotate(x, table, *layer.pairing);
/// \endcode
///
/// \param path        the file, or the folder that holds a config.json
/// \param strictness  what happens to unknown, missing or invalid entries
///
/// - Errors:   eigen_rope::Error in the cases of parse_hugging_face(), and for what is not there,
///             not a file, not readable or larger than 64 MiB.
/// - Threads:  safe to call from several threads.
/// - Cost:     O(size of the file).
/// \see read_gguf(), \ref configurations "Reading configurations"
EIGEN_ROPE_API ModelRope read_hugging_face(const std::filesystem::path& path,
                                           Strictness strictness = Strictness::strict);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
