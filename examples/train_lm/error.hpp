// SPDX-License-Identifier: Apache-2.0
//
// What the example throws for anything the user can put right: a missing text, a context that does not fit, a damaged checkpoint, a
// full disk. The message is the whole sentence the user sees; main() prints it and exits with 1.
#pragma once

#include <stdexcept>

namespace train_lm {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace train_lm
