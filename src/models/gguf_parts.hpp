// SPDX-License-Identifier: Apache-2.0
//
// Split models: NAME-00001-of-00003.gguf has the metadata, and tensors are in all parts.
#pragma once

#include <filesystem>

#include "models/gguf_keys.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// Opens the other parts of the model whose first part is at `path`, beside it, and adds them to
/// the file.
///
/// Throws where the file is another part than the first, where its name has not its number and
/// their count, where a part is missing (lenient: a warning), or is none of this model's.
void add_gguf_parts(GgufKeys& keys, const std::filesystem::path& path);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
