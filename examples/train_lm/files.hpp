// SPDX-License-Identifier: Apache-2.0
//
// Files that are either whole or not there.
//
// write_atomically() writes NAME.tmp in the same folder, flushes it to the disk, renames it over
// NAME and flushes the folder. Whatever happens on the way (full disk, kill, power cut), NAME is
// the old file or the new one. Every system call is checked. A process that was killed leaves
// NAME.tmp, which the next one overwrites. POSIX only.
#pragma once

#include <filesystem>
#include <string_view>

namespace train_lm {

/// Throws train_lm::Error with the reason; the old file, if any, is then untouched and no temporary
/// file remains.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The same, but a file that is there stays, as `earlier` in the same folder, in place of what had
/// that name. At every moment one of the two names is a whole file, if there was one before.
void write_atomically_keeping(const std::filesystem::path& path,
                              const std::filesystem::path& earlier, std::string_view bytes);

/// Removes what a process that was killed left of writing `path`, if there is anything.
void remove_temporary(const std::filesystem::path& path);

/// What another program wrote as `temporary` gets its name in the same folder, flushed as above.
/// Throws train_lm::Error; `temporary` is then removed.
void publish(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// Makes the folder and its parents. Throws train_lm::Error.
void make_folder(const std::filesystem::path& path);

/// Is there such a file or folder? Throws train_lm::Error where that cannot be known.
bool is_there(const std::filesystem::path& path);

/// A folder for one process at a time, as long as this lives; a process that is killed leaves
/// nothing. Throws train_lm::Error if another has it, or if nothing can be written there. On file
/// systems without locks it only checks the latter.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace train_lm
