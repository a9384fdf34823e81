// SPDX-License-Identifier: Apache-2.0
#include "tool/convert/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace eigen_rope::tool {
namespace {

constexpr auto between_lines = std::chrono::milliseconds(100);
// Before that much is done, what is left cannot be told.
constexpr double least_share = 0.02;

std::string size_text(std::uint64_t bytes, std::uint64_t all) {
  constexpr double mib = 1 << 20, gib = 1 << 30;
  const double value = static_cast<double>(bytes);
  return static_cast<double>(all) >= gib ? fmt::format("{:.2f}", value / gib)
                                         : fmt::format("{:.1f}", value / mib);
}

}  // namespace

void Progress::begin(std::string what, std::uint64_t bytes) {
  what_ = std::move(what);
  done_ = 0;
  all_ = bytes;
  began_ = Clock::now();
  if (terminal_ != nullptr) draw(began_);
}

void Progress::advance(std::uint64_t bytes) {
  done_ = std::min(all_, done_ + bytes);
  if (terminal_ == nullptr) return;
  const Clock::time_point now = Clock::now();
  if (now - drawn_ >= between_lines) draw(now);
}

void Progress::draw(Clock::time_point now) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const double share = all_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(all_);
  std::string line = fmt::format("{:<9}  {} of {} {}  {:3.0f} %", what_, size_text(done_, all_),
                                 size_text(all_, all_), all_ >= gib ? "GiB" : "MiB", 100 * share);
  const double took = std::chrono::duration<double>(now - began_).count();
  if (share >= least_share && took > 1)
    line += fmt::format("  {:.0f} s left", took * (1 - share) / share);
  fmt::print(terminal_, "\r{}\033[K", line);
  std::fflush(terminal_);
  drawn_ = now;
  shown_ = true;
}

void Progress::end() {
  if (!std::exchange(shown_, false)) return;
  fmt::print(terminal_, "\r\033[K");
  std::fflush(terminal_);
}

std::FILE* progress_terminal(std::FILE* file) {
  const char* kind = std::getenv("TERM");
  const bool able = kind != nullptr && *kind != '\0' && std::strcmp(kind, "dumb") != 0;
  return able && ::isatty(::fileno(file)) == 1 ? file : nullptr;
}

}  // namespace eigen_rope::tool
