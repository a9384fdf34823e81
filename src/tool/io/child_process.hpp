// SPDX-License-Identifier: Apache-2.0
//
// Another program, run to its end: its standard streams are ours, no shell reads its arguments.
// What it prints can be sent to standard error, where standard output is for something else.
#pragma once

#include <string>
#include <vector>

namespace eigen_rope::tool {

struct Ended {
  /// Nothing was run.
  bool missing = false;
  /// -1 where a signal ended it.
  int exit_code = -1;
};

enum class Prints { to_standard_output, to_standard_error, nowhere };

/// `words` are the program, looked for in PATH if it has no slash, and its arguments. Throws
/// FileError where a system call fails.
Ended run_program(std::vector<std::string> words, Prints prints = Prints::to_standard_output);

}  // namespace eigen_rope::tool
