// SPDX-License-Identifier: Apache-2.0
//
// Running a program as a user would, and killing it: after a time, or at one of the calls that
// change files (kill_shim.cpp).
#pragma once

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

namespace kill_test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using eigen_rope::test::Medium;
using eigen_rope::test::TemporaryFolder;
using eigen_rope::test::write_bytes;

/// Empty where the program ended before it made the file.
inline std::string content(const fs::path& path) {
  return fs::exists(path) ? eigen_rope::test::file_bytes(path) : std::string();
}

/// The names in a folder that end so.
inline std::vector<std::string> names_ending(const fs::path& folder, const std::string& end) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
      names.push_back(name);
  }
  return names;
}

struct Ended {
  bool killed = false;
  int code = -1;
  std::string out{}, err{};
  std::chrono::microseconds took{};
};

/// How a program is run beyond its words.
struct Circumstances {
  std::vector<std::string> environment{};  ///< NAME=value
  std::chrono::microseconds kill_after = std::chrono::microseconds::max();
  rlim_t largest_file = RLIM_INFINITY;
  /// Permissions of files hold also for the superuser, who is otherwise above them.
  bool obeys_permissions = false;
  std::string out{};  ///< where stdout goes; empty: into Ended
};

/// In a child: from the next program on, permissions hold. The user stays, as the program may lie
/// in a folder of his.
inline void give_up_privileges() {
  bool dropped = true;
  for (const int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) {
    dropped = ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0 && dropped;
  }
  constexpr uid_t nobody = 65534;
  if (!dropped && ::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(126);
}

inline Ended run(const std::vector<std::string>& words, const Circumstances& circumstances = {}) {
  const TemporaryFolder folder;
  const std::string out = circumstances.out.empty() ? (folder / "out").string() : circumstances.out,
                    err = (folder / "err").string();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    for (const std::string& variable : circumstances.environment)
      ::putenv(const_cast<char*>(variable.c_str()));
    // Where lines are counted: ended while it writes its counts, it would spoil those of the
    // others.
    ::setenv("LLVM_PROFILE_FILE", "/dev/null", 1);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    if (circumstances.obeys_permissions) give_up_privileges();
    struct rlimit size {};
    ::getrlimit(RLIMIT_FSIZE, &size);
    size.rlim_cur = std::min(circumstances.largest_file, size.rlim_max);
    ::setrlimit(RLIMIT_FSIZE, &size);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  if (circumstances.kill_after != std::chrono::microseconds::max()) {
    std::this_thread::sleep_until(begin + circumstances.kill_after);
    ::kill(child, SIGKILL);
  }
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Ended ended;
  ended.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  ended.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (circumstances.out.empty()) ended.out = content(out);
  ended.err = content(err);
  return ended;
}

/// A fault at the nth call that changes a file below `folder`; 0 for none. Calls are appended to
/// `log` unless it is empty.
inline Circumstances fault(const std::string& kind, long n, const fs::path& folder,
                           const fs::path& log = {}) {
  Circumstances circumstances;
  // AddressSanitizer wants to be the first library.
  const char* sanitizer = std::getenv("ASAN_OPTIONS");
  circumstances.environment = {
      "LD_PRELOAD=" EIGEN_ROPE_KILL_SHIM,
      std::string("ASAN_OPTIONS=") + (sanitizer == nullptr ? "" : std::string(sanitizer) + ":") +
          "verify_asan_link_order=0",
      "EIGEN_ROPE_FAULT=" + kind, "EIGEN_ROPE_FAULT_AT=" + std::to_string(n),
      "EIGEN_ROPE_FAULT_FOLDER=" + folder.string()};
  if (!log.empty()) circumstances.environment.push_back("EIGEN_ROPE_FAULT_LOG=" + log.string());
  return circumstances;
}

struct Call {
  std::string name{}, path{}, other{};
};

inline std::vector<Call> calls(const fs::path& log) {
  std::vector<Call> all;
  std::istringstream lines(content(log));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> all.emplace_back().name >> all.back().path >> all.back().other;
  }
  return all;
}

/// Is a fault of this kind at this call no other than at the call before? Closing changes nothing,
/// and only writes can be torn.
inline bool same_as_the_one_before(const std::string& kind, const std::vector<Call>& all,
                                   std::size_t n) {
  if (kind == "torn") return all[n].name != "write";
  return kind != "fail" && n > 0 && all[n - 1].name == "close";
}

/// What is wrong with the order of calls, as a sentence; empty if everything that got its name by
/// rename was flushed after its last byte, a folder also after its last file, and the name itself
/// was flushed before anything else was written.
inline std::string durability_fault(const std::vector<Call>& all) {
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].name != "rename") continue;
    const std::string& draft = all[at].path;
    const std::string names = draft + " -> " + all[at].other;
    bool written = false;
    std::map<std::string, bool> flushed;
    for (std::size_t i = 0; i < at; ++i) {
      if (all[i].path.compare(0, draft.size(), draft) != 0) continue;
      if (all[i].name == "open" && all[i].path != draft) flushed[draft] = false;
      if (all[i].name == "write") written = true, flushed[all[i].path] = false;
      if (all[i].name == "fsync") flushed[all[i].path] = true;
    }
    if (!written) return names + ": nothing was written";
    for (const auto& [path, done] : flushed) {
      if (!done) return names + ": " + path + " was not flushed";
    }
    const std::string folder = fs::path(all[at].other).parent_path().string();
    bool named = false;
    for (std::size_t i = at + 1; i < all.size() && all[i].name != "write"; ++i) {
      named = named || (all[i].name == "fsync" && all[i].path == folder);
    }
    if (!named) return names + ": the folder was not flushed";
  }
  return {};
}

}  // namespace kill_test
