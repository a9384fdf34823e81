// SPDX-License-Identifier: Apache-2.0
#include "trainer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>

#include "checkpoint.hpp"
#include "error.hpp"
#include "evaluate.hpp"
#include "files.hpp"
#include "frequencies.hpp"
#include "progress.hpp"
#include "same_run.hpp"
#include "tool/io/interrupt.hpp"
#include "training_step.hpp"

namespace train_lm {

struct Trainer::Parts {
  Parts(const RunConfig& run, const Corpus& text, const Device& on, Ranks& with,
        Profiling profiling)
      : config(run),
        corpus(text),
        ranks(with),
        profile(on.numThreads(), profiling),
        step(run, text.train, on, profile, with),
        evaluator(run.model, on, step.ring()) {}

  const RunConfig& config;
  const Corpus& corpus;
  Ranks& ranks;
  Profile profile;
  TrainingStep<float> step;
  Evaluator evaluator;
};

Trainer::Trainer(const RunConfig& config, const Corpus& corpus, const Device& device, Ranks& ranks,
                 Profiling profiling)
    : parts_(std::make_unique<Parts>(config, corpus, device, ranks, profiling)) {}
Trainer::~Trainer() = default;

double Trainer::step(RunState& state) {
  Parts& p = *parts_;
  const auto steps = static_cast<std::size_t>(p.config.steps);
  if (state.train_bits.capacity() < steps) {
    state.train_bits.reserve(steps);
    p.profile.reserve(steps - state.train_bits.size());
  }
  p.profile.begin_step();
  const double bits = p.step.take(state.step, state.weights, state.moments);
  if (!std::isfinite(bits)) {
    throw Error(fmt::format(
        "the loss of step {} is not finite: the training diverged; try a smaller --learning-rate",
        state.step + 1));
  }
  ++state.step;
  state.train_bits.push_back(bits);
  p.profile.end_step();
  return bits;
}

const std::vector<Profile::Step>& Trainer::profile() const { return parts_->profile.steps(); }

double Trainer::validate(RunState& state) {
  Parts& p = *parts_;
  const double bits =
      p.evaluator.validation_bits(state.weights, run_frequencies(p.config, state.weights),
                                  p.corpus.validation, p.config.context, p.ranks);
  state.validation.push_back({state.step, bits});
  return bits;
}

namespace {

/// What is reported as saved is on the disk. The first rank saves for all.
class Saver {
 public:
  Saver(const std::filesystem::path& path, Progress& progress, Ranks& ranks, std::int64_t saved)
      : path_(path), progress_(progress), ranks_(ranks), saved_(saved) {}

  void save(const RunConfig& config, const RunState& state) {
    require_equal_states(state, ranks_);
    if (!ranks_.first()) return;
    try {
      save_checkpoint(path_, config, state);
    } catch (const Error& e) {
      throw Error(saved_ == 0 ? fmt::format("{}; nothing of this run is saved", e.what())
                              : fmt::format("{}; step {} is saved and --resume continues from it",
                                            e.what(), saved_));
    }
    saved_ = state.step;
    progress_.saved(saved_);
  }

 private:
  const std::filesystem::path& path_;
  Progress& progress_;
  Ranks& ranks_;
  std::int64_t saved_;
};

void report_profile(const std::vector<Profile::Step>& steps, const RunConfig& config,
                    std::filesystem::path checkpoint) {
  fmt::print("{}", profile_table(steps, config.context * config.batch));
  write_atomically(checkpoint.replace_extension(".profile.csv"), profile_csv(steps));
}

}  // namespace

bool train(const RunConfig& config, RunState& state, const Corpus& corpus, const Device& device,
           Ranks& ranks, const TrainingPlan& plan) {
  if (state.step >= config.steps) return true;
  Trainer trainer(config, corpus, device, ranks, plan.profiling);
  Progress progress(config.rope.rotates() ? "RoPE " + config.name() : "no RoPE", state.step,
                    config.steps, config.context * config.batch,
                    ranks.first() ? Shown::yes : Shown::no);
  Saver saver(plan.checkpoint, progress, ranks, state.step);
  state.threads = plan.threads;
  bool stopped = false;
  while (state.step < config.steps && !stopped) {
    const double bits = trainer.step(state);
    progress.update(state.step, bits);
    if (state.step % plan.validate_every == 0 || state.step == config.steps)
      trainer.validate(state);
    stopped = ranks.any(eigen_rope::tool::interrupt_signal() != 0) || state.step == plan.stop_at;
    if (stopped || state.step % plan.save_every == 0 || state.step == config.steps)
      saver.save(config, state);
  }
  if (plan.profiling == Profiling::on && ranks.first())
    report_profile(trainer.profile(), config, plan.checkpoint);
  if (state.step < config.steps) return false;
  return !ranks.any(eigen_rope::tool::interrupt_signal() != 0);
}

}  // namespace train_lm
