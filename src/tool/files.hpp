// SPDX-License-Identifier: Apache-2.0
//
// Files that are either whole or not there: written or drawn under another name in the same folder, then renamed.
//
// Throws FileError, which names the file. Not for reading.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "golden_files.hpp"

namespace rope::tool {

/// make(draft) makes a file called `draft`, or throws; it becomes `path`. What is there and no file (a pipe, a device) is refused and
/// stays.
void make_whole(const std::filesystem::path& path, const std::function<void(const std::filesystem::path& draft)>& make);

/// Throws where nothing can be written under this name: no such folder, no permission, a folder, pipe or device of that name. For refusing
/// before work is done; writing may still fail.
void require_writable(const std::filesystem::path& path);

void write_whole(const std::filesystem::path& path, const std::string& text);

/// As text, indented by one; numbers that are not finite become null.
void write_json(const Json& json, const std::filesystem::path& path);

}  // namespace rope::tool
