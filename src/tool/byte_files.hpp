// SPDX-License-Identifier: Apache-2.0
//
// Files larger than memory: bytes read at a place, and a new file or folder that is complete or not there.
//
// A draft is written under another name beside its destination; publish() makes it last on the disk, then renames it. Until then the
// destination is what it was, however the program ends. Not for small texts: files.hpp. Throws FileError, which names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace rope::tool {

/// From here on SIGINT and SIGTERM end the next read or write with a refusal, so that drafts are removed; a second signal ends the program.
void catch_interrupts();

/// A regular file, open for reading. Several threads may read.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Refuses bytes that are not there.
  void read(std::uint64_t offset, std::byte* to, std::size_t count) const;
  /// Refuses if the file is no longer the size or age it was when it was opened.
  void require_unchanged() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t seconds_ = 0, nanoseconds_ = 0;
};

/// A new file, written from beginning to end. Refused if it exists.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::byte* from, std::size_t count);
  /// Everything is on the disk when this returns.
  void close();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// What becomes `destination`; removed, with everything in it, unless published. Its maker creates path(), a file or a folder.
class Draft {
 public:
  explicit Draft(std::filesystem::path destination);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void publish();

 private:
  std::filesystem::path destination_, path_;
  bool published_ = false;
};

/// The folder's list of names is on the disk when this returns; nothing happens where a file system has no such thing.
void sync_folder(const std::filesystem::path& folder);

}  // namespace rope::tool
