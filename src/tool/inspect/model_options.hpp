// SPDX-License-Identifier: Apache-2.0
//
// The options of commands that look at models: how far, which layers, how strict, where the numbers
// and the picture go.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>

#include "tool/inspect/inspect.hpp"
#include "tool/io/count_text.hpp"
#include "tool/io/files.hpp"
#include "tool/io/gnuplot.hpp"

namespace eigen_rope::tool {

struct ModelOptions {
  InspectOptions inspect{};
  bool lenient = false;
  /// Empty for no file.
  std::string json{};
  std::string plot{};

  models::Strictness strictness() const {
    return lenient ? models::Strictness::lenient : models::Strictness::strict;
  }

  /// Throws FileError where the files could not be written, before there is anything to write.
  void require_outputs() const {
    if (!plot.empty()) require_picture(plot);
    if (!json.empty()) require_writable(json);
  }
};

/// What the options do that differs between commands.
struct ModelOptionTexts {
  std::string context, plot;
};

/// A --context that is no whole number from 1 (131072, 1e6) is a CLI::ValidationError.
inline void add_model_options(CLI::App& command, ModelOptions& options,
                              const ModelOptionTexts& texts) {
  const auto read_context = [&options](const std::string& text) {
    options.inspect.length = parse_count(text).value_or(0);
    if (options.inspect.length < 1)
      throw CLI::ValidationError(
          fmt::format("--context must be a whole number from 1, got {}", text));
  };
  command.add_option_function<std::string>("--context", read_context, texts.context)
      ->option_text("N");
  command
      .add_option("--layer", options.inspect.layer_type,
                  "Only layers of this type, full_attention for example")
      ->option_text("TYPE");
  command.add_flag("--lenient", options.lenient,
                   "Do as Hugging Face would about what a file should not say, with a warning");
  command
      .add_option(
          "--json", options.json,
          "Write every number to this file, or with - to standard output in place of the report")
      ->option_text("FILE");
  command.add_option("--plot", options.plot, texts.plot)->option_text("FILE");
}

}  // namespace eigen_rope::tool
