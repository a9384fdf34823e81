// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a step goes. Each thread has a watch (Laps): lap(part) adds the time since its
// last lap to a part, so nothing between two laps is counted twice or left out.
//
//   seconds of a part = sum over the threads of its laps / threads
//   waiting           = the step - all parts: threads that wait for others
//
// The parts of a step, waiting included, therefore sum to the step. A profile that is off reads no
// clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace train_lm {

enum class Part {
  batch,          ///< the windows drawn from the text
  tables,         ///< cos and sin, made anew where rates are learned
  embedding,      ///< and back: the gradient of the rows that were read
  norms,          ///< both norms of each layer, and the last
  projections,    ///< products with the matrices of q, k, v and o
  rotation,       ///< of queries and keys, and back
  scores,         ///< k^T q, and back to q and k
  softmax,        ///< and its Jacobian
  values,         ///< v p, and back to v and p
  mlp,            ///< products with the matrices of up and down
  activation,     ///< relu(x)^2
  logits,         ///< products with the matrix of the head
  cross_entropy,  ///< the loss, and the gradient of the logits
  summing,        ///< the threads' gradients into one
  adam,           ///< the gradient's norm, moments and weights
  ranks,          ///< waiting for blocks and sums of other ranks
  waiting         ///< for other threads
};
inline constexpr std::size_t part_count = static_cast<std::size_t>(Part::waiting) + 1;

std::string_view name(Part part);

enum class Way { forward, backward };

enum class Profiling { off, on };

/// Seconds of each part, on the way forward and on the way back.
using PartSeconds = std::array<std::array<double, 2>, part_count>;

/// The watch of one thread.
class alignas(64) Laps {
 public:
  explicit Laps(Profiling profiling) : profiling_(profiling) {}

  /// What was before counts for no part.
  void start() {
    if (profiling_ == Profiling::on) last_ = Clock::now();
  }

  void lap(Part part, Way way = Way::forward) {
    if (profiling_ == Profiling::off) return;
    const Clock::time_point now = Clock::now();
    seconds_[static_cast<std::size_t>(part)][static_cast<std::size_t>(way)] +=
        std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  friend class Profile;
  using Clock = std::chrono::steady_clock;

  Profiling profiling_;
  Clock::time_point last_{};
  PartSeconds seconds_{};
};

/// The watches of a run's threads, and what they said of each step.
class Profile {
 public:
  struct Step {
    double seconds = 0;
    PartSeconds parts{};
  };

  explicit Profile(int threads, Profiling profiling = Profiling::off);

  Profiling profiling() const { return profiling_; }
  Laps& laps(int thread) { return laps_[static_cast<std::size_t>(thread)]; }

  /// Room for so many steps more.
  void reserve(std::size_t steps);
  void begin_step();
  void end_step();
  const std::vector<Step>& steps() const { return steps_; }

 private:
  Profiling profiling_;
  std::vector<Laps> laps_;
  Laps::Clock::time_point began_{};
  std::vector<Step> steps_;
};

/// One line per part: milliseconds forward and backward and the share of the step, as means over
/// all steps but the first, which allocates; then the step itself and the median step in characters
/// a second. Empty if no step was profiled.
std::string profile_table(const std::vector<Profile::Step>& steps, std::int64_t tokens_per_step);

/// One line per step: the milliseconds of the step and of each part, both ways together.
std::string profile_csv(const std::vector<Profile::Step>& steps);

}  // namespace train_lm
