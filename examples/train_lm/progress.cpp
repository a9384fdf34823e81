// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace train_lm {

std::string minutes(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::round(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

Progress::Progress(std::string label, std::int64_t first, std::int64_t steps,
                   std::int64_t tokens_per_step, Shown shown)
    : label_(std::move(label)),
      first_(first),
      steps_(steps),
      tokens_per_step_(tokens_per_step),
      is_shown_(shown),
      terminal_(::isatty(STDOUT_FILENO) == 1) {}

Progress::~Progress() {
  if (line_open_) fmt::print("\n");
  std::fflush(stdout);
}

void Progress::update(std::int64_t done, double bits) {
  if (is_shown_ == Shown::no) return;
  smooth_ = done == first_ + 1 ? bits : 0.9 * smooth_ + 0.1 * bits;
  const Clock::time_point now = Clock::now();
  const std::int64_t every = std::max<std::int64_t>(1, steps_ / 20);
  const bool last = done == steps_;
  if (terminal_ ? (now - shown_ < std::chrono::milliseconds(100) && !last)
                : (done % every != 0 && !last))
    return;
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto here = static_cast<double>(done - first_);
  const double rate = here * static_cast<double>(tokens_per_step_) / seconds;
  const double left = seconds / here * static_cast<double>(steps_ - done);
  const std::string line =
      fmt::format("{}: step {}/{}  {:3}%  {:5.1f}k tokens/s  loss {:.3f} bits  {} left", label_,
                  done, steps_, done * 100 / steps_, rate / 1000, smooth_, minutes(left));
  if (terminal_) {
    fmt::print("\r{:<79}", line);
    line_open_ = true;
  } else {
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

void Progress::saved(std::int64_t done) {
  const std::string line = fmt::format("{}: step {} saved", label_, done);
  if (terminal_) {
    fmt::print("\r{:<79}\n", line);
    line_open_ = false;
  } else {
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

}  // namespace train_lm
