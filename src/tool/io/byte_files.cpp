// SPDX-License-Identifier: Apache-2.0
#include "tool/io/byte_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include "tool/io/file_error.hpp"
#include "tool/io/file_kind.hpp"
#include "tool/io/interrupt.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

// One call of read or write takes at most about 2 GiB.
constexpr std::size_t largest_call = std::size_t{1} << 30;

void refuse_if_interrupted(const fs::path& path) {
  if (interrupt_signal() != 0) refuse(path.string(), "was not finished: interrupted");
}

constexpr unsigned permission_bits = 0777;

constexpr int new_file = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
constexpr std::string_view draft_extension = ".tmp";

bool is_draft_of(const std::string& destination, const std::string& name) {
  const std::size_t begin = destination.size() + 1;
  if (name.size() <= begin + draft_extension.size() ||
      name.compare(0, begin, destination + ".") != 0)
    return false;
  const std::size_t end = name.size() - draft_extension.size();
  return name.compare(end, draft_extension.size(), draft_extension) == 0 &&
         name.find_first_not_of("0123456789", begin) == end;
}

// Those nobody has locked: their programs are dead.
std::vector<fs::path> remove_abandoned_drafts(const fs::path& destination) {
  std::vector<fs::path> found, removed;
  std::error_code error;
  fs::directory_iterator entries(
      destination.has_parent_path() ? destination.parent_path() : fs::path("."), error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (is_draft_of(destination.filename().string(), entries->path().filename().string()))
      found.push_back(entries->path());
  }
  for (const fs::path& draft : found) {
    const int way = fs::is_directory(draft, error) ? O_RDONLY | O_DIRECTORY : O_RDWR;
    const int lock = ::open(draft.c_str(), way | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
      fs::remove_all(draft, error);
      if (!error) removed.push_back(draft);
    }
    ::close(lock);
  }
  return removed;
}

/// The descriptor of this program that a name stands for.
std::optional<int> descriptor_of(const std::string& name) {
  if (name == "-" || name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (name.compare(0, folder.size(), folder) != 0) continue;
    int descriptor = -1;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + folder.size(), end, descriptor);
    if (error == std::errc() && stop == end && descriptor >= 0) return descriptor;
  }
  return {};
}

/// Open for writing, and this program's to close.
int open_stream(const fs::path& path) {
  const std::optional<int> own = descriptor_of(path.string());
  const int descriptor = own ? ::dup(*own) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(path.string(), fmt::format("cannot be written: {}", reason()));
  return descriptor;
}

void write_stream(const fs::path& path, std::string_view text) {
  std::fflush(stdout);
  const int descriptor = open_stream(path);
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor, text.data(), std::min(text.size(), largest_call));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) {
      pollfd wait{descriptor, POLLOUT, 0};
      ::poll(&wait, 1, -1);
      continue;
    }
    if (done < 0) {
      const std::string why = reason();
      ::close(descriptor);
      refuse(path.string(), fmt::format("cannot be written: {}", why));
    }
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  ::close(descriptor);
}

}  // namespace

bool is_stream(const fs::path& path) {
  std::error_code error;
  return descriptor_of(path.string()).has_value() || fs::is_other(path, error);
}

bool is_standard_output(const fs::path& path) {
  const std::optional<int> own = descriptor_of(path.string());
  if (own == STDOUT_FILENO) return true;
  if (!is_stream(path)) return false;
  struct stat there {
  }, standard{};
  const bool known = (own ? ::fstat(*own, &there) : ::stat(path.c_str(), &there)) == 0 &&
                     ::fstat(STDOUT_FILENO, &standard) == 0;
  return known && there.st_dev == standard.st_dev && there.st_ino == standard.st_ino;
}

void require_stream(const fs::path& path) {
  const std::optional<int> own = descriptor_of(path.string());
  if (own) {
    const int flags = ::fcntl(*own, F_GETFL);
    if (flags < 0) refuse(path.string(), fmt::format("cannot be written: {}", reason()));
    if ((flags & O_ACCMODE) == O_RDONLY)
      refuse(path.string(), "cannot be written: it is open for reading");
  } else if (::access(path.c_str(), W_OK) != 0) {
    refuse(path.string(), fmt::format("cannot be written: {}", reason()));
  }
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
  mode_ = status.st_mode & permission_bits;
  seconds_ = status.st_mtim.tv_sec;
  nanoseconds_ = status.st_mtim.tv_nsec;
  if (!has_model_extension(path_)) return;
  char beginning[telling_bytes];
  const ssize_t got = ::pread(descriptor_, beginning, sizeof beginning, 0);
  try {
    refuse_other_kinds(path_, {beginning, static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      mode_(other.mode_),
      seconds_(other.seconds_),
      nanoseconds_(other.nanoseconds_) {}

void InputFile::read(std::uint64_t offset, std::byte* to, std::size_t count) const {
  refuse_if_interrupted(path_);
  while (count > 0) {
    const ssize_t got =
        ::pread(descriptor_, to, std::min(count, largest_call), static_cast<off_t>(offset));
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
  if (::fstat(descriptor_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) != size_ ||
      status.st_mtim.tv_sec != seconds_ || status.st_mtim.tv_nsec != nanoseconds_) {
    refuse(path_.string(), "was changed while it was read");
  }
}

OutputFile::OutputFile(fs::path path, unsigned mode) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                       static_cast<mode_t>(mode));
  if (descriptor_ < 0) refuse(path_.string(), fmt::format("cannot be made: {}", reason()));
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) return;
  ::close(descriptor_);
  refuse(path_.string(), "must be new or empty");
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(const std::byte* from, std::size_t count) {
  refuse_if_interrupted(path_);
  while (count > 0) {
    const ssize_t done = ::write(descriptor_, from, std::min(count, largest_call));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = ENOSPC;
    if (done <= 0) refuse(path_.string(), fmt::format("cannot be written: {}", reason()));
    from += done;
    count -= static_cast<std::size_t>(done);
  }
}

// A file system without permissions leaves the file to its owner, as it was made.
void OutputFile::set_mode(unsigned mode) {
  if (::fchmod(descriptor_, static_cast<mode_t>(mode)) != 0) errno = 0;
}

void OutputFile::close() {
  const bool synced = ::fsync(descriptor_) == 0;
  const std::string why = synced ? "" : reason();
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!synced || !closed)
    refuse(path_.string(), fmt::format("cannot be written: {}", synced ? reason() : why));
}

Draft::Draft(fs::path destination, DraftKind kind, DraftAccess access)
    : destination_(std::move(destination)) {
  // "out/" names the folder out: its draft lies beside it.
  if (!destination_.has_filename()) destination_ = destination_.parent_path();
  std::error_code ignored;
  const fs::file_status there = fs::status(destination_, ignored);
  const bool folder = kind == DraftKind::folder;
  if (fs::exists(there) && !(folder ? fs::is_directory(there) : fs::is_regular_file(there))) {
    refuse(destination_.string(), folder ? "must be a folder" : "must be a file");
  }
  removed_ = remove_abandoned_drafts(destination_);
  path_ = destination_.string() + fmt::format(".{}{}", ::getpid(), draft_extension);
  const unsigned bits = access == DraftAccess::owner ? 0700 : permission_bits;
  const bool made =
      folder
          ? ::mkdir(path_.c_str(), static_cast<mode_t>(bits)) == 0
          : (lock_ = ::open(path_.c_str(), new_file, static_cast<mode_t>(bits & usual_mode))) >= 0;
  if (!made) refuse(path_.string(), fmt::format("cannot be made: {}", reason()));
  if (folder) lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Without a lock, where there is none, the next draft leaves this one alone or finds it abandoned
  // after all; nothing else depends on it.
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

Draft::~Draft() {
  std::error_code ignored;
  if (!published_ && fs::is_directory(path_, ignored))
    set_folder_mode(path_, 0700);  // it may have got the mode of one not to be changed
  if (!published_) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void Draft::publish() {
  std::error_code error;
  fs::rename(path_, destination_, error);
  if (error) refuse(destination_.string(), fmt::format("cannot be written: {}", error.message()));
  published_ = true;
  bring_to_disk(destination_.has_parent_path() ? destination_.parent_path() : fs::path("."));
}

void TextDraft::publish() {
  if (draft_) return draft_->publish();
  write_stream(stream_, text_);
}

TextDraft::TextDraft(fs::path destination, std::string_view text) {
  if (is_stream(destination)) {
    require_stream(destination);
    stream_ = std::move(destination);
    text_ = text;
    return;
  }
  draft_.emplace(std::move(destination), DraftKind::file);
  OutputFile file(draft_->path());
  file.write(reinterpret_cast<const std::byte*>(text.data()), text.size());
  file.close();
}

void set_folder_mode(const fs::path& folder, unsigned mode) {
  if (::chmod(folder.c_str(), static_cast<mode_t>(mode)) != 0) errno = 0;
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & permission_bits : 0;
}

void bring_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const std::string why = synced ? "" : reason();
  ::close(descriptor);
  if (!synced) refuse(path.string(), fmt::format("cannot be brought to the disk: {}", why));
}

}  // namespace eigen_rope::tool
