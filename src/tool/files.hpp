// SPDX-License-Identifier: Apache-2.0
//
// Results as files that are either whole or not there (Draft, byte_files.hpp).
//
// Throws FileError, which names the file. Not for reading, nor for files larger than memory.
#pragma once

#include <filesystem>
#include <string>

#include "file_error.hpp"
#include "json_file.hpp"

namespace rope::tool {

/// Throws where nothing can be written under this name: no such folder, no permission, a folder, pipe or device of that name. For refusing
/// before work is done; writing may still fail.
void require_writable(const std::filesystem::path& path);

/// What is there and no file (a pipe, a device) is refused and stays.
void write_whole(const std::filesystem::path& path, const std::string& text);

/// As text, indented by one; numbers that are not finite become null.
void write_json(const Json& json, const std::filesystem::path& path);

}  // namespace rope::tool
