// SPDX-License-Identifier: Apache-2.0
//
// What `eigen-rope compare` found, for people and for programs: only what differs. Not the picture
// (plot.hpp).
#pragma once

#include <string>

#include "tool/compare/compare.hpp"
#include "tool/io/json_file.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {

std::string text_of(const Comparison& comparison, const TextOptions& options);

/// Numbers round trip; those that are not finite become null.
Json json_of(const Comparison& comparison);

}  // namespace eigen_rope::tool
