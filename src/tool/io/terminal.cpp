// SPDX-License-Identifier: Apache-2.0
#include "tool/io/terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace eigen_rope::tool {
namespace {

bool reports_left_out = false;

/// Empty where it is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool wants_colours() {
  return variable("NO_COLOR").empty() && !variable("TERM").empty() && variable("TERM") != "dumb";
}

/// The end of as much of the text, from `begin`, as fits these columns; at least one character.
std::size_t end_of_columns(const std::string& text, std::size_t begin, std::size_t columns) {
  std::size_t end = begin;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  for (std::size_t taken = 0; end < text.size() && (taken < columns || taken == 0); ++taken) {
    ++end;
    while (end < text.size() && continues(end)) ++end;
  }
  return end;
}

/// Where what is wrapped of this line continues.
std::size_t hanging_indent(const std::string& line) {
  constexpr std::size_t last_column = 40;
  std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  for (std::size_t i = indent + 1; i + 1 < std::min(line.size(), last_column); ++i) {
    if (line[i - 1] == ' ' && line[i] == ' ' && line[i + 1] != ' ') indent = i + 1;
  }
  return indent;
}

}  // namespace

TextOptions text_options_for(std::FILE* file) {
  TextOptions options;
  const int descriptor = ::fileno(file);
  const char* columns = std::getenv("COLUMNS");
  if (columns != nullptr) std::from_chars(columns, columns + std::strlen(columns), options.width);
  if (::isatty(descriptor) == 1) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.width = size.ws_col;
    if (wants_colours()) options.colour = Colour::ansi;
  }
  options.width = std::max(40, options.width);
  return options;
}

std::string Painter::painted(const char* code, const std::string& text) const {
  return on_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;
  }));
}

std::string wrapped(const std::string& text, int width, const std::string& mark) {
  const std::size_t indent = columns_of(mark);
  const std::size_t room = std::max(static_cast<std::size_t>(std::max(1, width)), indent + 1);
  std::istringstream words(text);
  std::string result, line = mark;
  std::size_t columns = indent;
  const auto end_line = [&] {
    result += line + "\n";
    line = std::string(indent, ' ');
    columns = indent;
  };
  for (std::string word; words >> word;) {
    const bool begun = columns > indent;
    if (begun && columns + 1 + columns_of(word) > room) {
      end_line();
    } else if (begun) {
      line += ' ';
      ++columns;
    }
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t end = end_of_columns(word, begin, room - columns);
      line += word.substr(begin, end - begin);
      columns += columns_of(word.substr(begin, end - begin));
      begin = end;
      if (begin < word.size()) end_line();
    }
  }
  return result + line + "\n";
}

std::string folded(const std::string& lines, int width) {
  std::string result;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (columns_of(line) <= static_cast<std::size_t>(std::max(1, width))) {
      result += line + "\n";
      continue;
    }
    const std::size_t indent = std::min(hanging_indent(line), static_cast<std::size_t>(width) / 2);
    result += wrapped(line.substr(indent), width, line.substr(0, indent));
  }
  return result;
}

void leave_reports_out() { reports_left_out = true; }

void print_text(const std::string& text) {
  if (reports_left_out) return;
  const bool printed =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!printed) throw std::runtime_error("[rope] the results could not be printed");
}

}  // namespace eigen_rope::tool
