// SPDX-License-Identifier: Apache-2.0
#include "trainer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "checkpoint.hpp"
#include "error.hpp"
#include "evaluate.hpp"
#include "frequencies.hpp"
#include "progress.hpp"
#include "tool/io/interrupt.hpp"
#include "windows.hpp"

namespace train_lm {

struct Trainer::Parts {
  Parts(const RunConfig& run, const Corpus& text, Device& on)
      : config(run),
        corpus(text),
        device(on),
        model(run.model, on),
        gradient(run.model),
        evaluator(run.model, on) {}

  /// The tables of a step. Fixed rates have the same in every step.
  const Rotations<float>& rotations_of(const Parameters<float>& weights) {
    if (!rotations || config.model.rates == Rates::learned) {
      rotations.emplace(run_frequencies(config, weights),
                        eigen_rope::Positions::range(0, config.context));
    }
    return *rotations;
  }

  const RunConfig& config;
  const Corpus& corpus;
  Device& device;
  std::optional<Rotations<float>> rotations;
  Transformer<float> model;
  Parameters<float> gradient;
  Evaluator evaluator;
};

Trainer::Trainer(const RunConfig& config, const Corpus& corpus, Device& device)
    : parts_(std::make_unique<Parts>(config, corpus, device)) {}
Trainer::~Trainer() = default;

double Trainer::step(RunState& state) {
  Parts& p = *parts_;
  const Batch batch =
      random_batch(p.corpus.train, p.config.context, p.config.batch, p.config.seed, state.step);
  const Rotations<float>& rotations = p.rotations_of(state.weights);
  p.model.forward(state.weights, batch, rotations);
  const double bits = mean(p.model.losses(batch)) / nats_per_bit;
  if (!std::isfinite(bits)) {
    throw Error(fmt::format(
        "the loss of step {} is not finite: the training diverged; try a smaller --learning-rate",
        state.step + 1));
  }
  p.model.backward(state.weights, batch, rotations, p.gradient);
  adam_step(p.device, p.config.adam, state.step, p.config.steps, p.gradient, state.moments,
            state.weights);
  ++state.step;
  state.train_bits.push_back(bits);
  return bits;
}

double Trainer::validate(RunState& state) {
  Parts& p = *parts_;
  const double bits =
      p.evaluator.validation_bits(state.weights, run_frequencies(p.config, state.weights),
                                  p.corpus.validation, p.config.context);
  state.validation.push_back({state.step, bits});
  return bits;
}

namespace {

/// What is reported as saved is on the disk.
class Saver {
 public:
  Saver(const std::filesystem::path& path, Progress& progress, std::int64_t saved)
      : path_(path), progress_(progress), saved_(saved) {}

  void save(const RunConfig& config, const RunState& state) {
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
  std::int64_t saved_;
};

}  // namespace

bool train(const RunConfig& config, RunState& state, const Corpus& corpus, Device& device,
           const TrainingPlan& plan) {
  if (state.step >= config.steps) return true;
  Trainer trainer(config, corpus, device);
  Progress progress(config.rope.rotates() ? "RoPE " + config.name() : "no RoPE", state.step,
                    config.steps, config.context * config.batch);
  Saver saver(plan.checkpoint, progress, state.step);
  state.threads = plan.threads;
  while (state.step < config.steps) {
    const double bits = trainer.step(state);
    progress.update(state.step, bits);
    if (state.step % plan.validate_every == 0 || state.step == config.steps)
      trainer.validate(state);
    const bool stop = eigen_rope::tool::interrupt_signal() != 0 || state.step == plan.stop_at;
    if (stop || state.step % plan.save_every == 0 || state.step == config.steps)
      saver.save(config, state);
    if (stop && state.step < config.steps) return false;
  }
  return eigen_rope::tool::interrupt_signal() == 0;
}

}  // namespace train_lm
