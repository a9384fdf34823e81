// SPDX-License-Identifier: Apache-2.0
//
// Text for whoever reads it: how wide, in which colours, and printed whole or not.
//
// Colours, and whatever else needs a terminal that obeys escape sequences, only on a terminal whose
// TERM is set and not dumb, and not where NO_COLOR is set to anything but nothing. Knows nothing of
// what the text says.
#pragma once

#include <cstdio>
#include <string>

namespace eigen_rope::tool {

enum class Colour { none, ansi };

struct TextOptions {
  int width = 120;  ///< columns to fit, at least 40
  Colour colour = Colour::none;
};

/// Width and colour for what `file` is: those of a terminal; COLUMNS or 120 and no colour
/// elsewhere.
TextOptions text_options_for(std::FILE* file);

/// Wraps text in the escape sequences of a terminal, or leaves it alone.
class Painter {
 public:
  explicit Painter(Colour colour) : on_(colour == Colour::ansi) {}

  std::string bold(const std::string& text) const { return painted("1", text); }
  /// The same for text that ends its last line.
  std::string bold_lines(const std::string& text) const {
    return bold(text.substr(0, text.size() - 1)) + "\n";
  }
  std::string faint(const std::string& text) const { return painted("2", text); }
  std::string red(const std::string& text) const { return painted("1;31", text); }
  std::string yellow(const std::string& text) const { return painted("33", text); }

 private:
  std::string painted(const char* code, const std::string& text) const;

  bool on_;
};

/// Characters of a text in UTF-8, each of which is taken for one column.
std::size_t columns_of(const std::string& text);

/// Words in lines of at most `width` columns, the first after `mark`, the others as far in. A word
/// that is longer is broken.
std::string wrapped(const std::string& text, int width, const std::string& mark);

/// Lines, each of which is wrapped where it is longer than `width`: what follows stands under the
/// last column of a table that begins within the first 40 columns (after two spaces or more), or as
/// far in as the line. No spaces at the ends of lines.
std::string folded(const std::string& lines, int width);

/// From here on print_text prints nothing: standard output is for what a program reads.
void leave_reports_out();

/// On stdout. Throws std::runtime_error if not all of it could be.
void print_text(const std::string& text);

}  // namespace eigen_rope::tool
