// SPDX-License-Identifier: Apache-2.0
#include "gnuplot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "files.hpp"

namespace rope::tool {
namespace fs = std::filesystem;
namespace {

/// gnuplot's exit code; throws where it cannot be started.
int run_gnuplot(const fs::path& script, const fs::path& picture) {
  std::string program = "gnuplot";
  std::string argument = script.string();
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
  if (error == ENOENT) refuse(picture.string(), "gnuplot must be installed to draw");
  if (error != 0) refuse(picture.string(), "gnuplot could not be started");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) refuse(picture.string(), "gnuplot could not be waited for");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

void require_picture_name(const fs::path& path) {
  if (path.extension() != ".svg" && path.extension() != ".png") refuse(path.string(), "a picture's name must end in .svg or .png");
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

void draw_picture(const fs::path& path, const PictureSize& size, const std::string& script) {
  require_picture_name(path);
  const char* terminal = path.extension() == ".svg" ? "svg background rgb 'white' font 'sans,12'" : "pngcairo font 'sans,10'";
  make_whole(path, [&](const fs::path& draft) {
    const fs::path commands = draft.string() + ".gp";
    std::ofstream file(commands, std::ios::binary | std::ios::trunc);
    file << fmt::format("set terminal {} size {},{}\nset output {}\n", terminal, size.width, size.height, quoted(draft.string())) << script;
    file.close();
    std::error_code ignored;
    if (file.fail()) {
      fs::remove(commands, ignored);
      refuse(path.string(), "the picture could not be written");
    }
    int code = -1;
    try {
      code = run_gnuplot(commands, path);
    } catch (...) {
      fs::remove(commands, ignored);
      throw;
    }
    fs::remove(commands, ignored);
    if (code != 0 || !fs::exists(draft, ignored)) refuse(path.string(), "gnuplot could not draw");
  });
}

}  // namespace rope::tool
