// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tool/cli/commands.hpp"
#include "tool/io/choice.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {

Command add_help(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("help", "Print what this program or one of its commands takes.");
  const auto about = std::make_shared<const CLI::App*>(&app);
  std::vector<std::pair<std::string, const CLI::App*>> commands;
  for (const CLI::App* one : app.get_subcommands({})) commands.emplace_back(one->get_name(), one);
  add_choice<const CLI::App*>(*command, "COMMAND", *about, commands,
                              "Which (default: the program)");
  return {
      command, [&app, about] {
        // Not app.help(), which is this command's own once it is parsed.
        const std::string name =
            *about == &app ? app.get_name() : app.get_name() + " " + (*about)->get_name();
        print_text(folded(app.get_formatter()->make_help(*about, name, CLI::AppFormatMode::Normal),
                          text_options_for(stdout).width));
        return fine;
      }};
}

}  // namespace eigen_rope::tool
