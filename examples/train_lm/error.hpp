// SPDX-License-Identifier: Apache-2.0
//
// What the example throws for anything the user can put right: a missing text, a context that does not fit, a damaged checkpoint, a
// full disk. The message is the whole sentence the user sees; main() prints it, as one_line(), and exits with 1.
#pragma once

#include <stdexcept>
#include <string>

namespace train_lm {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A sentence that may repeat words of a file: none of them breaks the line, steers the terminal or fills the screen.
inline std::string one_line(std::string text) {
  constexpr std::size_t longest = 1000;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return text;
}

}  // namespace train_lm
