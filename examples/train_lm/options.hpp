// SPDX-License-Identifier: Apache-2.0
//
// What the command line says. Values that were not given have the demo's defaults; --resume takes
// them from the checkpoint instead, so it must be known which were given.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ranks.hpp"
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
  RankGrid ranks;
  /// Seconds that a rank waits for another in a step.
  double rank_timeout = 120;

  /// Names of the options that were given, without dashes.
  std::set<std::string> given;
  /// All of them, a line NAME=VALUE for each.
  std::string text_of_all;
};

/// The options, or the exit code and what is to be printed if there is nothing left to do (--help,
/// a wrong option).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
  std::string message;
};

ParsedOptions parse_options(int argc, char** argv);

/// Throws train_lm::Error unless the sizes describe a model.
void check_sizes(const RunConfig& run);

/// Throws train_lm::Error unless the run can be shared by these ranks.
void check_ranks(const Options& options);

}  // namespace train_lm
