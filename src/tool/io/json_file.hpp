// SPDX-License-Identifier: Apache-2.0
//
// JSON files other people wrote: what is read nests at most 64 levels deep, so that whoever prints,
// copies or walks it by recursion has stack enough. What the values mean is left to the reader. A
// model's config.json is read by eigen_rope::models, which has rules of its own; the header of a
// safetensors file, which may list a million tensors, by safetensors.hpp.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace eigen_rope::tool {

using Json = nlohmann::json;

/// Throws FileError for what is no regular file, cannot be opened, is not JSON or is nested deeper
/// than 64 levels. O(size of the file).
Json read_json(const std::filesystem::path& path);

}  // namespace eigen_rope::tool
