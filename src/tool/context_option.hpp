// SPDX-License-Identifier: Apache-2.0
//
// --context N: tokens, a whole number from 1. Without it the variable stays as it is.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>

#include "rope/shape.hpp"

namespace rope::tool {

/// Anything else is a CLI::ValidationError.
inline void add_context(CLI::App& command, rope::Index& tokens, const std::string& description) {
  const auto read = [&tokens](const std::string& text) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, tokens);
    if (error != std::errc() || stop != end || tokens < 1)
      throw CLI::ValidationError(fmt::format("--context must be a whole number from 1, got {}", text));
  };
  command.add_option_function<std::string>("--context", read, description)->option_text("N");
}

}  // namespace rope::tool
