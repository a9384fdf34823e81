// SPDX-License-Identifier: Apache-2.0
//
// The commands and options of a program as plain texts, taken from the parser that reads them: what
// its manual page and its completions are made of, so that neither can name an option that does not
// exist or leave one out.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace eigen_rope::tool {

struct OptionOutline {
  /// With their dashes, short ones first; empty for a positional argument.
  std::vector<std::string> names{};
  /// What stands for the value: FILE, N, a|b|c; empty for a flag.
  std::string value{};
  std::string description{};
  /// The words a value must be one of; empty where it is free.
  std::vector<std::string> choices{};
  bool required = false;
};

struct CommandOutline {
  std::string name{};
  std::string description{};
  std::string footer{};
  std::vector<OptionOutline> options{};
  std::vector<CommandOutline> commands{};
};

CommandOutline outline_of(const CLI::App& app);

}  // namespace eigen_rope::tool
