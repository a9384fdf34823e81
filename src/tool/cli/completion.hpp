// SPDX-License-Identifier: Apache-2.0
//
// Scripts that make a shell complete the commands, options, choices and file names of a program.
//
// Installed where the shells look for them; by hand: `source <(eigen-rope completion bash)`.
#pragma once

#include <string>

#include "tool/cli/command_outline.hpp"

namespace eigen_rope::tool {

enum class Shell { bash, zsh, fish };

std::string completion(const CommandOutline& program, Shell shell);

}  // namespace eigen_rope::tool
