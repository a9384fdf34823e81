// SPDX-License-Identifier: Apache-2.0
//
// The program `rope`: which commands there are (commands.hpp).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "commands.hpp"
#include "rope/detail/sentence.hpp"
#include "rope/kernel_target.hpp"
#include "rope/streaming.hpp"
#include "rope/version.hpp"

namespace rope::tool {
namespace {

/// One sentence, and where to read more.
void print_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  constexpr std::size_t longest = 400;
  std::string words = error.what();
  const std::vector<std::string> unknown = app.remaining();
  if (app.get_subcommands().empty() && !unknown.empty()) words = fmt::format("there is no command or option {}", unknown.front());
  std::replace(words.begin(), words.end(), '\n', ' ');
  words = detail::one_line(words, longest);
  std::string command = app.get_name();
  for (const CLI::App* parsed : app.get_subcommands()) command += " " + parsed->get_name();
  fmt::print(stderr, "[rope] {}; see {} --help\n", words, command);
}

int run(int argc, char** argv) {
  CLI::App app("Rotary position embedding: what this library computes, and how it compares.", "rope");
  app.set_version_flag("--version", fmt::format("rope {}.{}.{}", ROPE_VERSION_MAJOR, ROPE_VERSION_MINOR, ROPE_VERSION_PATCH));
  app.require_subcommand(1);
  const std::vector<Command> commands{
      add_inspect(app),   add_compare(app), add_convert(app),    add_verify(app),
      add_gradcheck(app), add_bench(app),   add_completion(app), add_man(app),
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? fine : unusable;  // --help and --version
    print_usage_error(app, error);
    return unusable;
  }
  // What is wrong with the environment is no case's fault.
  kernel_target();
  detail::require_streaming_threshold();
  for (const Command& command : commands) {
    if (command.parser->parsed()) return command.run();
  }
  return unusable;
}

}  // namespace
}  // namespace rope::tool

int main(int argc, char** argv) {
  try {
    return rope::tool::run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "[rope] there is not enough memory\n");
    return rope::tool::unusable;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return rope::tool::unusable;
  }
}
