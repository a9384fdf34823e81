// SPDX-License-Identifier: Apache-2.0
//
// What the example throws for anything the user can put right: a missing text, a context that does
// not fit, a damaged checkpoint, a full disk. The message is the whole sentence the user sees;
// main() prints it, as one_line(), and exits with 1.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "eigen_rope/numbers/detail/sentence.hpp"

namespace train_lm {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A sentence that may repeat words of a file: none of them breaks the line, steers the terminal or
/// fills the screen.
inline std::string one_line(std::string_view sentence) {
  return eigen_rope::detail::one_line(sentence, 1000);
}

}  // namespace train_lm
