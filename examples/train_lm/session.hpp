// SPDX-License-Identifier: Apache-2.0
//
// Which runs a call of the program is about, and where their checkpoints are.
//
// A session is the model of --rope and, for comparison, the same model without RoPE: same seed,
// same steps, same batches. With
// --learn-frequencies the same model with fixed rates stands between them. Each has the checkpoint
// OUT/<name>.safetensors, where <name> is the rope kind, with -learned where the rates are, and
// beside it the one saved before, OUT/<name>.before.safetensors. A new session sets older
// checkpoints aside (<name>.previous.safetensors, <name>.before.previous.safetensors) before it
// writes its own, and one with fixed rates an older -learned one too; so a session with learned
// rates is the last where there is such a checkpoint. A resumed session continues its checkpoints,
// each from the one before where the newest is damaged, and refuses one that belongs to another
// run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "options.hpp"
#include "run.hpp"
#include "text.hpp"

namespace train_lm {

struct SessionRun {
  RunConfig config;
  RunState state;
  std::filesystem::path checkpoint;
  /// What is wrong with the newest checkpoint, where the one before it was loaded; otherwise empty.
  std::string damage{};
};

/// For --resume: the options with everything that was not given taken from the checkpoint in --out;
/// otherwise as they are. Throws train_lm::Error if there is nothing to resume.
Options complete_options(const Options& options);

/// The runs, new or loaded. Throws train_lm::Error for a checkpoint that is damaged or another
/// run's.
std::vector<SessionRun> make_runs(const Options& options, const Corpus& corpus);

/// Moves checkpoints of an earlier session and damaged ones (<name>.damaged.safetensors) out of the
/// way, saying so on stdout, and removes what a killed process left half-written.
void set_aside_old_checkpoints(const std::vector<SessionRun>& runs);

}  // namespace train_lm
