// SPDX-License-Identifier: Apache-2.0
//
// A rotation written in one word, and whatever else `eigen-rope inspect` and `eigen-rope compare`
// take for a model.
//
//   yarn:dims=128,base=10000,factor=4,original=4096            type:key=value,key=value
//   longrope:dims=4,original=4096,short=1/1.05,long=1/3.9       lists are separated by /
//
// Types: default, linear, proportional, dynamic, ntk, yarn (Hugging Face's), ggml_yarn, llama3,
// longrope. Keys: the members of Powers and of the scaling (scaling_fields.hpp), head_dims and
// context, or a synonym. Not configuration files: those are read by eigen_rope::models.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::tool {

/// A model with one kind of layer, whose architecture is the text and whose pairing is unknown.
/// Throws eigen_rope::Error for an unknown type or key, a key given twice or left out, a value that
/// is none, and for whatever eigen_rope::frequencies refuses; the sentence names type and key.
models::ModelRope parse_scaling(std::string_view text);

/// Types, keys and synonyms, for --help.
std::string scaling_text_help();

/// A GGUF file if it begins as one, otherwise a config.json or the folder with one; a config.json
/// also from a pipe, and with - from standard input. Throws as the reader, and FileError if there
/// is none, or something else under its name (file_kind.hpp).
models::ModelRope read_model(const std::filesystem::path& path, models::Strictness strictness);

/// A file or folder of this name, or else a scaling. Throws as the two above.
models::ModelRope read_model_or_scaling(const std::string& name, models::Strictness strictness);

}  // namespace eigen_rope::tool
