// SPDX-License-Identifier: Apache-2.0
//
// Files that are either whole or not there.
//
// write_atomically() writes NAME.tmp in the same folder, flushes it to the disk, renames it over NAME and flushes the folder. Whatever
// happens on the way (full disk, kill, power cut), NAME is the old file or the new one. Every system call is checked. POSIX only.
#pragma once

#include <filesystem>
#include <string_view>

namespace train_lm {

/// Throws train_lm::Error with the reason; the old file, if any, is then untouched and no temporary file remains.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Makes the folder and its parents. Throws train_lm::Error.
void make_folder(const std::filesystem::path& path);

}  // namespace train_lm
