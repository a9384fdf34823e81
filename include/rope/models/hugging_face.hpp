// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "rope/models/model_rope.hpp"

namespace rope::models {

/// Text of a config.json.
ModelRope parse_hugging_face(std::string_view json, Strictness strictness = Strictness::strict);
/// A config.json, or the folder it lies in.
ModelRope read_hugging_face(const std::filesystem::path& path, Strictness strictness = Strictness::strict);

}  // namespace rope::models
