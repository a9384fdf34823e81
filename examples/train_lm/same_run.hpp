// SPDX-License-Identifier: Apache-2.0
//
// What makes several ranks one run: the same program, the same options, the same text, the state of
// the first rank, and weights that stay equal.
//
// The first rank alone reads and writes checkpoints. The others get what it has loaded as the bytes
// of a checkpoint, and read the text themselves. A rank that differs is refused before the first
// step, with a sentence that names it and what is different there. One rank agrees with itself.
#pragma once

#include <string>
#include <vector>

#include "ranks.hpp"
#include "run.hpp"
#include "session.hpp"

namespace train_lm {

/// Throws train_lm::Error on a rank whose program or options are not those of the first rank.
/// `options` has a line NAME=VALUE for each.
void require_same_program(Ranks& ranks, const std::string& options);

/// On the first rank: sends the runs to the others. On the others: sets `runs` to them.
void share_runs(Ranks& ranks, std::vector<SessionRun>& runs);

/// Throws train_lm::Error on a rank whose text is not that of the runs.
void require_same_text(const Ranks& ranks, const Corpus& corpus, const RunConfig& config);

/// Throws train_lm::Error on a rank whose weights or moments are not, bit for bit, those of the
/// first rank.
void require_equal_states(const RunState& state, Ranks& ranks);

}  // namespace train_lm
