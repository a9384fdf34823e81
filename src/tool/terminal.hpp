// SPDX-License-Identifier: Apache-2.0
//
// Text for whoever reads it: how wide, in which colours, and printed whole or not.
//
// Colours only on a terminal, and not where NO_COLOR is set. Knows nothing of what the text says.
#pragma once

#include <cstdio>
#include <string>

namespace rope::tool {

enum class Colour { none, ansi };

struct TextOptions {
  int width = 160;  ///< columns to fit, at least 40
  Colour colour = Colour::none;
};

/// Width and colour for what `file` is: those of a terminal (no colour where NO_COLOR is set), COLUMNS or 160 elsewhere.
TextOptions text_options_for(std::FILE* file);

/// Wraps text in the escape sequences of a terminal, or leaves it alone.
class Painter {
 public:
  explicit Painter(Colour colour) : on_(colour == Colour::ansi) {}

  std::string bold(const std::string& text) const { return painted("1", text); }
  std::string faint(const std::string& text) const { return painted("2", text); }
  std::string red(const std::string& text) const { return painted("1;31", text); }
  std::string yellow(const std::string& text) const { return painted("33", text); }

 private:
  std::string painted(const char* code, const std::string& text) const;

  bool on_;
};

/// Words in lines of at most `width` columns (more only for a word that is longer), the first after `mark`, the others as far in.
std::string wrapped(const std::string& text, int width, const std::string& mark);

/// On stdout. Throws std::runtime_error if not all of it could be.
void print_text(const std::string& text);

}  // namespace rope::tool
