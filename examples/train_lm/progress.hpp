// SPDX-License-Identifier: Apache-2.0
//
// How far a run is: a line that is rewritten in place on a terminal, about twenty plain lines
// otherwise (a file, a pipe, CI).
//
//   default: step 135/450  30%  31.2k tokens/s  loss 2.41 bits  0:42 left
//
// Writes to stdout. No colours, no cursor control but the carriage return.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace train_lm {

/// Of several ranks one shows it.
enum class Shown { yes, no };

class Progress {
 public:
  /// `first` steps were done before; `tokens_per_step` characters are in each.
  Progress(std::string label, std::int64_t first, std::int64_t steps, std::int64_t tokens_per_step,
           Shown shown = Shown::yes);
  /// Ends the line if one is open.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After each step: how many are done, and the loss in bits per character (smoothed here for
  /// display).
  void update(std::int64_t done, double bits);

  /// Says that this many steps are in the checkpoint, on a line of its own.
  void saved(std::int64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::int64_t first_;
  std::int64_t steps_;
  std::int64_t tokens_per_step_;
  Shown is_shown_;
  bool terminal_;
  double smooth_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
  bool line_open_ = false;
};

/// 95 -> 1:35.
std::string minutes(double seconds);

}  // namespace train_lm
