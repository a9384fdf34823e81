// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace rope::tool {

TextOptions text_options_for(std::FILE* file) {
  TextOptions options;
  const int descriptor = ::fileno(file);
  const char* columns = std::getenv("COLUMNS");
  if (columns != nullptr) std::from_chars(columns, columns + std::strlen(columns), options.width);
  if (::isatty(descriptor) == 1) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.width = size.ws_col;
    if (std::getenv("NO_COLOR") == nullptr) options.colour = Colour::ansi;
  }
  options.width = std::max(40, options.width);
  return options;
}

std::string Painter::painted(const char* code, const std::string& text) const {
  return on_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

std::string wrapped(const std::string& text, int width, const std::string& mark) {
  const auto room = static_cast<std::size_t>(std::max(1, width));
  std::istringstream words(text);
  std::string result, line = mark;
  for (std::string word; words >> word;) {
    const bool begun = line.size() > mark.size();
    if (begun && line.size() + 1 + word.size() > room) {
      result += line + "\n";
      line = std::string(mark.size(), ' ') + word;
    } else {
      line += (begun ? " " : "") + word;
    }
  }
  return result + line + "\n";
}

void print_text(const std::string& text) {
  const bool printed = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!printed) throw std::runtime_error("[rope] the results could not be printed");
}

}  // namespace rope::tool
