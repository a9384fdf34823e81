// SPDX-License-Identifier: Apache-2.0
//
// The loss at each position of windows 1, 2 and 4 times as long as the training context, with the
// rotation as trained and stretched by linear, NTK and YaRN scaling. Nothing is fine-tuned; the
// figures are reported whatever they show.
#pragma once

#include <string>
#include <vector>

#include "evaluate.hpp"
#include "session.hpp"

namespace train_lm {

/// One curve.
struct PositionCurve {
  int length_factor = 1;
  /// none, linear, ntk, yarn; "no RoPE" for the model without it. Where rates are learned: learned
  /// instead of none, the scalings applied to them, and fixed for the model beside it, as trained.
  std::string scaling;
  /// Bits per character at each position.
  std::vector<double> bits;
  /// Windows each is a mean over.
  Index windows = 0;

  /// Mean over positions first .. last - 1.
  double mean(Index first, Index last) const;
};

/// All curves of a session. Lengths that do not fit into the validation split are left out. At 1x
/// all scalings are the same, so there is one curve per model.
std::vector<PositionCurve> measure_positions(const std::vector<SessionRun>& runs,
                                             const Corpus& corpus, const Device& device);

/// length_factor,scaling,position,bits,windows
std::string positions_csv(const std::vector<PositionCurve>& curves);

/// Rows are ranges of positions, columns are scalings, one block per length.
std::string positions_table(const std::vector<PositionCurve>& curves, Index context);

}  // namespace train_lm
