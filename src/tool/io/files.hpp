// SPDX-License-Identifier: Apache-2.0
//
// Results as files that are either whole or not there (Draft, byte_files.hpp), or written to a
// stream: - for standard output, a pipe.
//
// Throws FileError, which names the file. Not for reading, nor for files larger than memory.
#pragma once

#include <filesystem>
#include <string>

#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {

/// Throws, with the reason, where nothing can be written under this name: no such folder, no
/// permission, a folder of that name. For refusing before work is done; writing may still fail.
void require_writable(const std::filesystem::path& path);

/// A file, whole or not there; what is_stream (byte_files.hpp) is written to and stays.
void write_whole(const std::filesystem::path& path, const std::string& text);

/// As text, indented by one; numbers that are not finite become null.
void write_json(const Json& json, const std::filesystem::path& path);

}  // namespace eigen_rope::tool
