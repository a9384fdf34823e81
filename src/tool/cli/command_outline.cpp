// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/command_outline.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

namespace eigen_rope::tool {
namespace {

/// a|b|c as its words; nothing for FILE, N and other placeholders, which are in capitals.
std::vector<std::string> words_of(const std::string& value) {
  const auto placeholder = [](unsigned char letter) {
    return std::isupper(letter) != 0 || letter == ' ' || letter == '.';
  };
  if (value.find('|') == std::string::npos || std::any_of(value.begin(), value.end(), placeholder))
    return {};
  return CLI::detail::split(value, '|');
}

/// The description of a CLI::App's option list is wrapped for a terminal; elsewhere it is one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

OptionOutline outline_of(const CLI::Option& option) {
  OptionOutline result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  if (result.names.empty()) {
    result.value = option.get_name(true);
  } else if (takes_value) {
    result.value =
        option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
  }
  result.choices = words_of(option.get_option_text());
  result.description = one_line(option.get_description());
  result.required = option.get_required();
  return result;
}

}  // namespace

CommandOutline outline_of(const CLI::App& app) {
  CommandOutline result{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) result.options.push_back(outline_of(*option));
  const auto visible = [](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  };
  for (const CLI::App* command : app.get_subcommands(visible))
    result.commands.push_back(outline_of(*command));
  return result;
}

}  // namespace eigen_rope::tool
