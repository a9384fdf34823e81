// SPDX-License-Identifier: Apache-2.0
//
// An option whose value is one of a few words, each of which means a value of an enum.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tool/io/suggestion.hpp"

#include "numbers/joined.hpp"

namespace eigen_rope::tool {

/// Without the option `variable` stays as it is. Any other word is a CLI::ValidationError that
/// names them all.
template <class T>
CLI::Option* add_choice(CLI::App& command, const std::string& name, T& variable,
                        const std::vector<std::pair<std::string, T>>& choices,
                        const std::string& description) {
  std::vector<std::string> words;
  words.reserve(choices.size());
  for (const auto& [word, value] : choices) words.push_back(word);
  const auto choose = [&variable, choices, words, name](const std::string& got) {
    for (const auto& [word, value] : choices) {
      if (word == got) {
        variable = value;
        return;
      }
    }
    throw CLI::ValidationError(fmt::format("{} must be one of {}, got {}{}", name,
                                           detail::joined(words, ", "), got,
                                           did_you_mean(got, words)));
  };
  return command.add_option_function<std::string>(name, choose, description)
      ->option_text(detail::joined(words, "|"));
}

}  // namespace eigen_rope::tool
