// SPDX-License-Identifier: Apache-2.0
//
// Notices ranks that are gone or hang. MPI waits for ever for a rank that was killed, and mpirun
// says a process number and no more.
//
//   board    memory that the ranks of a machine share: for each its process, its heartbeat, and for
//            whom it waits
//   watch    a thread of each rank, which beats ten times a second and looks at the others
//
// The end of a process wakes the watches of its machine at once: Open MPI ends the others too, some
// milliseconds later and without a word (Linux, pidfd; elsewhere the next beat looks). A rank that
// waits for longer than the limit ends the run, and names whom the waiting leads to: a rank whose
// heart has stopped (SIGSTOP), else one that computes while others wait for it, else the neighbour.
// Waiting is counted in heartbeats, so a whole run may be suspended. Ranks of other machines are
// seen through the limit alone.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace train_lm {

/// What a rank says of itself, in zeroed memory that others read.
struct RankSlot {
  std::atomic<std::int64_t> process;  ///< 0: not to be looked at
  std::atomic<std::int64_t> beats;
  std::atomic<std::int32_t> rank;
  std::atomic<std::int32_t> waits_for;  ///< 0: nobody, -1: everybody, otherwise a rank and 1
  std::atomic<std::int64_t> waits;      ///< how often it has begun or ended to wait
};

/// Of one machine; the slots follow it.
struct RankBoard {
  std::atomic<std::int32_t> told;  ///< a rank has said why the run ends
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

class RankWatch {
 public:
  static constexpr int everybody = -1;

  /// The slots of the machine's ranks, of which this is the one at `here`. They outlive this. The
  /// others may look at this rank from now on.
  RankWatch(RankBoard& board, RankSlot* slots, int count, int here, double seconds);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Looks at the others from now on, each of which must have its watch: of a process that is not
  /// there at the first look nobody knows whether it has ended or runs in another container.
  void start();

  /// While it lives, this rank waits for another, or for everybody.
  class Waiting {
   public:
    Waiting(RankWatch* watch, int rank) : watch_(watch) { set(rank == everybody ? -1 : rank + 1); }
    ~Waiting() { set(0); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    void set(std::int32_t waits_for) {
      if (watch_ == nullptr) return;
      watch_->own().waits_for = waits_for;
      ++watch_->own().waits;
    }

    RankWatch* watch_;
  };

  /// This rank ends as it should: the others no longer look at it.
  void leave();

  /// Prints the sentence, unless a rank of this machine has printed one.
  static void tell(RankBoard& board, const std::string& sentence);

 private:
  RankSlot& own() { return slots_[here_]; }
  void run();
  void wait_for_a_beat();
  void look_for_the_gone();
  void look_at_the_clock();
  /// Whom this rank's waiting leads to, and what is known of it.
  std::string reason_to_wait() const;
  [[noreturn]] void end(const std::string& sentence);

  RankBoard& board_;
  RankSlot* slots_;
  int count_;
  int here_;
  std::int64_t limit_;  ///< in beats

  /// What this rank has seen of another.
  struct Seen {
    std::int64_t last_beat = 0;
    std::int64_t at = 0;       ///< this rank's beat when it saw that
    std::int64_t process = 0;  ///< one that was there
    int descriptor = -1;       ///< of the process; readable when it has ended
  };
  std::vector<Seen> seen_;
  std::vector<pollfd> polled_;
  std::int64_t waits_ = 0;
  std::int64_t waits_since_ = 0;

  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

}  // namespace train_lm
