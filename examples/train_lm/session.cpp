// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "checkpoint.hpp"
#include "error.hpp"
#include "files.hpp"

namespace train_lm {
namespace {

namespace fs = std::filesystem;

fs::path checkpoint_path(const std::string& out, const std::string& kind, Rates rates) {
  return fs::path(out) / (run_name(kind, rates) + ".safetensors");
}

/// The checkpoint of the session's first run, if --rope is `kind`.
Rates rates_to_resume(const std::string& out, const std::string& kind) {
  return checkpoint_exists(checkpoint_path(out, kind, Rates::learned)) ? Rates::learned
                                                                       : Rates::fixed;
}

/// The rope kind to resume if --rope does not say.
std::string kind_to_resume(const std::string& out) {
  std::string found;
  for (const char* kind : {"default", "linear", "ntk", "yarn"}) {
    if (!checkpoint_exists(checkpoint_path(out, kind, rates_to_resume(out, kind)))) continue;
    if (!found.empty())
      throw Error(
          fmt::format("{} has several runs ({} and {}): say which with --rope", out, found, kind));
    found = kind;
  }
  if (found.empty() && checkpoint_exists(checkpoint_path(out, "none", Rates::fixed)))
    found = "none";
  return found;
}

fs::path moved(const fs::path& path, const char* extension) {
  fs::path other = path;
  other.replace_extension(extension);
  std::error_code error;
  fs::rename(path, other, error);
  if (error)
    throw Error(fmt::format("cannot move {} out of the way: {}", path.string(), error.message()));
  return other;
}

}  // namespace

Options complete_options(const Options& options) {
  if (!options.resume) return options;
  Options o = options;
  if (o.given.count("rope") == 0) o.run.rope.kind = kind_to_resume(o.out);
  if (o.given.count("learn-frequencies") == 0)
    o.run.model.rates = rates_to_resume(o.out, o.run.rope.kind);
  const fs::path path = checkpoint_path(o.out, o.run.rope.kind, o.run.model.rates);
  if (o.run.rope.kind.empty() || !checkpoint_exists(path)) {
    throw Error(
        fmt::format("there is no checkpoint in {} to resume; leave out --resume to start", o.out));
  }
  const Checkpoint stored = load_newest_checkpoint(path).checkpoint;
  const auto take = [&o](const char* name, auto& value, const auto& from) {
    if (o.given.count(name) == 0) value = from;
  };
  const RunConfig& run = stored.config;
  take("text", o.text, run.text);
  take("steps", o.run.steps, run.steps);
  take("context", o.run.context, run.context);
  take("layers", o.run.model.layers, run.model.layers);
  take("heads", o.run.model.heads, run.model.heads);
  take("dim", o.run.model.dim, run.model.dim);
  take("batch", o.run.batch, run.batch);
  take("rope-factor", o.run.rope.factor, run.rope.factor);
  take("rope-base", o.run.rope.base, run.rope.base);
  take("frequencies-factor", o.run.adam.rates_factor, run.adam.rates_factor);
  take("learning-rate", o.run.adam.peak_rate, run.adam.peak_rate);
  take("seed", o.run.seed, run.seed);
  take("no-comparison", o.run.comparison, run.comparison);
  take("threads", o.threads, stored.state.threads);
  return o;
}

std::vector<SessionRun> make_runs(const Options& options, const Corpus& corpus) {
  RunConfig config = options.run;
  config.model.vocabulary = corpus.vocabulary.size();
  config.text_checksum = corpus.checksum;
  config.text = options.text;
  std::vector<RunConfig> configs{config};
  if (config.comparison && config.model.rates == Rates::learned) {
    configs.push_back(config);
    configs.back().model.rates = Rates::fixed;
  }
  if (config.comparison && config.rope.rotates()) {
    configs.push_back(config);
    configs.back().rope.kind = "none";
    configs.back().model.rates = Rates::fixed;
  }
  for (RunConfig& one : configs) {
    if (one.model.rates == Rates::fixed)
      one.adam.rates_factor = AdamConfig().rates_factor;  // no part of what defines it
  }
  std::vector<SessionRun> runs;
  for (const RunConfig& wanted : configs) {
    const fs::path path = checkpoint_path(options.out, wanted.rope.kind, wanted.model.rates);
    if (!options.resume || !checkpoint_exists(path)) {
      runs.push_back({wanted, RunState(wanted), path});
      continue;
    }
    StoredCheckpoint stored = load_newest_checkpoint(path);
    const std::string other = difference(wanted, stored.checkpoint.config);
    if (!other.empty())
      throw Error(fmt::format("cannot resume {}: {}", stored.path.string(), other));
    runs.push_back({wanted, std::move(stored.checkpoint.state), path, stored.damage});
  }
  return runs;
}

void set_aside_old_checkpoints(const std::vector<SessionRun>& runs) {
  std::vector<fs::path> old;
  for (const SessionRun& run : runs) {
    if (run.state.step == 0) old.push_back(run.checkpoint);
  }
  const SessionRun& first = runs.front();
  if (first.state.step == 0 && first.config.model.rates == Rates::fixed) {
    old.push_back(checkpoint_path(first.checkpoint.parent_path().string(), first.config.rope.kind,
                                  Rates::learned));
  }
  for (const fs::path& newest : old) {
    // The newest last, so that it is there to resume until all of this is done.
    for (const fs::path& path : {checkpoint_before(newest), newest}) {
      if (is_there(path))
        fmt::print("an earlier checkpoint is now {}\n",
                   moved(path, ".previous.safetensors").string());
    }
  }
  for (const SessionRun& run : runs) {
    remove_temporary(run.checkpoint);
    if (run.damage.empty()) continue;
    fmt::print("{}; going on from the checkpoint before it, step {}\n", one_line(run.damage),
               run.state.step);
    // Otherwise the next save would keep the damaged one in place of the good one.
    if (is_there(run.checkpoint))
      fmt::print("the damaged one is now {}\n",
                 moved(run.checkpoint, ".damaged.safetensors").string());
  }
}

}  // namespace train_lm
