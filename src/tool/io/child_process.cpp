// SPDX-License-Identifier: Apache-2.0
#include "tool/io/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tool/io/file_error.hpp"

namespace eigen_rope::tool {
namespace {

/// What becomes of a child's descriptors; nothing where they are ours.
class Descriptors {
 public:
  explicit Descriptors(Prints prints) {
    if (::posix_spawn_file_actions_init(&actions_) != 0)
      refuse("a program", "could not be prepared");
    if (prints == Prints::to_standard_error)
      ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    if (prints == Prints::nowhere) {
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0);
      }
    }
  }
  ~Descriptors() { ::posix_spawn_file_actions_destroy(&actions_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Ended run_program(std::vector<std::string> words, Prints prints) {
  const Descriptors descriptors(prints);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments.front(), descriptors.get(), nullptr,
                                   arguments.data(), environ);
  if (error == ENOENT) return {true, -1};
  if (error != 0) refuse(words.front(), "the program could not be started");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) refuse(words.front(), "the program could not be waited for");
  }
  return {false, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

}  // namespace eigen_rope::tool
