// SPDX-License-Identifier: Apache-2.0
//
// A program's manual page (section 1, roff with the man macros), from its commands and options.
#pragma once

#include <string>

#include "tool/cli/command_outline.hpp"

namespace eigen_rope::tool {

/// `version` as 1.2.3. What no parser knows (exit codes, environment, examples) is part of the
/// page's own text.
std::string man_page(const CommandOutline& program, const std::string& version);

}  // namespace eigen_rope::tool
