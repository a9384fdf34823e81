// SPDX-License-Identifier: Apache-2.0
//
// The program `eigen-rope`: which commands there are (commands.hpp).
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/detail/sentence.hpp"
#include "eigen_rope/version.hpp"
#include "numbers/joined.hpp"
#include "tool/cli/commands.hpp"
#include "tool/io/byte_files.hpp"
#include "tool/io/suggestion.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace {

const CLI::App& innermost(const CLI::App& app) {
  return app.get_subcommands().empty() ? app : *app.get_subcommands().front();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// What was not expected: an option before anything else, since the values of an unknown one are
/// left over as well.
std::string sentence_about(const CLI::App& app, std::vector<std::string> unknown) {
  std::stable_partition(unknown.begin(), unknown.end(), is_option);
  const std::string& word = unknown.front();
  const CLI::App& command = innermost(app);
  const bool in_command = &command != &app;
  if (is_option(word)) {
    const std::string name = word.substr(0, word.find('='));
    const std::string owner = in_command ? command.get_name() + " has" : "there is";
    return fmt::format("{} no option {}{}", owner, name,
                       did_you_mean(name, names_of_options(command)));
  }
  if (in_command)
    return fmt::format("{} takes no further argument, got {}", command.get_name(), word);
  return fmt::format("there is no command {}{}", word, did_you_mean(word, names_of_commands(app)));
}

/// One sentence, and where to read more.
void print_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  constexpr std::size_t longest = 400;
  std::string words = error.what();
  const std::vector<std::string> unknown = app.remaining(true);
  const bool no_command = app.get_subcommands().empty();
  if (no_command && unknown.empty())
    words =
        fmt::format("a command must be given: {}", detail::joined(names_of_commands(app), ", "));
  const bool left_over = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  // A misspelt option comes before what is missing because of it.
  const bool misspelt = std::any_of(unknown.begin(), unknown.end(), is_option);
  if (!unknown.empty() && (no_command || left_over || misspelt))
    words = sentence_about(app, unknown);
  // "--json: 1 required TEXT missing"
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string name = words.substr(0, words.find(':'));
    const CLI::Option* option = innermost(app).get_option_no_throw(name);
    if (option != nullptr)
      words = fmt::format("{} must be followed by {}", name, option->get_option_text());
  }
  std::replace(words.begin(), words.end(), '\n', ' ');
  words = detail::one_line(words, longest);
  const CLI::App& command = innermost(app);
  const std::string name =
      &command == &app ? app.get_name() : app.get_name() + " " + command.get_name();
  fmt::print(stderr, "[rope] {}; see {} --help\n", words, name);
}

/// --help and --version are errors to the parser.
int print_asked_for(const CLI::App& app, const CLI::ParseError& error) {
  const int width = text_options_for(stdout).width;
  print_text(folded(error.get_name() == "CallForHelp" ? app.help() : error.what(), width));
  return fine;
}

bool writes_json_to_standard_output(const CLI::App& command) {
  const CLI::Option* json = command.get_option_no_throw("--json");
  return json != nullptr && json->count() > 0 && is_standard_output(json->as<std::string>());
}

int run(int argc, char** argv) {
  CLI::App app("Rotary position embedding: what this library computes, and how it compares.",
               "eigen-rope");
  app.set_version_flag("-V,--version",
                       fmt::format("eigen-rope {}.{}.{}", EIGEN_ROPE_VERSION_MAJOR,
                                   EIGEN_ROPE_VERSION_MINOR, EIGEN_ROPE_VERSION_PATCH));
  app.require_subcommand(1);
  const std::vector<Command> commands{
      add_inspect(app),   add_compare(app), add_plan(app),       add_convert(app), add_verify(app),
      add_gradcheck(app), add_bench(app),   add_completion(app), add_man(app),     add_help(app),
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_asked_for(app, error);
    print_usage_error(app, error);
    return unusable;
  }
  // What is wrong with the environment is no case's fault.
  kernel_target();
  detail::require_streaming_threshold();
  for (const Command& command : commands) {
    if (!command.parser->parsed()) continue;
    if (writes_json_to_standard_output(*command.parser)) leave_reports_out();
    return command.run();
  }
  return unusable;
}

}  // namespace
}  // namespace eigen_rope::tool

int main(int argc, char** argv) {
  try {
    return eigen_rope::tool::run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "[rope] there is not enough memory\n");
    return eigen_rope::tool::unusable;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return eigen_rope::tool::unusable;
  }
}
