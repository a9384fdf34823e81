// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a model from its config.json, as Hugging Face's transformers understands it.
//
//   eigen_rope::models::ModelRope model = eigen_rope::models::read_hugging_face("config.json");
//   eigen_rope::Frequencies f = model.layers.front().frequencies(model.context);
//
// Read are the old form (rope_theta, rope_scaling) and the new one (rope_parameters, flat or one
// part per layer type), at the top of the file or in its text_config; every rope type of
// transformers (default, linear, dynamic, yarn, llama3, longrope, proportional) with su, mrope and
// vLLM's deepseek_yarn; partial rotation, latent attention, mrope sections, layer types. Rules and
// class defaults are those of transformers 5.23.0 (modeling_rope_utils.py, configuration_*.py,
// modeling_*.py). docs/configurations.md lists which of its behaviours are kept, refused and
// mended. It does not read weights, tokenizers, or the code that some repositories bring along.
#pragma once

#include <filesystem>
#include <string_view>

#include "eigen_rope/models/model_rope.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::models {

/// The text of a config.json, in UTF-8.
///
/// layers holds one LayerRope where all layers are alike, otherwise one per layer type,
/// full_attention first; layers that are not rotated have none. Latent attention
/// (qk_rope_head_dim): head_dims is the width of the part that is split off to be rotated. pairing
/// is that of transformers' code, empty for families it was not read for. A row's window begins at
/// its first element.
///
/// Warnings of both strictnesses: values the file leaves to a family's defaults, factors that are
/// not the ratio of the contexts, layers that are not rotated, and keys that are there but not
/// read. (Whether the rates change with the length is depends_on_length() of the scaling.)
///
/// - Errors:   eigen_rope::Error, whose one sentence names the key from the file's top and the
///             value: `[rope] rope_scaling.factor must be at least 1, got 0.5`. With
///             Strictness::strict that is whatever transformers refuses, warns of or overlooks, and
///             two keys that contradict each other; with Strictness::lenient what it would only
///             warn of becomes a warning, and its choice is taken. Refused by both are text that is
///             not JSON (NaN and numbers past double included), a key twice in one object, nesting
///             past 64 levels, a type of rotation, a missing or mistyped value for which there is
///             no rule, and parameters that make no frequencies.
/// - Threads:  safe to call from several threads; the text may change afterwards.
/// - Cost:     O(size of the text).
EIGEN_ROPE_API ModelRope parse_hugging_face(std::string_view json,
                                            Strictness strictness = Strictness::strict);

/// The same from a file, or from config.json in a folder. Messages begin with the file's name:
/// `[rope] model/config.json: rope_theta ...`.
///
/// - Errors:   eigen_rope::Error also for what is not there, not a file, not readable or larger
///             than 64 MiB.
EIGEN_ROPE_API ModelRope read_hugging_face(const std::filesystem::path& path,
                                           Strictness strictness = Strictness::strict);

}  // namespace eigen_rope::models
