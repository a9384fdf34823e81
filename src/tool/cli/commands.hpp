// SPDX-License-Identifier: Apache-2.0
//
// The commands of the program `eigen-rope`: each adds its options to the parser and says what to
// run if it was called.
//
//   Command add_verify(CLI::App& app);   in verify/command.cpp, the only file that knows its
//                                        options
//
// run() prints its results (print_text, terminal.hpp) and returns the exit code; what cannot be
// used is thrown, main prints the sentence and returns `unusable`. Not the work: that is in files
// without CLI11, so that tests reach it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace eigen_rope::tool {

/// 1 is what a command found, not what went wrong: a check that failed, two files that differ.
enum ExitCode : int { fine = 0, found = 1, unusable = 2 };

struct Command {
  const CLI::App* parser = nullptr;  ///< the subcommand; owned by the parser it was added to
  std::function<int()> run{};        ///< after parsing; owns the options' values
};

Command add_bench(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_completion(CLI::App& app);
Command add_convert(CLI::App& app);
Command add_gradcheck(CLI::App& app);
/// After all others: it knows their names.
Command add_help(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_man(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_verify(CLI::App& app);

}  // namespace eigen_rope::tool
