// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "eigen_rope/version.hpp"
#include "tool/cli/command_outline.hpp"
#include "tool/cli/commands.hpp"
#include "tool/cli/man_page.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {

Command add_man(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "man", "Print this program's manual page, for man: eigen-rope man | man -l -");
  return {command, [&app] {
            print_text(man_page(outline_of(app),
                                fmt::format("{}.{}.{}", EIGEN_ROPE_VERSION_MAJOR,
                                            EIGEN_ROPE_VERSION_MINOR, EIGEN_ROPE_VERSION_PATCH)));
            return fine;
          }};
}

}  // namespace eigen_rope::tool
