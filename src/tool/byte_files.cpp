// SPDX-License-Identifier: Apache-2.0
#include "byte_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "golden_files.hpp"

namespace rope::tool {
namespace fs = std::filesystem;
namespace {

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

// One call of read or write takes at most about 2 GiB.
constexpr std::size_t largest_call = std::size_t{1} << 30;

volatile std::sig_atomic_t received = 0;

extern "C" void remember_signal(int signal) { received = signal; }

void refuse_if_interrupted(const fs::path& path) {
  if (received != 0) refuse(path.string(), "was not finished: interrupted");
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InputFile::InputFile(fs::path path) : path_(std::move(path)) {
  // A pipe without a writer would keep open() waiting.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) refuse(path_.string(), fmt::format("cannot be opened: {}", reason()));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    refuse(path_.string(), "must be a file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  seconds_ = status.st_mtim.tv_sec;
  nanoseconds_ = status.st_mtim.tv_nsec;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      seconds_(other.seconds_),
      nanoseconds_(other.nanoseconds_) {}

void InputFile::read(std::uint64_t offset, std::byte* to, std::size_t count) const {
  refuse_if_interrupted(path_);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, std::min(count, largest_call), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_.string(), fmt::format("cannot be read: {}", reason()));
    if (got == 0) refuse(path_.string(), "became shorter while it was read");
    offset += static_cast<std::uint64_t>(got);
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

void InputFile::require_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) != size_ || status.st_mtim.tv_sec != seconds_ ||
      status.st_mtim.tv_nsec != nanoseconds_) {
    refuse(path_.string(), "was changed while it was read");
  }
}

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(path_.string(), fmt::format("cannot be made: {}", reason()));
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(const std::byte* from, std::size_t count) {
  refuse_if_interrupted(path_);
  while (count > 0) {
    const ssize_t done = ::write(descriptor_, from, std::min(count, largest_call));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) refuse(path_.string(), fmt::format("cannot be written: {}", reason()));
    from += done;
    count -= static_cast<std::size_t>(done);
  }
}

void OutputFile::close() {
  const bool synced = ::fsync(descriptor_) == 0;
  const std::string why = synced ? "" : reason();
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!synced || !closed) refuse(path_.string(), fmt::format("cannot be written: {}", synced ? reason() : why));
}

Draft::Draft(fs::path destination) : destination_(std::move(destination)) {
  // "out/" names the folder out: its draft lies beside it.
  if (!destination_.has_filename()) destination_ = destination_.parent_path();
  path_ = destination_.string() + fmt::format(".{}.tmp", ::getpid());
  std::error_code ignored;
  // Another process's file of this number would be removed.
  if (fs::exists(fs::symlink_status(path_, ignored))) refuse(path_.string(), "must not exist: the draft would have this name");
}

Draft::~Draft() {
  std::error_code ignored;
  if (!published_) fs::remove_all(path_, ignored);
}

void Draft::publish() {
  std::error_code error;
  fs::rename(path_, destination_, error);
  if (error) refuse(destination_.string(), fmt::format("cannot be written: {}", error.message()));
  published_ = true;
  sync_folder(destination_.has_parent_path() ? destination_.parent_path() : fs::path("."));
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace rope::tool
