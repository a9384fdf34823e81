// SPDX-License-Identifier: Apache-2.0
//
// A run on disk, as one safetensors file.
//
//   model.<tensor>, adam.m.<tensor>, adam.v.<tensor>   F32, see parameters.hpp
//   curve.train [steps], curve.validation [n, 2]       F64, bits per character; the second as
//                                                      (step, bits)
//   metadata: format, config (JSON), step, seed, threads, checksum
//
// The seed and the step are the state of the random numbers. Writing is atomic (files.hpp), so an
// existing checkpoint is replaced by a whole one or stays. The one it replaces is kept as
// NAME.before.safetensors, for the day the disk damages the newest. Reading refuses anything that
// is damaged or belongs to another version, and changes nothing.
#pragma once

#include <filesystem>
#include <string>

#include "run.hpp"

namespace train_lm {

struct Checkpoint {
  RunConfig config;
  RunState state;
};

/// A checkpoint and the file it came from. `damage` says why that is not the newest; empty if it
/// is.
struct StoredCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path path;
  std::string damage;
};

/// Where a checkpoint goes when the next is saved: run.safetensors -> run.before.safetensors.
std::filesystem::path checkpoint_before(const std::filesystem::path& path);

/// Is there a checkpoint of this name, or the one before it?
bool checkpoint_exists(const std::filesystem::path& path);

/// The bytes of a checkpoint, which are what one rank sends to another, too.
std::string encode_checkpoint(const RunConfig& config, const RunState& state);

/// Throws train_lm::Error, eigen_rope::Error or nlohmann::json::exception for bytes that are none.
Checkpoint decode_checkpoint(const std::string& bytes);

/// Throws train_lm::Error; the old file is then as it was.
void save_checkpoint(const std::filesystem::path& path, const RunConfig& config,
                     const RunState& state);

/// Throws train_lm::Error, naming the file and the reason.
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// The checkpoint of this name; if it is damaged or not there, the one before it. Throws
/// train_lm::Error if neither can be used, or if the newest may not be opened.
StoredCheckpoint load_newest_checkpoint(const std::filesystem::path& path);

/// The first thing that makes the stored run another one than the wanted one, as a clause ("dim is
/// 64, the checkpoint has 96"); empty if they are the same.
std::string difference(const RunConfig& wanted, const RunConfig& stored);

}  // namespace train_lm
