// SPDX-License-Identifier: Apache-2.0
//
// How far a long piece of work has come: one line of a terminal, written over at most ten times a
// second, and gone at the end.
//
//   writing    1.20 of 2.00 GiB   60 %   3 s left
//
// Nothing is ever written to what is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace eigen_rope::tool {

class Progress {
 public:
  /// Writes nothing to nullptr.
  explicit Progress(std::FILE* terminal = nullptr) : terminal_(terminal) {}
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A new piece of work, of `bytes` bytes.
  void begin(std::string what, std::uint64_t bytes);
  void advance(std::uint64_t bytes);
  /// Removes the line.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now);

  std::FILE* terminal_;
  std::string what_{};
  std::uint64_t done_ = 0, all_ = 0;
  Clock::time_point began_{}, drawn_{};
  bool shown_ = false;
};

/// `file` where it is a terminal that can write a line over (TERM is neither dumb nor missing),
/// otherwise nullptr.
std::FILE* progress_terminal(std::FILE* file);

}  // namespace eigen_rope::tool
