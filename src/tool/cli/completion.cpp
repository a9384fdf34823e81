// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/completion.hpp"

#include <fmt/core.h>

#include "numbers/joined.hpp"

namespace eigen_rope::tool {
namespace {

std::string all_options(const CommandOutline& command) {
  std::vector<std::string> names;
  for (const OptionOutline& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return detail::joined(names, " ");
}

std::string all_commands(const CommandOutline& program) {
  std::vector<std::string> names;
  names.reserve(program.commands.size());
  for (const CommandOutline& command : program.commands) names.push_back(command.name);
  return detail::joined(names, " ");
}

std::vector<std::string> positional_choices(const CommandOutline& command) {
  for (const OptionOutline& option : command.options) {
    if (option.names.empty() && !option.choices.empty()) return option.choices;
  }
  return {};
}

/// Options whose value is one of some words, or any word that is no file.
std::string bash_values(const CommandOutline& command) {
  std::string text;
  for (const OptionOutline& option : command.options) {
    if (option.names.empty() || option.value.empty()) continue;
    const bool file = option.value == "FILE" || option.value == "FOLDER";
    const std::string reply = file ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                   : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))",
                                                 detail::joined(option.choices, " "));
    text += fmt::format("        {}) {}; return ;;\n", detail::joined(option.names, "|"), reply);
  }
  return text;
}

std::string bash(const CommandOutline& program) {
  std::string cases;
  for (const CommandOutline& command : program.commands) {
    const std::string values = bash_values(command);
    cases += fmt::format("    {})\n", command.name);
    if (!values.empty()) cases += fmt::format("      case $before in\n{}      esac\n", values);
    const std::vector<std::string> choices = positional_choices(command);
    const std::string otherwise =
        choices.empty() ? "compgen -f -- \"$word\""
                        : fmt::format("compgen -W '{}' -- \"$word\"", detail::joined(choices, " "));
    cases += fmt::format(
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\")); else "
        "COMPREPLY=($({})); fi\n      ;;\n",
        all_options(command), otherwise);
  }
  return fmt::format(R"(# bash completion for {0}
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{1} {2}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{3}  esac
}}
complete -o filenames -F _{0} {0}
)",
                     program.name, all_commands(program), all_options(program), cases);
}

/// Inside a word of _arguments in single quotes: brackets, colons and quotes have a meaning there.
std::string zsh_quoted(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

std::string zsh_action(const OptionOutline& option) {
  if (!option.choices.empty()) return fmt::format("({})", detail::joined(option.choices, " "));
  const bool words = !option.names.empty() && option.value != "FILE" && option.value != "FOLDER";
  return words ? " " : "_files";
}

std::string zsh(const CommandOutline& program) {
  std::string descriptions;
  std::string cases;
  for (const CommandOutline& command : program.commands) {
    descriptions += fmt::format("    '{}:{}'\n", command.name, zsh_quoted(command.description));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionOutline& option : command.options) {
      if (option.names.empty()) {
        cases +=
            fmt::format(" \\\n        '*:{}:{}'", zsh_quoted(option.value), zsh_action(option));
        continue;
      }
      const std::string value =
          option.value.empty()
              ? ""
              : fmt::format(":{}:{}", zsh_quoted(option.value), zsh_action(option));
      for (const std::string& name : option.names) {
        cases +=
            fmt::format(" \\\n        '{}[{}]{}'", name, zsh_quoted(option.description), value);
      }
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef {0}
_{0}() {{
  local -a commands
  commands=(
{1}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{2}  esac
}}
if [ "$funcstack[1]" = "_{0}" ]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                     program.name, descriptions, cases);
}

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "'";
}

std::string fish(const CommandOutline& program) {
  std::string text = fmt::format(
      "# fish completion for {0}\ncomplete -c {0} -n __fish_use_subcommand -f\n", program.name);
  for (const CommandOutline& command : program.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name,
                        command.name, fish_quoted(command.description));
  }
  for (const CommandOutline& command : program.commands) {
    for (const OptionOutline& option : command.options) {
      std::string line = fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'",
                                     program.name, command.name);
      if (option.names.empty() && option.choices.empty()) continue;  // file names, as always
      for (const std::string& name : option.names) {
        line += name.rfind("--", 0) == 0 ? fmt::format(" -l {}", name.substr(2))
                                         : fmt::format(" -s {}", name.substr(1));
      }
      if (option.names.empty() || !option.choices.empty())
        line += fmt::format(" -f -a {}", fish_quoted(detail::joined(option.choices, " ")));
      if (!option.names.empty() && !option.value.empty()) line += " -r";
      text += fmt::format("{} -d {}\n", line, fish_quoted(option.description));
    }
  }
  return text;
}

}  // namespace

std::string completion(const CommandOutline& program, Shell shell) {
  switch (shell) {
    case Shell::bash: return bash(program);
    case Shell::zsh: return zsh(program);
    case Shell::fish: break;
  }
  return fish(program);
}

}  // namespace eigen_rope::tool
