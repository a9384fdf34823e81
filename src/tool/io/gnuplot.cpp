// SPDX-License-Identifier: Apache-2.0
#include "tool/io/gnuplot.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tool/io/byte_files.hpp"
#include "tool/io/files.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

/// Whether a program of this name is in a folder of PATH.
bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder.empty() ? "." : folder) / program).c_str(), X_OK) == 0)
      return true;
  }
  return false;
}

/// Whether gnuplot drew; throws where it cannot be started.
bool drew(const fs::path& script, const fs::path& picture) {
  const fs::path folder = script.has_parent_path() ? script.parent_path() : fs::path(".");
  const Ended ended = run_gnuplot(folder, script.filename().string(), Prints::to_standard_output);
  if (ended.missing) refuse(picture.string(), "gnuplot must be installed to draw it");
  return ended.exit_code == 0;
}

}  // namespace

void require_picture(const fs::path& path) {
  if (path.extension() != ".svg" && path.extension() != ".png")
    refuse(path.string(), "a picture's name must end in .svg or .png");
  if (is_stream(path)) refuse(path.string(), "a picture must be a file");
  require_writable(path);
  if (!is_installed("gnuplot"))
    refuse(path.string(), "gnuplot must be installed to draw it, and is in no folder of PATH");
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

Ended run_gnuplot(const fs::path& folder, const std::string& name, Prints prints) {
  return run_program({"gnuplot", "-e", "cd " + quoted(folder.string()), name}, prints);
}

void draw_picture(const fs::path& path, const PictureSize& size, const std::string& script) {
  require_picture(path);
  const char* terminal = path.extension() == ".svg" ? "svg background rgb 'white' font 'sans,12'"
                                                    : "pngcairo font 'sans,10'";
  Draft draft(path, DraftKind::file);
  const fs::path commands = draft.path().string() + ".gp";
  std::ofstream file(commands, std::ios::binary | std::ios::trunc);
  // gnuplot runs in the folder of both.
  file << fmt::format("set terminal {} size {},{}\nset output {}\n", terminal, size.width,
                      size.height, quoted(draft.path().filename().string()))
       << script;
  file.close();
  std::error_code ignored;
  if (file.fail()) {
    fs::remove(commands, ignored);
    refuse(path.string(), "the picture could not be written");
  }
  bool drawn = false;
  try {
    drawn = drew(commands, path);
  } catch (...) {
    fs::remove(commands, ignored);
    throw;
  }
  fs::remove(commands, ignored);
  if (!drawn || fs::is_empty(draft.path(), ignored))
    refuse(path.string(), "gnuplot could not draw");
  bring_to_disk(draft.path());
  draft.publish();
}

}  // namespace eigen_rope::tool
