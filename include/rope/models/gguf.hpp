// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "rope/models/model_rope.hpp"

namespace rope::models {

ModelRope read_gguf(const std::filesystem::path& path, Strictness strictness = Strictness::strict);

}  // namespace rope::models
