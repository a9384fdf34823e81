// SPDX-License-Identifier: Apache-2.0
#include "rank_watch.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>

namespace train_lm {
namespace {

constexpr std::chrono::milliseconds beat{100};
constexpr std::int64_t beats_in_a_second = 10;
/// A heart that has not beaten for so many beats has stopped.
constexpr std::int64_t stopped_after = 15;
constexpr const char* resumes = "--resume continues from the last step that was saved";

/// -1 where there is no such process, or the system has no such descriptors.
int descriptor_of(std::int64_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
#else
  static_cast<void>(process);
  return -1;
#endif
}

bool is_there(std::int64_t process) {
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

/// Also where it stays in the table until mpirun looks.
bool has_ended(std::int64_t process, int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return !is_there(process) || (descriptor >= 0 && ::poll(&one, 1, 0) == 1);
}

}  // namespace

RankWatch::RankWatch(RankBoard& board, RankSlot* slots, int count, int here, double seconds)
    : board_(board),
      slots_(slots),
      count_(count),
      here_(here),
      limit_(std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * beats_in_a_second))),
      seen_(static_cast<std::size_t>(count)) {
  own().waits_for = 0;
  own().process = ::getpid();
}

void RankWatch::start() {
  look_for_the_gone();
  thread_ = std::thread([this] { run(); });
}

RankWatch::~RankWatch() { leave(); }

void RankWatch::leave() {
  if (leaving_.exchange(true)) return;
  if (thread_.joinable()) thread_.join();
  own().process = 0;
  for (const Seen& seen : seen_) {
    if (seen.descriptor >= 0) ::close(seen.descriptor);
  }
}

void RankWatch::tell(RankBoard& board, const std::string& sentence) {
  if (board.told.exchange(1) == 0) {
    fmt::print(stderr, "train_lm: {}\n", sentence);
    std::fflush(stderr);
  }
  // mpirun forwards what a process says, and may drop what it has not read when the process ends.
  // The end of any rank may be that of the one that speaks.
  std::this_thread::sleep_for(3 * beat);
}

void RankWatch::run() {
  while (!leaving_) {
    look_for_the_gone();
    look_at_the_clock();
    wait_for_a_beat();
  }
}

void RankWatch::wait_for_a_beat() {
  polled_.clear();
  for (const Seen& seen : seen_) {
    if (seen.descriptor >= 0) polled_.push_back({seen.descriptor, POLLIN, 0});
  }
  if (::poll(polled_.data(), polled_.size(), static_cast<int>(beat.count())) == 0) ++own().beats;
}

void RankWatch::look_for_the_gone() {
  for (int i = 0; i < count_; ++i) {
    const std::int64_t process = slots_[i].process;
    Seen& seen = seen_[static_cast<std::size_t>(i)];
    if (process != seen.process) {
      // Processes of another container are never there, and a rank that leaves says so before its
      // process ends.
      if (seen.descriptor >= 0) ::close(seen.descriptor);
      seen.process = process != 0 && is_there(process) ? process : 0;
      seen.descriptor = seen.process != 0 ? descriptor_of(process) : -1;
    }
    if (seen.process == 0 || !has_ended(seen.process, seen.descriptor)) continue;
    if (slots_[i].process == 0) continue;
    end(fmt::format("rank {} (process {}) is gone, and the training ends; {}",
                    slots_[i].rank.load(), process, resumes));
  }
}

void RankWatch::look_at_the_clock() {
  const std::int64_t now = own().beats;
  for (int i = 0; i < count_; ++i) {
    Seen& seen = seen_[static_cast<std::size_t>(i)];
    const std::int64_t beats = slots_[i].beats;
    if (beats == seen.last_beat) continue;
    seen.last_beat = beats;
    seen.at = now;
  }
  const std::int64_t waits = own().waits;
  if (own().waits_for == 0 || waits != waits_) {
    waits_ = waits;
    waits_since_ = now;
  } else if (now - waits_since_ >= limit_) {
    end(fmt::format("rank {} has waited {:g} s for {}; {}", own().rank.load(),
                    static_cast<double>(limit_) / beats_in_a_second, reason_to_wait(), resumes));
  }
}

std::string RankWatch::reason_to_wait() const {
  for (int i = 0; i < count_; ++i) {
    if (slots_[i].process != 0 &&
        slots_[here_].beats - seen_[static_cast<std::size_t>(i)].at > stopped_after)
      return fmt::format("rank {} (process {}), which gives no sign of life", slots_[i].rank.load(),
                         slots_[i].process.load());
  }
  for (int i = 0; i < count_; ++i) {
    if (slots_[i].process != 0 && slots_[i].waits_for == 0)
      return fmt::format("rank {} (process {}), which is at work or hangs", slots_[i].rank.load(),
                         slots_[i].process.load());
  }
  const std::int32_t waits_for = slots_[here_].waits_for;
  return waits_for < 0 ? std::string("the other ranks") : fmt::format("rank {}", waits_for - 1);
}

void RankWatch::end(const std::string& sentence) {
  tell(board_, sentence);
  ::_exit(1);
}

}  // namespace train_lm
