// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "file_error.hpp"

namespace rope::tool {

Ended run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ);
  if (error == ENOENT) return {true, -1};
  if (error != 0) refuse(words.front(), "the program could not be started");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) refuse(words.front(), "the program could not be waited for");
  }
  return {false, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

}  // namespace rope::tool
