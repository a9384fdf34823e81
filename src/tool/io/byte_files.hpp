// SPDX-License-Identifier: Apache-2.0
//
// Files larger than memory: bytes read at a place, and a new file or folder that is complete or not
// there. Texts also go to streams: standard output, pipes and devices, which have no draft.
//
// A draft is written under another name beside its destination and brought to the disk; publish()
// renames it and brings the new name to the disk. Until then the destination is what it was,
// however the program ends. A killed program leaves its draft; the next draft of the same
// destination removes it: drafts are locked, and the lock of a dead process is gone. After a caught
// interrupt (interrupt.hpp) the next read or write is refused, so that drafts are removed. Throws
// FileError, which names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eigen_rope::tool {

/// What is read or written at once: fast disks reach their speed with less; a row of 2^20 doubles
/// has 8 MiB.
inline constexpr std::size_t buffer_bytes = std::size_t{4} << 20;

/// A regular file, open for reading; a model's file by its name is none if it is a Git LFS pointer
/// or an HTML page (file_kind.hpp). Several threads may read.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Who may read, write and execute it: the permission bits.
  unsigned mode() const { return mode_; }
  /// Refuses bytes that are not there.
  void read(std::uint64_t offset, std::byte* to, std::size_t count) const;
  /// Refuses if the file is no longer the size or age it was when it was opened.
  void require_unchanged() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  unsigned mode_ = 0;
  std::int64_t seconds_ = 0, nanoseconds_ = 0;
};

/// Permission bits of a new file that the process's mask narrows, and of one that nobody else may
/// see.
inline constexpr unsigned usual_mode = 0666, private_mode = 0600;

/// A file that is new or empty, written from beginning to end. Any other is refused.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path, unsigned mode = usual_mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::byte* from, std::size_t count);
  /// Gives the file these permission bits, where the file system has such.
  void set_mode(unsigned mode);
  /// Everything is on the disk when this returns.
  void close();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

enum class DraftKind { file, folder };

/// Who may see a draft: whoever may see new files, or its owner alone.
enum class DraftAccess { usual, owner };

/// What becomes `destination`: path(), an empty file or folder made here; removed, with everything
/// in it, unless published.
class Draft {
 public:
  /// Refuses a destination that is there and of another kind.
  Draft(std::filesystem::path destination, DraftKind kind, DraftAccess access = DraftAccess::usual);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Drafts of this destination that killed programs had left, and that were removed.
  const std::vector<std::filesystem::path>& removed() const { return removed_; }
  /// The destination is the draft, on the disk, when this returns.
  void publish();

 private:
  std::filesystem::path destination_, path_;
  std::vector<std::filesystem::path> removed_{};
  int lock_ = -1;
  bool published_ = false;
};

/// Whether a name stands for something that is written to as it is: - (standard output),
/// /dev/stdout and other descriptors of this program
/// (/dev/fd/63, which a shell makes of >(command)), a pipe, a device.
bool is_stream(const std::filesystem::path& path);

/// Whether writing to it would be writing to standard output: -, or what descriptor 1 is.
bool is_standard_output(const std::filesystem::path& path);

/// Refuses what cannot be written to, for the reason, before there is anything to write.
void require_stream(const std::filesystem::path& path);

/// Makes `destination` a file with this content, or leaves it as it was. A stream gets the content
/// when it is published.
class TextDraft {
 public:
  TextDraft(std::filesystem::path destination, std::string_view text);
  void publish();

 private:
  std::filesystem::path stream_{};
  std::string text_{};
  std::optional<Draft> draft_{};
};

/// Gives a folder these permission bits, where the file system has such.
void set_folder_mode(const std::filesystem::path& folder, unsigned mode);
/// The permission bits of a file or folder; 0 if it is not there.
unsigned mode_of(const std::filesystem::path& path);

/// A file's content, or a folder's list of names, is on the disk when this returns; nothing happens
/// where a file system has no such thing.
void bring_to_disk(const std::filesystem::path& path);

}  // namespace eigen_rope::tool
