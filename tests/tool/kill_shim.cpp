// SPDX-License-Identifier: Apache-2.0
//
// A library to be preloaded (LD_PRELOAD) that makes a program meet one fault, at a place of the
// test's choosing.
//
// It counts the calls that change files below EIGEN_ROPE_FAULT_FOLDER (open, write, fsync, close,
// rename, link, unlink, mkdir) and appends each to the file EIGEN_ROPE_FAULT_LOG, as "name path
// [other path]". At call number EIGEN_ROPE_FAULT_AT, counted from 1, EIGEN_ROPE_FAULT happens:
//
//   kill    the process is killed before the call
//   torn    a write writes the first half, then the process is killed; other calls as kill
//   power   as kill, and every file written but not flushed loses its content, as in a power cut
//   fail    the call fails: a write with ENOSPC, one that flushes or closes with EIO, the others
//           with EACCES
//
// With EIGEN_ROPE_FAULT_LINKS=none every link fails, as on file systems without hard links. One
// thread only. What libraries call inside themselves (fopen, fwrite) is not seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int most_files = 1024;

struct WrittenFile {
  dev_t device = 0;
  ino_t inode = 0;
  int descriptor = -1;  // of our own, to cut it with
  bool flushed = true;
};

struct Shim {
  const char* folder = std::getenv("EIGEN_ROPE_FAULT_FOLDER");
  const char* log = std::getenv("EIGEN_ROPE_FAULT_LOG");
  const char* fault = std::getenv("EIGEN_ROPE_FAULT");
  long at = std::getenv("EIGEN_ROPE_FAULT_AT") == nullptr
                ? 0
                : std::atol(std::getenv("EIGEN_ROPE_FAULT_AT"));
  long calls = 0;
  std::array<bool, most_files> watched{};
  std::array<WrittenFile, most_files> written{};
  std::size_t written_count = 0;

  bool is(const char* name) const { return fault != nullptr && std::strcmp(fault, name) == 0; }
  bool below(const char* path) const {
    return folder != nullptr && std::strncmp(path, folder, std::strlen(folder)) == 0;
  }
  bool watches(int descriptor) const {
    return descriptor >= 0 && descriptor < most_files &&
           watched[static_cast<std::size_t>(descriptor)];
  }
  void watch(int descriptor, bool on) {
    if (descriptor >= 0 && descriptor < most_files)
      watched[static_cast<std::size_t>(descriptor)] = on;
  }
};

Shim& shim() {
  static Shim one;
  return one;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

auto* real_open() { return next<int(const char*, int, ...)>("open"); }
auto* real_write() { return next<ssize_t(int, const void*, size_t)>("write"); }
auto* real_close() { return next<int(int)>("close"); }

WrittenFile* file_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  Shim& s = shim();
  for (std::size_t i = 0; i < s.written_count; ++i) {
    if (s.written[i].device == status.st_dev && s.written[i].inode == status.st_ino)
      return &s.written[i];
  }
  if (s.written_count == s.written.size()) std::abort();
  // /proc/self/fd reopens the file whatever its name is now; a descriptor that is duplicated would
  // share its locks.
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  WrittenFile& file = s.written[s.written_count++];
  file = {status.st_dev, status.st_ino, real_open()(name, O_WRONLY | O_CLOEXEC), true};
  return &file;
}

[[noreturn]] void die() {
  Shim& s = shim();
  for (std::size_t i = 0; s.is("power") && i < s.written_count; ++i) {
    if (!s.written[i].flushed && ::ftruncate(s.written[i].descriptor, 0) != 0) std::abort();
  }
  ::raise(SIGKILL);
  std::abort();
}

void log_line(const char* call, const char* path, const char* other) {
  Shim& s = shim();
  if (s.log == nullptr) return;
  char line[4096];
  const int size = std::snprintf(line, sizeof line, "%s %s %s\n", call, path, other);
  const int log = real_open()(s.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (size < 0 || real_write()(log, line, static_cast<size_t>(size)) != size) std::abort();
  real_close()(log);
}

enum class Now { call, tear, fail };

// Counts a call and says what it shall do, if the process still lives.
Now meet(const char* call, const char* path, const char* other = "") {
  Shim& s = shim();
  log_line(call, path, other);
  if (++s.calls != s.at) return Now::call;
  if (s.is("fail")) return Now::fail;
  if (s.is("torn") && std::strcmp(call, "write") == 0) return Now::tear;
  die();
}

Now meet(const char* call, int descriptor) {
  char name[64], path[2048] = {};
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  if (::readlink(name, path, sizeof path - 1) < 0) path[0] = '\0';
  return meet(call, path);
}

int refused(int error) {
  errno = error;
  return -1;
}

int open_watched(const char* symbol, const char* path, int flags, mode_t mode) {
  const bool watched = shim().below(path);
  if (watched && meet("open", path) == Now::fail) return refused(EACCES);
  const int descriptor = next<int(const char*, int, ...)>(symbol)(path, flags, mode);
  shim().watch(descriptor, watched);
  return descriptor;
}

mode_t mode_of(int flags, va_list words) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(words, unsigned)) : mode_t{0};
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  return open_watched("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  return open_watched("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void* from, size_t count) {
  if (!shim().watches(descriptor)) return real_write()(descriptor, from, count);
  if (WrittenFile* file = file_of(descriptor)) file->flushed = false;
  switch (meet("write", descriptor)) {
    case Now::fail: return refused(ENOSPC);
    case Now::tear: {
      const ssize_t half = real_write()(descriptor, from, count / 2);
      if (half >= 0) die();
      return half;
    }
    case Now::call: break;
  }
  return real_write()(descriptor, from, count);
}

int fsync(int descriptor) {
  const bool watched = shim().watches(descriptor);
  if (watched && meet("fsync", descriptor) == Now::fail) return refused(EIO);
  const int result = next<int(int)>("fsync")(descriptor);
  WrittenFile* file = watched && result == 0 ? file_of(descriptor) : nullptr;
  if (file != nullptr) file->flushed = true;
  return result;
}

int close(int descriptor) {
  const bool watched = shim().watches(descriptor);
  const bool fails = watched && meet("close", descriptor) == Now::fail;
  shim().watch(descriptor, false);
  const int result = real_close()(descriptor);
  return fails ? refused(EIO) : result;
}

int rename(const char* from, const char* to) noexcept {
  if (shim().below(to) && meet("rename", from, to) == Now::fail) return refused(EACCES);
  return next<int(const char*, const char*)>("rename")(from, to);
}

int link(const char* from, const char* to) noexcept {
  if (shim().below(to) && meet("link", from, to) == Now::fail) return refused(EACCES);
  if (shim().below(to) && std::getenv("EIGEN_ROPE_FAULT_LINKS") != nullptr) return refused(EPERM);
  return next<int(const char*, const char*)>("link")(from, to);
}

int unlink(const char* path) noexcept {
  if (shim().below(path) && meet("unlink", path) == Now::fail) return refused(EACCES);
  return next<int(const char*)>("unlink")(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (shim().below(path) && meet("mkdir", path) == Now::fail) return refused(EACCES);
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
