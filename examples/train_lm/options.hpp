// SPDX-License-Identifier: Apache-2.0
//
// What the command line says. Values that were not given have the demo's defaults; --resume takes
// them from the checkpoint instead, so it must be known which were given.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run.hpp"

namespace train_lm {

struct Options {
  std::string text = "/usr/share/common-licenses";
  std::string out = "out/train_lm";
  /// Everything that defines a run, but the vocabulary and the checksum of the text.
  RunConfig run;
  int threads = 0;  ///< 0: one per processor
  bool resume = false;
  bool save_start = false;
  bool profile = false;
  std::int64_t save_every = 100;
  std::int64_t validate_every = 50;
  std::int64_t stop_at = 0;
  Index sample = 400;

  /// Names of the options that were given, without dashes.
  std::set<std::string> given;
};

/// The options, or the exit code if there is nothing left to do (--help, --version, a wrong option;
/// a message has been printed).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};

ParsedOptions parse_options(int argc, char** argv);

/// Throws train_lm::Error unless the sizes describe a model.
void check_sizes(const RunConfig& run);

}  // namespace train_lm
