// SPDX-License-Identifier: Apache-2.0
//
// The program `rope`: which commands there are (commands.hpp).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <vector>

#include "commands.hpp"
#include "rope/kernel_target.hpp"
#include "rope/streaming.hpp"
#include "rope/version.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace rope::tool;
  CLI::App app("Rotary position embedding: what this library computes, and how it compares.", "rope");
  app.set_version_flag("--version", fmt::format("rope {}.{}.{}", ROPE_VERSION_MAJOR, ROPE_VERSION_MINOR, ROPE_VERSION_PATCH));
  app.require_subcommand(1);
  const std::vector<Command> commands{
      add_verify(app),
      add_gradcheck(app),
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? fine : unusable;
  }
  // What is wrong with the environment is no case's fault.
  rope::kernel_target();
  rope::detail::require_streaming_threshold();
  for (const Command& command : commands) {
    if (command.parser->parsed()) return command.run();
  }
  return unusable;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return rope::tool::unusable;
  }
}
