// SPDX-License-Identifier: Apache-2.0
//
// Takes a run from where it stands to its end, or to an interruption, saving checkpoints on the
// way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "profile.hpp"
#include "ranks.hpp"
#include "run.hpp"
#include "tensor.hpp"
#include "text.hpp"

namespace train_lm {

/// Steps a run on one rank; all ranks call the same. Holds references: config, corpus, device and
/// ranks must outlive it. With several ranks the device has one thread.
class Trainer {
 public:
  Trainer(const RunConfig& config, const Corpus& corpus, const Device& device, Ranks& ranks,
          Profiling profiling = Profiling::off);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// One step: loss, gradient, AdamW. Returns bits per character of the batch before the step and
  /// appends it to the curve. Throws train_lm::Error if the loss is not finite; the weights are
  /// then those before the step. After the first step of a run with fixed rates none allocates
  /// memory; learned rates have new tables in each step.
  double step(RunState& state);

  /// Of every step so far, if the trainer was made with Profiling::on.
  const std::vector<Profile::Step>& profile() const;

  /// Measures the validation loss and appends it to the curve.
  double validate(RunState& state);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

struct TrainingPlan {
  std::filesystem::path checkpoint;
  std::int64_t save_every = 100;
  std::int64_t validate_every = 50;
  /// Save and stop once this many steps are done; 0 for never.
  std::int64_t stop_at = 0;
  int threads = 1;
  /// Print where the time of a step goes, and leave it beside the checkpoint as NAME.profile.csv.
  Profiling profiling = Profiling::off;
};

/// Steps the run to its end. False if it was interrupted (interrupt.hpp) or stopped before; the
/// checkpoint is then up to date. All ranks call it, and the first saves and prints.
bool train(const RunConfig& config, RunState& state, const Corpus& corpus, const Device& device,
           Ranks& ranks, const TrainingPlan& plan);

}  // namespace train_lm
