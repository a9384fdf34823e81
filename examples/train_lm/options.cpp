// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <sstream>

#include "error.hpp"
#include "limits.hpp"

namespace train_lm {
namespace {

template <class T>
CLI::Range within(const Limits<T>& limits) {
  return CLI::Range(limits.least, limits.most);
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Options o;
  CLI::App app{
      "Trains a character-level transformer whose attention is rotated by eigen-rope, with and "
      "without RoPE, and reports what the\n"
      "rotation is worth, also on windows longer than the training context.",
      "train_lm"};
  app.add_option("--text", o.text, "File, or folder of files (symlinks skipped)")
      ->capture_default_str();
  app.add_option("--out", o.out, "Folder for checkpoints, tables and pictures")
      ->capture_default_str();
  app.add_flag("--resume", o.resume,
               "Continue the runs in --out; options not given are taken from the checkpoint");
  app.add_option("--steps", o.run.steps, "Steps of training")
      ->check(within(steps_limits))
      ->capture_default_str();
  app.add_option("--context", o.run.context, "Characters the model sees in training")
      ->check(within(context_limits))
      ->capture_default_str();
  app.add_option("--layers", o.run.model.layers, "Layers")
      ->check(within(layers_limits))
      ->capture_default_str();
  app.add_option("--heads", o.run.model.heads, "Attention heads")
      ->check(within(dim_limits))
      ->capture_default_str();
  app.add_option("--dim", o.run.model.dim, "Width of the model")
      ->check(within(dim_limits))
      ->capture_default_str();
  app.add_option("--batch", o.run.batch, "Windows per step")
      ->check(within(batch_limits))
      ->capture_default_str();
  app.add_option("--rope", o.run.rope.kind,
                 "Rotation of the model: none, default, linear, ntk, yarn")
      ->check(CLI::IsMember({"none", "default", "linear", "ntk", "yarn"}))
      ->capture_default_str();
  app.add_option("--rope-factor", o.run.rope.factor, "s of linear, ntk and yarn")
      ->check(within(rope_factor_limits))
      ->capture_default_str();
  app.add_option("--rope-base", o.run.rope.base, "Base of the rotation")
      ->check(within(rope_base_limits))
      ->capture_default_str();
  bool learn_frequencies = false;
  app.add_flag("--learn-frequencies", learn_frequencies,
               "Train the rates of the rotation, each layer its own, beside the same model with "
               "fixed rates");
  app.add_option("--frequencies-factor", o.run.adam.rates_factor,
                 "Learning rate of the rates' logarithms, times the highest")
      ->check(within(rates_factor_limits))
      ->capture_default_str();
  app.add_option("--learning-rate", o.run.adam.peak_rate, "Highest learning rate")
      ->check(within(learning_rate_limits))
      ->capture_default_str();
  app.add_option("--seed", o.run.seed, "Seed of weights, batches and samples")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--threads", o.threads, "Threads; 0 for one per processor")
      ->check(within(threads_limits))
      ->capture_default_str();
  app.add_option("--data-parallel", o.ranks.data,
                 "Ranks that share the windows of a batch; start with mpirun")
      ->check(within(ranks_limits))
      ->capture_default_str();
  app.add_option("--context-parallel", o.ranks.context,
                 "Ranks that share the characters of each window, beside --data-parallel")
      ->check(within(ranks_limits))
      ->capture_default_str();
  std::string sharding = eigen_rope::name_of(o.ranks.sharding);
  app.add_option("--sharding", sharding,
                 "How a window is cut for --context-parallel: contiguous, zigzag")
      ->check(CLI::IsMember({"contiguous", "zigzag"}))
      ->capture_default_str();
  app.add_option("--rank-timeout", o.rank_timeout,
                 "Seconds that a rank waits for another in a step before the run ends")
      ->check(within(rank_timeout_limits))
      ->capture_default_str();
  app.add_option("--sample", o.sample, "Characters of text to write at the end")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--save-every", o.save_every, "Steps between checkpoints")
      ->check(within(steps_limits))
      ->capture_default_str();
  app.add_option("--validate-every", o.validate_every, "Steps between validations")
      ->check(within(steps_limits))
      ->capture_default_str();
  app.add_option(
         "--stop-at", o.stop_at,
         "Save and stop, as if interrupted, once this many steps of a run are done; 0 for never")
      ->check(CLI::Range(std::int64_t{0}, steps_limits.most))
      ->capture_default_str();
  app.add_flag("--save-start", o.save_start,
               "Save the weights that training starts from as checkpoints of step 0, and stop");
  app.add_flag("--profile", o.profile,
               "Print where the time of a step goes, and write it to RUN.profile.csv, a line per "
               "step");
  app.add_flag(
      "!--no-comparison", o.run.comparison,
      "Train the first model alone, not one without RoPE (and one with fixed rates) beside it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream message;
    const int exit_code = app.exit(e, message, message);
    return {std::nullopt, exit_code, message.str()};
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !option->get_lnames().empty())
      o.given.insert(option->get_lnames().front());
  }
  if (sharding == eigen_rope::name_of(eigen_rope::Sharding::contiguous))
    o.ranks.sharding = eigen_rope::Sharding::contiguous;
  o.text_of_all = app.config_to_str(true, false);
  if (learn_frequencies) o.run.model.rates = Rates::learned;
  if (o.run.rope.kind == "none") o.run.comparison = false;
  return {o, 0, {}};
}

void check_sizes(const RunConfig& run) {
  const ModelConfig& model = run.model;
  if (!std::isfinite(run.adam.peak_rate) || !std::isfinite(run.rope.base) ||
      !std::isfinite(run.rope.factor)) {
    throw Error("--learning-rate, --rope-base and --rope-factor must be finite");
  }
  if (!run.rope.rotates() && model.rates == Rates::learned)
    throw Error("--learn-frequencies needs a rotation, but --rope is none");
  if (model.dim % model.heads != 0)
    throw Error(
        fmt::format("--dim must be divisible by --heads, got {} and {}", model.dim, model.heads));
  if (run.rope.rotates() && (model.head_dim() % 2 != 0 || model.head_dim() < 4)) {
    throw Error(fmt::format(
        "the width of a head (--dim / --heads) must be even and at least 4 for RoPE, got {}",
        model.head_dim()));
  }
}

void check_ranks(const Options& options) {
  if (options.ranks.data > options.run.batch) {
    throw Error(fmt::format("--data-parallel must be at most --batch, got {} and {}",
                            options.ranks.data, options.run.batch));
  }
  if (options.ranks.ranks() > 1 && options.given.count("threads") > 0 && options.threads > 1) {
    throw Error(fmt::format(
        "a rank has one thread, got --threads {}; start as many ranks as there are processors",
        options.threads));
  }
}

}  // namespace train_lm
