// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of the example trainer. The bytes are the file, but for its checksum, which would
// refuse nearly all of them.
#include "checkpoint.hpp"

#include "error.hpp"
#include "limits.hpp"
#include "memory_file.hpp"
#include "promise.hpp"
#include "targets.hpp"
#include "train_lm/resealed.hpp"

namespace eigen_rope::fuzz {

void fuzz_checkpoint(Bytes bytes) {
  static const MemoryFile file;
  std::optional<train_lm::Checkpoint> read;
  try {
    read = train_lm::load_checkpoint(file.with(train_lm::resealed(std::string(bytes))));
  } catch (const train_lm::Error& refusal) {
    const std::string sentence = train_lm::one_line(refusal.what());
    require(!sentence.empty() && std::none_of(sentence.begin(), sentence.end(), is_control),
            "a refusal is one line");
    return;
  }
  const train_lm::RunConfig& config = read->config;
  const train_lm::RunState& state = read->state;
  require(
      train_lm::batch_limits.hold(config.batch) && train_lm::context_limits.hold(config.context),
      "a batch can be made");
  require(train_lm::threads_limits.hold(state.threads), "there can be as many threads");
  require(state.step >= 0 && state.step <= config.steps, "the step is one of the run");
  require(state.train_bits.size() == static_cast<std::size_t>(state.step), "every step has a loss");
  for (const train_lm::ValidationPoint& point : state.validation) {
    require(point.step >= 0 && point.step <= state.step, "a validation is of a step");
  }
  require(train_lm::difference(config, config).empty(), "a run is itself");
}

}  // namespace eigen_rope::fuzz
