// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "error.hpp"

namespace train_lm {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw Error(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(error)));
}

std::string temporary_name(const std::filesystem::path& path) { return path.string() + ".tmp"; }

/// Closes the descriptor and removes the temporary file unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ =
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("create", path_, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write", path_, errno);
      if (written == 0) fail("write", path_, ENOSPC);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail("flush", path_, errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail("close", path_, errno);
  }

  void rename_to(const std::filesystem::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) fail("replace", target, errno);
    renamed_ = true;
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

void flush(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) fail("open", path, errno);
  const int flushed = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems cannot flush a folder; the rename has happened all the same.
  if (flushed != 0 && error != EINVAL) fail("flush", path, error);
}

void flush_folder_of(const std::filesystem::path& path) {
  flush(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), O_DIRECTORY);
}

void keep(const std::filesystem::path& path, const std::filesystem::path& earlier) {
  if (!is_there(path)) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("replace", path, EISDIR);
  if (::unlink(earlier.c_str()) != 0 && errno != ENOENT) fail("replace", earlier, errno);
  if (::link(path.c_str(), earlier.c_str()) == 0) return;
  // No hard links on this file system: until the new file has its name, only the earlier one has
  // one.
  if (::rename(path.c_str(), earlier.c_str()) != 0) fail("rename", path, errno);
}

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  TemporaryFile file(temporary_name(path));
  file.write(bytes);
  file.rename_to(path);
  flush_folder_of(path);
}

void write_atomically_keeping(const std::filesystem::path& path,
                              const std::filesystem::path& earlier, std::string_view bytes) {
  TemporaryFile file(temporary_name(path));
  file.write(bytes);
  keep(path, earlier);
  file.rename_to(path);
  flush_folder_of(path);
}

void remove_temporary(const std::filesystem::path& path) { ::unlink(temporary_name(path).c_str()); }

void publish(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  try {
    flush(temporary, O_NOFOLLOW);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("replace", path, errno);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
  flush_folder_of(path);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw Error(fmt::format("cannot make the folder {}: {}", path.string(), error.message()));
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (error) throw Error(fmt::format("cannot look for {}: {}", path.string(), error.message()));
  return there;
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail("write to the folder", folder, errno);
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail("open the folder", folder, errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw Error(fmt::format(
        "another train_lm is writing to {}; choose another --out or wait for it", folder.string()));
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace train_lm
