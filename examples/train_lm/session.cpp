// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "checkpoint.hpp"
#include "error.hpp"

namespace train_lm {
namespace {

namespace fs = std::filesystem;

fs::path checkpoint_path(const std::string& out, const std::string& kind, Rates rates) {
  return fs::path(out) / (run_name(kind, rates) + ".safetensors");
}

/// The checkpoint of the session's first run, if --rope is `kind`.
Rates rates_to_resume(const std::string& out, const std::string& kind) {
  return fs::exists(checkpoint_path(out, kind, Rates::learned)) ? Rates::learned : Rates::fixed;
}

/// The rope kind to resume if --rope does not say.
std::string kind_to_resume(const std::string& out) {
  std::string found;
  for (const char* kind : {"default", "linear", "ntk", "yarn"}) {
    if (!fs::exists(checkpoint_path(out, kind, rates_to_resume(out, kind)))) continue;
    if (!found.empty()) throw Error(fmt::format("{} has several runs ({} and {}): say which with --rope", out, found, kind));
    found = kind;
  }
  if (found.empty() && fs::exists(checkpoint_path(out, "none", Rates::fixed))) found = "none";
  return found;
}

}  // namespace

Options complete_options(const Options& options) {
  if (!options.resume) return options;
  Options o = options;
  if (o.given.count("rope") == 0) o.run.rope.kind = kind_to_resume(o.out);
  if (o.given.count("learn-frequencies") == 0) o.run.model.rates = rates_to_resume(o.out, o.run.rope.kind);
  const fs::path path = checkpoint_path(o.out, o.run.rope.kind, o.run.model.rates);
  if (o.run.rope.kind.empty() || !fs::exists(path)) {
    throw Error(fmt::format("there is no checkpoint in {} to resume; leave out --resume to start", o.out));
  }
  const Checkpoint stored = load_checkpoint(path);
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
    if (one.model.rates == Rates::fixed) one.adam.rates_factor = AdamConfig().rates_factor;  // no part of what defines it
  }
  std::vector<SessionRun> runs;
  for (const RunConfig& wanted : configs) {
    const fs::path path = checkpoint_path(options.out, wanted.rope.kind, wanted.model.rates);
    if (!options.resume || !fs::exists(path)) {
      runs.push_back({wanted, RunState(wanted), path});
      continue;
    }
    Checkpoint stored = load_checkpoint(path);
    const std::string other = difference(wanted, stored.config);
    if (!other.empty()) throw Error(fmt::format("cannot resume {}: {}", path.string(), other));
    runs.push_back({wanted, std::move(stored.state), path});
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
    old.push_back(checkpoint_path(first.checkpoint.parent_path().string(), first.config.rope.kind, Rates::learned));
  }
  for (const fs::path& path : old) {
    if (!fs::exists(path)) continue;
    fs::path previous = path;
    previous.replace_extension(".previous.safetensors");
    std::error_code error;
    fs::rename(path, previous, error);
    if (error) throw Error(fmt::format("cannot move {} out of the way: {}", path.string(), error.message()));
    fmt::print("an earlier checkpoint is now {}\n", previous.string());
  }
}

}  // namespace train_lm
