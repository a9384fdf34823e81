// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "tool/cli/command_outline.hpp"
#include "tool/cli/commands.hpp"
#include "tool/cli/completion.hpp"
#include "tool/io/choice.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {

Command add_completion(CLI::App& app) {
  const auto shell = std::make_shared<Shell>(Shell::bash);
  CLI::App* command = app.add_subcommand(
      "completion",
      "Print a script that makes a shell complete this program's commands and options.");
  add_choice<Shell>(*command, "SHELL", *shell,
                    {{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}},
                    "Whose script")
      ->required();
  command->footer(
      "For this session:  source <(eigen-rope completion bash)    or    eigen-rope completion fish "
      "| source");
  return {command, [&app, shell] {
            print_text(completion(outline_of(app), *shell));
            return fine;
          }};
}

}  // namespace eigen_rope::tool
