// SPDX-License-Identifier: Apache-2.0
//
// Files that are not what their name says, told by how they begin: what a download or a clone
// leaves where a model was expected.
//
//   [rope] model.gguf is a Git LFS pointer, not the file itself: run git lfs pull
//
// Not the formats themselves: their readers say what is wrong with a file of theirs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace eigen_rope::tool {

/// As much of a file's beginning as the functions below look at.
inline constexpr std::size_t telling_bytes = 512;

/// Throws FileError where the beginning is that of a Git LFS pointer, of an HTML page, or of a gzip
/// or zip archive.
void refuse_other_kinds(const std::filesystem::path& path, std::string_view beginning);

/// Whether the name ends as a model's files do: .gguf, .json or .safetensors.
bool has_model_extension(const std::filesystem::path& path);

/// The first telling_bytes of a regular file, or less; empty for anything else, and where it cannot
/// be read.
std::string beginning_of(const std::filesystem::path& path);

}  // namespace eigen_rope::tool
